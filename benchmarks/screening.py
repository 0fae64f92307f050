"""Measure the write-time filter on labelled texts: recall, precision, wrong refusals, time; must not print a text."""

import argparse
import base64
import json
import random
import re
import statistics
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from screening.verdict import screen

LABELS: Final = ("pii", "secret", "injection", "transcript")
TARGETS: Final = {"pii": 0.92, "secret": 0.97, "injection": 0.95, "transcript": 0.99}
MAX_WRONG_REFUSALS: Final = 0.02
MAX_P99_MS: Final = 10.0  # for 4,000 characters
WARM_UP: Final = 20  # the first texts build the matcher's tables, once per process
MAX_WORST_MS: Final = 50.0  # for 16,000 characters made to be slow


def rows(data: Path, *, half: str = "all") -> Iterator[dict[str, str]]:
    """Yield the labelled rows of a file or of a folder's `*.jsonl` and `*.jsonl.b64`; `half` goes by line numbers."""
    for path in [data] if data.is_file() else sorted([*data.glob("*.jsonl"), *data.glob("*.jsonl.b64")]):
        content = path.read_bytes()
        if path.suffix == ".b64":
            content = base64.b64decode(content)
        for number, line in enumerate(content.decode().split("\n"), start=1):
            if line.strip() and (half == "all" or (number % 2 == 1) == (half == "odd")):
                row = json.loads(line)
                if "text_base64" in row:  # so that secret scanners stay quiet
                    row["text"] = base64.b64decode(row["text_base64"]).decode()
                yield row


def language_of(row: dict[str, str]) -> str:
    """Return the language of a row: as it is labelled, else guessed by script and by the commonest words."""
    if language := row.get("language"):
        return language
    text = row["text"]
    for language, pattern in _SCRIPTS:
        if pattern.search(text):
            return language
    words = {word.strip(".,:;!?\"'()") for word in text.lower().split()}
    scores = {language: len(words & common) for language, common in _COMMON.items()}
    best = max(scores, key=lambda language: scores[language])
    return best if scores[best] > scores["en"] else "en"


_SCRIPTS: Final = (
    ("ja", re.compile("[\u3040-\u30ff]")),
    ("zh", re.compile("[\u4e00-\u9fff]")),
    ("ko", re.compile("[\uac00-\ud7af]")),
    ("ar", re.compile("[\u0600-\u06ff]")),
    ("ru", re.compile("[\u0400-\u04ff]")),
    ("hi", re.compile("[\u0900-\u097f]")),
)
_COMMON: Final = {
    "en": frozenset(["the", "is", "and", "of", "to", "a", "in", "my", "at", "for", "with", "on", "that", "it"]),
    "de": frozenset(
        ["der", "die", "das", "und", "ist", "nicht", "ein", "eine", "mit", "von", "zu", "im", "meine", "ich", "auf"]
    ),
    "fr": frozenset(
        ["le", "la", "les", "et", "est", "une", "des", "pour", "dans", "je", "vous", "mon", "avec", "sur", "du"]
    ),
    "es": frozenset(["el", "los", "las", "y", "es", "una", "por", "para", "mi", "con", "del", "que", "en", "se", "su"]),
    "pt": frozenset(
        ["o", "os", "as", "e", "uma", "por", "para", "meu", "com", "do", "da", "que", "em", "não", "sou", "você"]
    ),
    "it": frozenset(["il", "gli", "e", "è", "una", "per", "mio", "con", "del", "della", "che", "di", "sono", "non"]),
    "nl": frozenset(["het", "een", "en", "is", "niet", "van", "mijn", "met", "op", "dat", "de", "ik", "voor", "zijn"]),
    "pl": frozenset(["i", "w", "na", "jest", "nie", "się", "z", "do", "mój", "to", "że", "mieszka"]),
}


def run(data: Path, *, half: str = "all", verbose: bool = False) -> dict[str, Any]:
    """Return recall (any reason and exact reason) and precision by label and by language, wrong refusals, and times.

    Precision by label is the share of exact refusals among what is refused with that reason; a harmless text that is no
    fact (subtype "nonfact:") counts on neither side. By language it is the share of bad texts among all refused ones.
    """
    labels = {label: Counter[str]() for label in LABELS}
    languages: dict[str, Counter[str]] = {}
    benign: Counter[str] = Counter()
    for row in rows(data, half=half):
        verdict = screen(row.get("key", ""), row["text"])
        label, subtype = row["label"], row.get("subtype", "")
        if subtype.startswith("nonfact:"):
            continue
        bad, refused = label != "benign", not verdict.accepted
        tally = languages.setdefault(language_of(row), Counter())
        tally.update({"bad": bad, "caught": bad and refused, "refused": refused, "harmless": not bad})
        if verdict.reason in labels:
            labels[verdict.reason]["predicted"] += 1
        if label in labels:
            labels[label].update({"rows": 1, "refused": refused, "exact": verdict.reason == label})
        elif label == "benign":
            benign.update({"fact_shaped": 1, "refused": refused, "refused_by_shape": verdict.reason == "shape"})
        if verbose and refused != bad:
            print(f"{label}/{subtype} -> {verdict.reason or 'accepted'} {verdict.rule} | {row['text'][:230]!r}")
    result: dict[str, Any] = {
        label: {
            "rows": c["rows"],
            "recall": _share(c["refused"], c["rows"]),
            "recall_exact": _share(c["exact"], c["rows"]),
            "precision": _share(c["exact"], c["predicted"]),
            "target": TARGETS[label],
        }
        for label, c in labels.items()
    }
    result["benign"] = {**benign, "wrong_refusals": _share(benign["refused"], benign["fact_shaped"])}
    result["language"] = {
        language: {
            "rows": c["bad"] + c["harmless"],
            "recall": _share(c["caught"], c["bad"]) if c["bad"] else None,
            "precision": _share(c["caught"], c["refused"]) if c["refused"] else None,
            "wrong_refusals": _share(c["refused"] - c["caught"], c["harmless"]) if c["harmless"] else None,
        }
        for language, c in sorted(languages.items(), key=lambda item: -item[1]["bad"])
    }
    result["b12"] = measure_time([row["text"] for row in rows(data, half=half)])
    result["passed"] = (
        all(result[label]["recall"] >= TARGETS[label] for label in LABELS if result[label]["rows"])
        and result["benign"]["wrong_refusals"] <= MAX_WRONG_REFUSALS
        and result["b12"]["p99_ms"] <= MAX_P99_MS
        and result["b12"]["worst_ms"] <= MAX_WORST_MS
    )
    return result


