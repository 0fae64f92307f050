"""`/operator/providers/`: operators set up, test and remove providers (C05); shows no key and no provider's answer."""

import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from accounts.access import require_operator
from accounts.requests import MemberRequest, posted_text, text_problem
from agents.breaker import BreakerState, breaker_states
from agents.models import Agent, Provider
from agents.operating import (
    LONGEST_TIMEOUT,
    SHORTEST_TIMEOUT,
    BadField,
    ChangedMeanwhile,
    Key,
    ProviderInUse,
    Wanted,
    add_provider,
    agents_of,
    change_provider,
    delete_provider,
    fingerprint,
)
from agents.trial import Trial, try_provider
from encryption.deployment import SecretUnavailable
from screening.text import UnacceptableText, clean_text

# What a trial's code means, and what to do.
TRIALS: Final[dict[str, Promise]] = {
    "unauthorized": gettext_lazy("The provider refuses the key. Replace it below."),
    "unreachable": gettext_lazy("Nothing answers at this address. Check host and port, and that the server runs."),
    "refused_address": gettext_lazy("The name leads to an address that may not be called. Nothing was sent."),
    "timeout": gettext_lazy("It did not answer in time."),
    "bad_answer": gettext_lazy("Something answers, but not in OpenAI's protocol. Does the address end with /v1?"),
    "refused_request": gettext_lazy(
        "It refuses the request. Check the model's name, and whether the address is whole."
    ),
    "rate_limited": gettext_lazy("It answers that it is asked too often, or that the account has no credit left."),
    "server_error": gettext_lazy("The provider has a fault of its own. Try again later."),
    "too_big": gettext_lazy("It answers with megabytes. That is no model server."),
    "misconfigured": gettext_lazy("There is no usable key: the variable is not set, or the secret cannot be opened."),
}


@dataclass(frozen=True, slots=True)
class Shown:
    """A provider in the list."""

    provider: Provider
    breaker: BreakerState
    agents: list[Agent]


@dataclass(frozen=True, slots=True)
class Form:
    """What stands in the form: the row's values or what was typed; never a secret."""

    values: Mapping[str, str]
    field: str = ""  # which one has a problem; "" for none of them
    problem: str = ""


@login_required
@never_cache
@require_safe
def provider_list(request: MemberRequest) -> HttpResponse:
    """List all providers, with how they are and which agents use them."""
    require_operator(request.user)
    providers = list(Provider.objects.order_by("kind", "name", "base_url", "id"))
    breakers = breaker_states(providers, now=timezone.now())
    agents: dict[uuid.UUID, list[Agent]] = {}
    for agent in Agent.objects.live().select_related("organization").order_by("name", "id"):
        agents.setdefault(agent.provider_id, []).append(agent)
    shown = [Shown(row, breakers[row.pk], agents.get(row.pk, [])) for row in providers]
    return render(request, "agents/providers.html", {"providers": shown})


@sensitive_post_parameters("secret")
@login_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def provider_add(request: MemberRequest) -> HttpResponse:
    """Set up another OpenAI-compatible server."""
    require_operator(request.user)
    form, status = Form({"timeout_seconds": "60", "key": "secret"}), 200
    if request.method == "POST":
        try:
            row = add_provider(wanted=_wanted(request), actor=request.user)
        except (BadField, SecretUnavailable) as error:
            form, status = _again(request, error)
        else:
            messages.success(request, _("The provider is set up. Test it before agents use it."))
            return HttpResponseRedirect(reverse("provider", args=[row.pk]), status=303)
    return render(request, "agents/provider_add.html", {"form": form, **_limits()}, status=status)


@sensitive_post_parameters("secret")
@login_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def provider_page(request: MemberRequest, provider: uuid.UUID) -> HttpResponse:
    """Show one provider; change its address, time-out or key."""
    require_operator(request.user)
    row = get_object_or_404(Provider, pk=provider)
    if request.method != "POST":
        return _page(request, row, _form_of(row))
    _require_server(row)
    try:
        change_provider(provider=row, wanted=_wanted(request), actor=request.user, seen=request.POST.get("seen"))
    except (BadField, SecretUnavailable, ChangedMeanwhile) as error:
        form, status = _again(request, error)
        return _page(request, row, form, status=status)
    except Provider.DoesNotExist:
        raise Http404 from None
    messages.success(request, _("Saved. Test it to see whether it answers."))
    return HttpResponseRedirect(reverse("provider", args=[row.pk]), status=303)


@login_required
@never_cache
@require_POST
def provider_test(request: MemberRequest, provider: uuid.UUID) -> HttpResponse:
    """Ask the provider one small thing and say how it went."""
    require_operator(request.user)
    row = get_object_or_404(Provider, pk=provider)
    _require_server(row)
    try:
        model = _text(request, "model", limit=200)
    except BadField as error:
        return _page(request, row, _form_of(row), more={"model": "", "model_problem": str(error)}, status=400)
    trial = try_provider(provider=row, model=model, actor=request.user)
    return _page(request, row, _form_of(row), more={"model": model, "trial": trial, "trial_text": _sentence(trial)})


