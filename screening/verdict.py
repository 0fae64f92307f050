"""Judge one candidate by all the rules in their order (E04); must not know settings, stores or what a fact means."""

import unicodedata
from dataclasses import dataclass
from typing import Final, Literal

from screening.injection import find_injection
from screening.pii import find_pii
from screening.secrets import decoded, find_secret
from screening.shape import find_shape, find_transcript
from screening.text import fold, fold_visible, visible

Reason = Literal["pii", "secret", "injection", "transcript", "shape"]

MAX_JUDGED: Final = 16_000  # the caller refuses above 4,000 as malformed; this bounds the work whoever calls


@dataclass(frozen=True, slots=True)
class Verdict:
    """`reason` is None when the text is accepted. `rule` names the rule that refused and never holds text."""

    reason: Reason | None
    rule: str = ""

    @property
    def accepted(self) -> bool:
        return self.reason is None


ACCEPTED: Final = Verdict(None)


def screen(key: str, body: str) -> Verdict:
    """Return whether a fact may be stored. Key and body are judged together ("wifi.password", "blue7house!").

    Linear in the length of the text. A text above `MAX_JUDGED` characters is refused as a transcript.
    """
    if len(key) + len(body) > MAX_JUDGED:
        return Verdict("transcript", "length")
    if len(unicodedata.normalize("NFKC", body)) > 2 * len(body) + 100:  # one character may stand for eighteen
        return Verdict("shape", "expansion")
    label, shown_body = visible(key), visible(body)
    shown = f"{_spelled_out(label)}: {shown_body}" if label.strip() else shown_body
    folded, folded_body = fold_visible(shown), fold_visible(shown_body)
    if rule := find_pii(shown, folded):
        return Verdict("pii", rule)
    if verdict := _judge_decoded(shown_body):
        return verdict
    if rule := find_secret(f"{label} {shown_body}", folded):
        return Verdict("secret", rule)
    if rule := find_injection(f"{key}\n{body}", folded):
        return Verdict("injection", rule)
    if rule := find_transcript(body, folded_body):
        return Verdict("transcript", rule)
    if rule := find_shape(fold(key), body, folded_body):
        return Verdict("shape", rule)
    return ACCEPTED


def _spelled_out(label: str) -> str:
    """Return a key as words: "home.wifi_password" as "home wifi password"."""
    return label.replace(".", " ").replace("_", " ").replace("\n", " ")


def _judge_decoded(shown: str) -> Verdict | None:
    """Return the verdict on what base64 runs of the text hide."""
    for plain in decoded(shown):
        folded = fold(plain)
        if rule := find_secret(plain, folded):
            return Verdict("secret", rule)
        if rule := find_injection(plain, folded):
            return Verdict("injection", rule)
    return None
