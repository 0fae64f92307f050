"""The managers' page of an agent's runs, and the line beside a turn that says what was learned (E06)."""

import uuid
from dataclasses import dataclass
from typing import Final
from zoneinfo import ZoneInfo

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from accounts.requests import MemberRequest
from agents.access import agent_for
from conversations.access import session_for
from conversations.models import Turn
from extraction.figures import Day, figures, learned

PLOT_HEIGHT: Final = 120  # units of the drawing
BAR, GAP = 14, 5
DELAYS: Final = (2, 3, 5, 8, 13, 20, 30, 30, 60, 60, 60, 60)  # seconds between looks; then the page must be reloaded


@dataclass(frozen=True, slots=True)
class Bar:
    """One day of the plot, in units of the drawing; failed runs stand on the others."""

    day: Day
    x: int
    good_y: float
    good_height: float
    failed_y: float
    failed_height: float


def _bars(days: tuple[Day, ...]) -> list[Bar]:
    most = max((day.ended for day in days), default=0) or 1
    bars = []
    for number, day in enumerate(days):
        good = PLOT_HEIGHT * (day.done + day.skipped) / most
        failed = PLOT_HEIGHT * day.failed / most
        x = number * (BAR + GAP)
        bars.append(
            Bar(
                day,
                x,
                round(PLOT_HEIGHT - good, 1),
                round(good, 1),
                round(PLOT_HEIGHT - good - failed, 1),
                round(failed, 1),
            )
        )
    return bars


@login_required
@never_cache
@require_safe
def extraction_page(request: MemberRequest, organization: str, agent: str) -> HttpResponse:
    """Show an agent manager what extraction did: counts, durations, tokens and trouble, never a text."""
    access = agent_for(request.user, organization, agent, "agent:manage")
    zone = timezone.get_current_timezone()
    found = figures(access.agent, now=timezone.now(), zone=zone if isinstance(zone, ZoneInfo) else ZoneInfo("UTC"))
    shown = {
        "agent": access.agent,
        "figures": found,
        "bars": _bars(found.days),
        "bar": BAR,
        "plot_height": PLOT_HEIGHT,
        "plot_width": len(found.days) * (BAR + GAP),
        "most": max(day.ended for day in found.days),
        "total": sum(day.ended for day in found.days),
    }
    return render(request, "extraction/page.html", shown)


@login_required
@never_cache
@require_safe
def turn_line(request: MemberRequest, organization: str, agent: str, turn: uuid.UUID) -> HttpResponse:
    """Answer the line beside one of the member's own turns; while its run is open it asks again, ever more slowly."""
    access = agent_for(request.user, organization, agent, "agent:read")
    found = Turn.objects.filter(pk=turn, organization=access.agent.organization_id).first()
    session = session_for(request.user, found.session_id) if found else None
    if found is None or session is None or session.agent_id != access.agent.pk or session.created_by != request.user:
        raise Http404
    line = learned([turn]).get(turn)
    if line is None:
        raise Http404
    looked = request.GET.get("looked", "0")
    times = min(int(looked), len(DELAYS)) if looked.isascii() and looked.isdigit() and len(looked) < 4 else 0
    shown = {
        "agent": access.agent,
        "learned": line,
        "looked": times + 1,
        "delay": DELAYS[times] if times < len(DELAYS) else None,
    }
    answer = render(request, "extraction/_learned.html", shown)
    answer["HX-Retarget"], answer["HX-Reswap"] = f"#learned-{turn}", "outerHTML"
    return answer
