"""The drawn list against its template: whatever a row says, it says of its own fact (F09)."""

import uuid
from datetime import timedelta

import pytest
from django.template.loader import render_to_string
from django.utils import timezone

from accounts.models import User
from agents.access import agent_for
from agents.models import Agent
from consent.scope import Scope
from facts.drawing import Pattern, draw
from facts.models import Fact
from facts.selection import Selection
from facts.tab import Tab, read_tab
from tests import factories

pytestmark = pytest.mark.django_db


@pytest.fixture
def many(consented: Scope, agent: Agent, owner: User) -> Scope:
    """Facts of every kind, some with texts that look like markup or like a gap in it."""
    session = factories.make_session(agent, owner)
    cited = [factories.make_turn(session, f"I like number {number}.")[1].pk for number in range(3)]
    made = timezone.now() - timedelta(days=9)
    for number, body in enumerate(("<b>5 & 6</b>", "100 %(label)s %s {0}", "a\n\n  b", "“it's”")):
        sources = (*cited[:number], *[uuid.uuid4()] * (number % 2))
        at = made + timedelta(hours=number)
        factories.make_fact(consented, key=f"<i>{number}%(body)s", body=body, source_ids=sources, created_at=at)
    factories.make_fact(consented, key="home", body="Lives in Porto.")
    factories.make_fact(consented, key="home", body="Lives in Lisbon.", status="conflict", memory_type="profile")
    factories.make_fact(consented, key="diet", body="Eats no meat.", status="pending", memory_type="episodic")
    factories.make_fact(consented, key="old", created_at=made, expires_at=made + timedelta(days=2))
    edited = factories.make_fact(consented, key="edited", body="Was edited.")
    Fact.objects.filter(pk=edited.pk).update(supersedes_id=uuid.uuid4())
    closed = factories.make_fact(consented, key="closed")
    Fact.objects.filter(pk=closed.pk).update(sealed=b"F1" + b"\0" * 80)
    return consented


def tab_of(owner: User, agent: Agent) -> Tab:
    access = agent_for(owner, agent.organization.slug, agent.slug, "agent:read")
    return read_tab(owner, access, now=timezone.now(), selection=Selection(order="key"))


def squeezed(markup: str) -> str:
    """Drop the spaces around tags."""
    return ">".join(
        "<".join(part.strip() for part in piece.split("<")) for piece in " ".join(markup.split()).split(">")
    )


def test_every_drawn_row_is_what_the_template_says_of_that_fact(many: Scope, owner: User, agent: Agent) -> None:
    tab = tab_of(owner, agent)
    assert len(tab.rows) == 10
    rows = [row for group in tab.groups for row in group.rows]
    plain = [render_to_string("facts/_fact.html", {"row": row, "tab": tab, "agent": agent}) for row in rows]
    assert squeezed("".join(block.facts for block in draw(tab))) == squeezed("".join(plain))


def test_a_group_is_a_block_and_facts_that_stand_alone_share_one(many: Scope, owner: User, agent: Agent) -> None:
    blocks = draw(tab_of(owner, agent))
    assert [(block.title, block.facts.count("<li ")) for block in blocks] == [
        ("", 6),
        ("These facts disagree", 2),
        ("", 2),  # one that cannot be decrypted is last
    ]


def test_a_text_is_kept_to_the_space_and_escaped(many: Scope, owner: User, agent: Agent) -> None:
    page = "".join(block.facts for block in draw(tab_of(owner, agent)))
    assert 'dir="auto">a\n\n  b</p>' in page
    assert 'dir="auto">100 %(label)s %s {0}</p>' in page
    assert "<b>" not in page
    assert "\0" not in page


def test_a_pattern_drops_only_spaces_that_are_never_shown() -> None:
    pattern = Pattern.of('<p>\n  5 % of <b>\0what\0</b>\n  <i class="x">all</i>\n</p>\n')
    assert pattern.fill({"what": "a < b"}) == '<p>5 % of <b>a &lt; b</b>\n<i class="x">all</i></p>'
