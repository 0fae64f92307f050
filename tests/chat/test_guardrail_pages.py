"""The guardrails' page through HTTP (C06, I04): who may, what is kept when refused, and that a try stores nothing."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from accounts.models import Organization, User
from accounts.services import remove_member
from chat.guardrail_form import PII_NAMES
from chat.models import MAX_RULES, GuardrailCount, GuardrailPolicy
from chat.policies import count_hits, policy_for
from screening.pii import PII_RULES
from tests import factories

pytestmark = pytest.mark.django_db
URL = "/organizations/acme/guardrails/"
TEXTS = {"enabled": "on", "refusal": "Not here.", "restriction": "Withheld."}


def form(*rules: dict[str, Any], do: str = "save", version: int = 0, **more: Any) -> dict[str, Any]:
    """Return a posted form with these rules; without a stage a rule is one of the replies."""
    fields = {"do": do, "version": str(version), **TEXTS, **more}
    for number, rule in enumerate(rules):
        plain = {"stage": "output", "kind": "phrases", "action": "block", "replacement": "[removed]"}
        fields |= {f"r{number}-{name}": value for name, value in {**plain, **rule}.items()}
    return fields


def text(response: Any) -> str:
    return " ".join(response.content.decode().split())


@pytest.fixture
def admin(organization: Organization) -> User:
    return factories.make_member(organization, None, "eve@acme.example", role="admin")


@pytest.fixture
def client(admin: User, client_for: Callable[..., Client]) -> Client:
    return client_for(admin)


def test_i04_only_owners_and_administrators_see_the_page_and_strangers_find_none(
    client: Client, client_for: Callable[..., Client], organization: Organization, owner: User, stranger: User
) -> None:
    assert client.get(URL).status_code == 200
    boss = factories.make_member(organization, None, "boss@acme.example", role="owner")
    assert client_for(boss).get(URL).status_code == 200
    for user, code in ((owner, 403), (stranger, 404)):
        assert client_for(user).get(URL).status_code == code
        assert client_for(user).post(URL, form()).status_code == code
    assert client.get("/organizations/other/guardrails/").status_code == 404
    assert Client().get(URL).status_code == 302
    assert client.put(URL).status_code == 405
    assert not GuardrailPolicy.objects.exists()


def test_an_administrator_who_was_removed_no_longer_finds_it(
    client: Client, admin: User, organization: Organization
) -> None:
    remove_member(organization=organization, user=admin)
    assert client.get(URL).status_code == 404


def test_rules_of_every_kind_are_saved_and_shown_again(client: Client, organization: Organization) -> None:
    answer = client.post(
        URL,
        form(
            {"stage": "input", "value": " Project  Falcon \n\nowl\nowl"},
            {"kind": "pattern", "value": "(?i)case-[0-9]{4}", "action": "replace", "replacement": "[case]"},
            {"kind": "pii", "kinds": ["phone", "email"], "action": "replace", "replacement": ""},
            {"kind": "length", "value": "05000"},
        ),
    )
    assert answer.status_code == 303
    policy = policy_for(organization.pk)
    assert [rule.value for rule in policy.input_rules] == ["Project Falcon\nowl"]
    assert [(rule.kind, rule.value, rule.action, rule.replacement) for rule in policy.output_rules] == [
        ("pattern", "(?i)case-[0-9]{4}", "replace", "[case]"),
        ("pii", "email phone", "replace", ""),
        ("length", "5000", "block", ""),
    ]
    shown = text(client.get(URL))
    assert "Project Falcon" in shown
    assert "(?i)case-[0-9]{4}" in shown
    assert 'value="phone" checked' in shown
    assert 'name="version" value="1"' in shown


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        ({"kind": "pattern", "value": "(oops"}, "RE2 cannot read this pattern"),
        ({"kind": "pattern", "value": "a*"}, "finds the empty text"),
        ({"kind": "pattern", "value": r"(\pL{20}){10}"}, "too big"),
        ({"kind": "pattern", "value": "x" * 501}, "at most 500"),
        ({"kind": "phrases", "value": " \n "}, "empty"),
        ({"kind": "phrases", "value": "good\n\u200b"}, "nothing that can be read"),
        ({"kind": "phrases", "value": "a\x00b"}, "NUL"),
        ({"kind": "pii", "kinds": ["shoe_size"]}, "Choose at least one"),
        ({"kind": "length", "value": "-3"}, "whole number"),
        ({"value": "owl", "action": "replace", "replacement": "An OWL"}, "finds something in this text itself"),
    ],
)
def test_what_is_wrong_is_said_and_what_was_typed_is_kept(client: Client, rule: dict[str, Any], said: str) -> None:
    answer = client.post(URL, form({"value": "the other rule"}, rule))
    assert answer.status_code == 400
    shown = text(answer)
    assert said in shown
    assert "the other rule" in shown
    assert 'aria-invalid="true"' in shown or rule["kind"] == "pii"
    assert "Not here." in shown
    assert not GuardrailPolicy.objects.exists()


@pytest.mark.parametrize(
    "fields", [form({"value": "owl", "kind": "evil"}), form({"value": "owl", "stage": "both"}), form(do="burn")]
)
def test_what_no_form_has_is_refused_and_no_rule_is_lost_by_it(
    client: Client, organization: Organization, fields: dict[str, Any]
) -> None:
    client.post(URL, form({"value": "owl"}))
    assert client.post(URL, fields | {"version": "1"}).status_code == 400
    assert len(policy_for(organization.pk).output_rules) == 1


def test_the_texts_for_members_are_needed(client: Client) -> None:
    answer = client.post(URL, form(refusal=" ", restriction="x" * 1001))
    assert answer.status_code == 400
    assert "The text is empty" in text(answer)
    assert "at most 1000" in text(answer)


def test_adding_and_removing_keeps_what_was_typed_and_saves_nothing(client: Client) -> None:
    shown = text(client.post(URL, form({"value": "first"}, {"value": "second"}, do="add", add="input pii")))
    assert "act only once they are saved" in shown
    assert shown.count('<fieldset class="group rule"') == 3
    shown = text(client.post(URL, form({"value": "first"}, {"value": "second"}, do="remove-0")))
    assert ">first<" not in shown.replace(" ", "")
    assert "second" in shown
    assert not GuardrailPolicy.objects.exists()
    assert client.post(URL, form(do="add", add="input nonsense")).status_code == 400


def test_there_is_room_for_so_many_rules(client: Client) -> None:
    rules = [{"value": f"word{number}"} for number in range(MAX_RULES + 1)]
    assert client.post(URL, form(*rules[:-1], do="add", add="input pii")).status_code == 400
    assert client.post(URL, form(*rules)).status_code == 400
    assert client.post(URL, form(*rules[:-1])).status_code == 303


def test_who_saves_later_is_told_and_loses_nothing(client: Client) -> None:
    assert client.post(URL, form()).status_code == 303
    answer = client.post(URL, form({"value": "mine"}))
    assert answer.status_code == 409
    assert "Somebody else saved" in text(answer)
    assert "mine" in text(answer)


def test_a_try_shows_what_is_found_where_and_stores_nothing(client: Client) -> None:
    rules = ({"value": "owl"}, {"kind": "pii", "kinds": ["email"], "action": "replace", "replacement": "[mail]"})
    shown = text(client.post(URL, form(*rules, do="try", try_text="An <OWL> wrote a@b.example.", try_stage="output")))
    assert "The reply would be withheld." in shown
    assert "<mark>OWL<" in shown
    assert "An &lt;" in shown
    shown = text(client.post(URL, form(*rules, do="try", try_text="Ask a@b.example.", try_stage="output")))
    assert "with replacements" in shown
    assert "Ask [mail]." in shown
    shown = text(client.post(URL, form(*rules, do="try", try_text="An owl.", try_stage="input")))
    assert "No rule finds anything." in shown
    assert client.post(URL, form(do="try", try_text="")).status_code == 400
    assert not GuardrailPolicy.objects.exists()
    assert not GuardrailCount.objects.exists()


def test_a_try_of_the_input_stage_says_that_the_message_would_be_stopped(client: Client) -> None:
    rule = {"stage": "input", "value": "owl"}
    shown = text(client.post(URL, form(rule, do="try", try_text="An owl.", try_stage="input")))
    assert "The message would be stopped." in shown


def test_the_counts_of_thirty_days_stand_beside_each_rule(client: Client, organization: Organization) -> None:
    client.post(URL, form({"value": "owl"}))
    rule = policy_for(organization.pk).output_rules[0]
    count_hits(organization_id=organization.pk, hits={rule.id: 7}, day=timezone.now().date())
    assert "Found 7 times in 30 days" in text(client.get(URL))


def test_every_kind_of_personal_data_has_a_name() -> None:
    assert tuple(PII_NAMES) == PII_RULES
