"""B10: the Memory tab's HTML with a full scope against a bare template over the same rows."""

from typing import Final

from django.template import engines
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from benchmarks import world
from benchmarks.figures import Check, Context, Outcome, against_floor, alternate
from benchmarks.prompt_block import raw_block
from facts.services import list_facts

MAX_BYTES: Final = 250_000  # before compression
BARE: Final = (
    "<ul>{% for fact in facts %}<li>{{ fact.kind }} {{ fact.key }}: {{ fact.body }} {{ fact.status }} "
    "{{ fact.percent }} % {{ fact.expires_at|date:'DATE_FORMAT' }}</li>{% endfor %}</ul>"
)


def measure_b10(_context: Context) -> Outcome:
    """The whole page through Django's test client, middleware and sign-in included."""
    member = world.full_member()
    client = Client(headers={"host": "127.0.0.1"})
    client.force_login(member.user, backend="accounts.authentication.EmailBackend")
    address = reverse("memory", args=[member.agent.organization.slug, member.agent.slug])
    page = client.get(address)
    assert page.status_code == 200
    template = engines["django"].from_string(BARE)
    facts = [
        {
            "kind": listed.row.get_memory_type_display(),
            "key": listed.opened.label,
            "body": listed.opened.body,
            "status": listed.row.get_status_display(),
            "percent": round(listed.row.confidence * 100),
            "expires_at": listed.row.expires_at,
        }
        for listed in list_facts(member.scope, now=timezone.now())
        if listed.opened
    ]
    block = raw_block(member.scope)
    timing = alternate(lambda: (block(), template.render({"facts": facts})), lambda: client.get(address), pairs=100)
    return against_floor(timing, 3.0, Check("bytes before compression", len(page.content), MAX_BYTES), rows=len(facts))