@login_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def provider_delete(request: MemberRequest, provider: uuid.UUID) -> HttpResponse:
    """Ask once, then delete a provider that no agent uses."""
    require_operator(request.user)
    row = get_object_or_404(Provider, pk=provider)
    agents, status = agents_of(row), 200
    if request.method == "POST":
        try:
            delete_provider(provider=row, actor=request.user)
        except ProviderInUse:
            agents, status = agents_of(row), 409
        except Provider.DoesNotExist:
            raise Http404 from None
        else:
            messages.success(request, _("The provider and its key are deleted."))
            return HttpResponseRedirect(reverse("providers"), status=303)
    return render(request, "agents/provider_delete.html", {"provider": row, "agents": agents}, status=status)


def _require_server(row: Provider) -> None:
    """The offline rules have nothing to change and nothing to test."""
    if row.kind != Provider.Kind.OPENAI:
        raise Http404


def _page(
    request: MemberRequest, row: Provider, form: Form, *, more: Mapping[str, Any] | None = None, status: int = 200
) -> HttpResponse:
    row.refresh_from_db()
    agents = agents_of(row)
    shown = {
        "provider": row,
        "agents": agents,
        "breaker": breaker_states([row], now=timezone.now())[row.pk],
        "form": form,
        # A form that comes back with a mistake in it still stands for what was seen first.
        "seen": request.POST.get("seen", fingerprint(row)) if status == 400 else fingerprint(row),
        "model": agents[0].model if agents else "",
        **_limits(),
        **(more or {}),
    }
    return render(request, "agents/provider.html", shown, status=status)


def _limits() -> dict[str, int]:
    return {"shortest": SHORTEST_TIMEOUT, "longest": LONGEST_TIMEOUT}


def _form_of(row: Provider) -> Form:
    values = {"name": row.name, "base_url": row.base_url, "timeout_seconds": str(row.timeout_seconds)}
    return Form({**values, "key": "keep", "variable": row.api_key_env})


def _again(request: MemberRequest, error: BadField | SecretUnavailable | ChangedMeanwhile) -> tuple[Form, int]:
    """Return the form with what was typed, except the secret, and the status of the refusal."""
    values = {name: request.POST.get(name, "") for name in ("name", "base_url", "timeout_seconds", "key", "variable")}
    if isinstance(error, BadField):
        return Form(values, error.field, str(error)), 400
    if isinstance(error, ChangedMeanwhile):
        problem = _(
            "Somebody changed this provider while you did; above is what is stored now. Nothing was saved: "
            "what you typed is below, except a key. Save it again to replace what is stored."
        )
        return Form(values, "", problem), 409
    problem = _("The key cannot be encrypted now (%(code)s). Nothing was saved.") % {"code": error.code}
    return Form(values, "secret", problem), 503


def _wanted(request: MemberRequest) -> Wanted:
    """Read the form. Raises BadField."""
    seconds = request.POST.get("timeout_seconds", "").strip()
    return Wanted(
        name=_text(request, "name", limit=80),
        base_url=_text(request, "base_url", limit=2_000),
        timeout_seconds=int(seconds) if seconds.isascii() and seconds.isdigit() and len(seconds) < 6 else 0,
        key=_key(request),
    )


def _key(request: MemberRequest) -> Key | None:
    choice = request.POST.get("key", "")
    if choice == "keep":
        return None
    if choice == "none":
        return Key()
    if choice == "environment":
        if variable := _text(request, "variable", limit=120):
            return Key(variable=variable)
        raise BadField("variable", _("Type the name of the variable."))
    if choice == "secret":
        if secret := request.POST.get("secret", "").strip():
            return Key(secret=secret)
        raise BadField("secret", _("Paste the key. It is not shown here again, so it must be typed anew each time."))
    raise BadField("key", _("Choose where the key comes from."))


def _text(request: MemberRequest, name: str, *, limit: int) -> str:
    try:
        return clean_text(posted_text(request, name), max_length=limit, single_line=True, allow_empty=True).strip()
    except UnacceptableText as error:
        raise BadField(name, text_problem(error)) from None


def _sentence(trial: Trial) -> str:
    if trial.code:
        return str(TRIALS.get(trial.code) or _("It failed."))
    if trial.models is None:
        return _("It works: the model answered in %(ms)s ms.") % {"ms": trial.milliseconds}
    return _("It works: it answered in %(ms)s ms and offers %(count)s models.") % {
        "ms": trial.milliseconds,
        "count": trial.models,
    }
