"""Draws the rows of the fact list: a template is run once for each kind of row, not for each row. Decides no words.

A page of 200 facts has a handful of kinds: active with one source, expired, and so on. For each, `facts/_fact.html` is
rendered with marks where the texts of a fact belong; every fact then costs its escaped texts and one formatting.
"""

import html
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Final, Self

from django.template.loader import render_to_string
from django.utils.safestring import SafeString, mark_safe

from facts.models import Fact
from facts.rows import Moment, Row, Source
from facts.services import ListedFact
from facts.tab import Group, Tab

_EDGE: Final = "\0"  # stands around the name of a text; PostgreSQL, HTML and translations know no such character
_GAP: Final = re.compile(f"{_EDGE}(\\w+){_EDGE}")
_LINES: Final = re.compile(r"\s*\n\s*")
_BLOCK_TAG: Final = re.compile(r"\s*(</?(?:dd|div|dl|dt|h3|li|p)\b[^>]*>)\s*")  # spaces around one are never shown
_NOTHING: Final = ListedFact(Fact(), opened=None, expired=False)


@dataclass(frozen=True, slots=True)
class Pattern:
    """Markup with named gaps, in the manner of `%`."""

    format: str

    @classmethod
    def of(cls, markup: str) -> Self:
        """Make one of markup in which each gap is a name between marks; spaces that are never shown are dropped."""
        markup = _LINES.sub("\n", _BLOCK_TAG.sub(r"\1", markup)).replace("%", "%%")
        return cls(_GAP.sub(r"%(\1)s", markup))

    def fill(self, texts: Mapping[str, str]) -> str:
        """Return the markup with the texts in the gaps, escaped."""
        return self.format % {name: html.escape(text) for name, text in texts.items()}


@dataclass(frozen=True, slots=True)
class Block:
    """A stretch of the list: facts that stand alone, or one group with its title and choices."""

    title: str
    choices: str
    facts: SafeString


def draw(tab: Tab) -> list[Block]:
    """Return the list of the tab's chosen view as markup, in its order."""
    patterns: dict[object, Pattern] = {}
    blocks = []
    for _, groups in groupby(tab.groups, key=_stretch):
        together = list(groups)
        drawn = [_draw(row, tab, patterns) for group in together for row in group.rows]
        # Safe: templates escape what is in the patterns, and `fill` what it puts into them.
        blocks.append(Block(together[0].title, together[0].choices, mark_safe("".join(drawn))))  # noqa: S308
    return blocks


def _stretch(group: Group) -> object:
    """Tell groups with a title apart; those without run together."""
    return id(group) if group.title else None


def _draw(row: Row, tab: Tab, patterns: dict[object, Pattern]) -> str:
    kind = (row.shown_as, row.readable, row.editable, row.edited, *(bool(source.url) for source in row.sources))
    pattern = patterns.get(kind)
    if pattern is None:
        context = {"row": _sample(row), "tab": tab, "agent": tab.agent}
        markup = render_to_string("facts/_fact.html", context)
        # The id of a row is its own mark: addresses are made with it.
        pattern = patterns[kind] = Pattern.of(markup.replace(row.id_text, _mark("id")))
    return pattern.fill(_texts(row))


def _sample(row: Row) -> Row:
    """Return the row with marks for all texts, so that nothing of this fact gets into a pattern but its id."""
    return replace(
        row,
        listed=_NOTHING,
        kind=_mark("kind"),
        label=_mark("label"),
        body=_mark("body"),
        meaning=_mark("meaning"),
        since=_marked("since"),
        expires=_marked("expires"),
        expires_in=_mark("expires_in"),
        percent=_mark("percent"),
        sources=tuple(
            Source(_mark(f"url{number}") if source.url else "", _mark(f"at{number}"))
            for number, source in enumerate(row.sources)
        ),
    )


def _texts(row: Row) -> dict[str, str]:
    """Return what belongs in the gaps, by the names that `_sample` gave them."""
    texts = {
        "id": row.id_text,
        "kind": row.kind,
        "label": row.label,
        "body": row.body,
        "meaning": row.meaning,
        "since_iso": row.since.iso,
        "since_exact": row.since.exact,
        "since_zone": row.since.zone,
        "since_day": row.since.day,
        "expires_iso": row.expires.iso,
        "expires_exact": row.expires.exact,
        "expires_zone": row.expires.zone,
        "expires_day": row.expires.day,
        "expires_in": row.expires_in,
        "percent": row.percent,
    }
    for number, source in enumerate(row.sources):
        texts[f"url{number}"], texts[f"at{number}"] = source.url, source.at
    return texts


def _mark(name: str) -> str:
    return f"{_EDGE}{name}{_EDGE}"


def _marked(name: str) -> Moment:
    return Moment(*(_mark(f"{name}_{part}") for part in ("iso", "exact", "zone", "day")))
