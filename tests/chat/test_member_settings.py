"""The member's time zone and language reach the prompt, after what all members share (C07)."""

from datetime import UTC, datetime
from typing import Any

import pytest
from django.utils import timezone

from accounts.models import User
from agents.models import Agent
from chat import services
from chat.prompt import assemble, member_line
from consent.scope import Scope
from conversations.services import Said
from tests import factories
from tests.chat.conftest import Ask
from tests.stub_server import Script

NIGHT = datetime(2026, 11, 30, 23, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    ("time_zone", "language", "line"),
    [
        ("", "", ""),
        ("", "Portuguese", "The language of this person's settings is Portuguese."),
        (
            "Asia/Tokyo",
            "",
            "This person's time zone is Asia/Tokyo; today is Tuesday, 1 December 2026 there.",
        ),
    ],
)
def test_the_line_says_the_day_where_the_member_is(time_zone: str, language: str, line: str) -> None:
    assert member_line(time_zone=time_zone, language=language, now=NIGHT) == line


def test_c07_the_line_follows_the_compiled_prompt_and_is_not_part_of_the_cache_key() -> None:
    more: dict[str, Any] = {"system_prompt": "Be brief.", "blocks": ["A block."], "client_system": [], "history": []}
    without, with_line = assemble(**more), assemble(about_member="A line.", **more)
    assert with_line.messages[0].content == "Be brief.\n\nA line.\n\nA block."
    assert with_line.cache_key == without.cache_key


@pytest.mark.django_db
def test_time_zone_and_language_reach_the_model_with_and_without_memory(
    ask: Ask, owner: User, talker_scope: Scope, model_server: Script
) -> None:
    factories.make_fact(talker_scope)
    User.objects.filter(pk=owner.pk).update(time_zone="Europe/Lisbon", language="pt-br")
    ask("Hello")
    system = model_server.chats()[0]["messages"][0]["content"]
    prompt, line, block = system.split("\n\n")
    assert prompt == "Be brief."
    assert "Europe/Lisbon" in line
    assert "Brazilian Portuguese" in line
    assert "Lives in Porto." in block


@pytest.mark.django_db
def test_nothing_is_told_of_a_key_s_owner_who_speaks_for_somebody_else(
    ask: Ask, owner: User, model_server: Script
) -> None:
    User.objects.filter(pk=owner.pk).update(time_zone="Europe/Lisbon")
    ask("Hello", user="customer-7")
    assert model_server.chats()[0]["messages"][0]["content"] == "Be brief."


@pytest.mark.django_db
@pytest.mark.parametrize("change", [{"time_zone": "Mars/Base"}, {"time_zone": "Europe"}, {"language": "tlh"}, {}])
def test_what_is_not_set_or_not_known_is_left_out(
    ask: Ask, owner: User, model_server: Script, change: dict[str, str]
) -> None:
    User.objects.filter(pk=owner.pk).update(**change)
    ask("Hello")
    assert model_server.chats()[0]["messages"][0]["content"] == "Be brief."


@pytest.mark.django_db
def test_what_an_operator_writes_tells_nothing_of_either(talker: Agent, owner: User, colleague: User) -> None:
    User.objects.update(time_zone="Europe/Lisbon")
    session, now = factories.make_session(talker, owner), timezone.now()
    colleague.refresh_from_db()
    started = services.start_turn(session=session, speaker=colleague, said=[Said("user", "Hi", now)], now=now)
    assert started.request.messages[0].content == "Be brief."