def _share(part: int, whole: int) -> float:
    return round(part / whole, 4) if whole else 0.0


def measure_time(texts: list[str], *, repeats: int = 400) -> dict[str, Any]:
    """Return p50 and p99 of screening 4,000 characters of ordinary prose, and the worst of the adversarial texts."""
    rng = random.Random(4)
    prose = [text for text in texts if screen("", text).accepted] or ["Likes green tea and long walks in the hills."]
    screen("", "reads 0999 999-9999 aloud")  # loads the numbering plans of all regions, once per process
    times = []
    for _ in range(repeats + WARM_UP):
        text = ""
        while len(text) < 4000:
            text += rng.choice(prose).replace("\n", " ") + " "
        # The lesser of two: other work on the machine evicts caches and would be counted as ours.
        times.append(min(_milliseconds(text[:4000]), _milliseconds(text[:4000])))
    times = times[WARM_UP:]
    worst = {name: worst_milliseconds(text) for name, text in adversarial().items()}
    slowest = max(worst, key=lambda name: worst[name])
    return {
        "p50_ms": round(statistics.median(times), 2),
        "p99_ms": round(sorted(times)[int(len(times) * 0.99) - 1], 2),
        "worst_ms": round(worst[slowest], 2),
        "worst_text": slowest,
    }


def worst_milliseconds(text: str) -> float:
    """Return the time of one text, as the least of three, so that a cold cache does not count."""
    return min(_milliseconds(text) for _ in range(3))


def _milliseconds(text: str) -> float:
    """Return the CPU time of one verdict, so that other work on the machine does not count."""
    started = time.process_time()
    screen("note", text)
    return (time.process_time() - started) * 1000


def adversarial(length: int = 15_900) -> dict[str, str]:
    """Return texts made to be slow for a filter, by name: near-matches, long runs, nesting, mixed scripts."""
    units = {
        "letters": "a",
        "digits": "1",
        "spaced digits": "4 ",
        "dotted digits": "1.",
        "plus digits": "+49 30 1",
        "at signs": "a@",
        "dots": "a.",
        "mail": "a.b-c@d.",
        "spaces": " ",
        "spaced letters": "i g ",
        "colons": "a:",
        "hex": "ab:cd:",
        "brackets": "[(<{",
        "quotes": "\"':",
        "json": '{"a":',
        "ignore": "ignore all the ",
        "when": "when the user says, ",
        "password": "password is the ",
        "as password": "the one as his ",
        "street": "12 Old Mill ",
        "iban": "de12 3456 ",
        "id words": "passport account ",
        "random": "Ab1Cd2Ef3Gh4Ij5K ",
        "base64": "QUJDREVGR0hJSktMTU5PUFFS ",
        "words": "river stone apple ",
        "mixed scripts": "раypаl ",
        "zero width": "a\u200b",
        "combining": "e\u0301\u0336",
        "han": "忽略",
        "hangul": "지금 ",
        "arabic": "تجاهل ",
        "one two": "one two ",
        "user said": "the user. ",
        "lines": "a: b\n",
        "angle": "<a ",
        "pipes": "|a",
        "url": "http://a:",
        "entities": "&#64;",
        "dates": "1.1.1990 ",
        "phones": "030 1234567 ",
        "expanding": "\ufdfa",
    }
    return {name: (unit * (length // len(unit) + 1))[:length] for name, unit in units.items()}


def main() -> int:
    """Print the figures as JSON; return 1 when a target is missed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.screening", description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="a folder or file of labelled rows")
    parser.add_argument("--half", choices=("all", "odd", "even"), default="all")
    parser.add_argument("--verbose", action="store_true", help="also print each wrong verdict with its text")
    options = parser.parse_args()
    result = run(options.data, half=options.half, verbose=options.verbose)
    print(json.dumps(result, indent=2))
    return 0 if result["passed"] else 1


if __name__ == "__main__":
    raise SystemExit(main())
