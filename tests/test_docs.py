"""The documentation holds together: the README leads to every page, and no link in any of them is dead."""

import re
from pathlib import Path
from typing import Final

import pytest

ROOT: Final = Path(__file__).resolve().parent.parent
PAGES: Final = (*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), ROOT / "benchmarks" / "README.md")
LINK: Final = re.compile(r"\]\(([^)\s]+)\)")
HEADING: Final = re.compile(r"^#+ (.+)$", re.MULTILINE)


def anchors(text: str) -> set[str]:
    return {re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in HEADING.findall(text)}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_leads_somewhere(page: Path) -> None:
    for link in LINK.findall(page.read_text()):
        address, _hash, anchor = link.partition("#")
        if "://" in address:
            continue
        target = page.parent / address if address else page
        assert target.exists(), link
        if anchor:
            assert anchor in anchors(target.read_text()), link


def test_the_readme_leads_to_every_page_of_the_documentation() -> None:
    links = LINK.findall((ROOT / "README.md").read_text())
    for page in ROOT.glob("docs/*.md"):
        assert f"docs/{page.name}" in links
