"""Who is asking: a signed-in user by e-mail and password, or the owner of an API key (I01, I05)."""

import hmac
import uuid
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from django.contrib.auth.backends import ModelBackend
from django.db.models import Q
from django.http import HttpRequest
from django.utils import timezone
from rest_framework.authentication import BaseAuthentication
from rest_framework.exceptions import AuthenticationFailed, ErrorDetail, NotAuthenticated, PermissionDenied, Throttled
from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.throttling import BaseThrottle

from accounts import rates
from accounts.models import ApiKey, User
from accounts.services import hash_key
from database.compiled import Compiled

LAST_USED_STEP = timedelta(minutes=1)  # a write for every request would make one hot row per key


class EmailBackend(ModelBackend):
    """Signs in live users by e-mail address, case-insensitively; gives superusers no rights on objects."""

    def authenticate(
        self, request: HttpRequest | None, username: str | None = None, password: str | None = None, **kwargs: Any
    ) -> User | None:
        email = username if username is not None else kwargs.get("email")
        if not email or password is None or "\x00" in email:
            return None
        user = User.objects.with_email(email).live().first()
        if user is None:
            User().set_password(password)  # the same work for an absent address, so that timing tells nothing
            return None
        return user if user.check_password(password) else None

    def get_user(self, user_id: Any) -> User | None:
        return User.objects.live().filter(pk=user_id).first()


@dataclass(frozen=True, slots=True)
class Principal:
    """The owner of an API key, and what the key allows."""

    user: User
    organization_id: uuid.UUID
    key_id: uuid.UUID
    memory_enabled: bool
    scope: str


_USABLE: Final = Compiled(
    lambda *, now, prefix: ApiKey.objects.usable(now).filter(prefix=prefix),
    examples={"now": datetime.max.replace(tzinfo=UTC), "prefix": "mp_example"},
    related=["user"],
)


def principal_for(secret: str, *, now: datetime) -> Principal | None:
    """Return the principal of a key, or None: found by public prefix, compared in constant time."""
    prefix = secret.rpartition("_")[0] if secret.count("_") == 2 else secret[:11]
    key = _USABLE.first(now=now, prefix=prefix[:16])
    stored = bytes(key.key_hash) if key else b"\x00" * 32
    if not hmac.compare_digest(stored, hash_key(secret)) or key is None:
        return None
    old = now - LAST_USED_STEP
    if key.last_used_at is None or key.last_used_at < old:
        unnoted = Q(last_used_at__isnull=True) | Q(last_used_at__lt=old)  # asked again: another request may be faster
        ApiKey.objects.filter(unnoted, pk=key.pk).update(last_used_at=now)
    return Principal(key.user, key.organization_id, key.pk, key.memory_enabled, key.scope)


class ApiKeyAuthentication(BaseAuthentication):
    """`Authorization: Bearer KEY`, never a cookie; `request.auth` is the Principal."""

    def authenticate(self, request: Request) -> tuple[User, Principal]:
        scheme, _, secret = request.headers.get("Authorization", "").partition(" ")
        if scheme.lower() != "bearer" or not secret.strip():
            raise AuthenticationFailed("Send your API key as 'Authorization: Bearer KEY'.", code="missing_api_key")
        secret = secret.strip()
        found = principal_for(secret, now=timezone.now()) if "\x00" not in secret else None
        if found is None:
            failure = rates.take_failure(rates.network_of(request))
            if failure is not None and not failure.allowed:
                raise RateLimited(failure)
            raise AuthenticationFailed("This API key is wrong, expired or revoked.", code="invalid_api_key")
        return found.user, found

    def authenticate_header(self, request: Request) -> str:
        return 'Bearer realm="api"'


class RateLimited(Throttled):
    """Too many requests, or too many wrong keys; the answer says when to come back (I06)."""

    def __init__(self, taken: rates.Taken) -> None:
        super().__init__(taken.wait, code="rate_limit_exceeded")
        self.detail = ErrorDetail(
            f"Rate limit reached for {taken.limit.of}: {taken.limit.requests} requests per minute. "
            f"Try again in {taken.wait} s.",
            code="rate_limit_exceeded",
        )


class RequestRate(BaseThrottle):
    """Counts each request of a key and of its organization; `request.rate` on the HTTP request is for the headers."""

    def allow_request(self, request: Request, view: Any) -> bool:
        principal = principal_of(request)
        taken = rates.take_request(key_id=principal.key_id, organization_id=principal.organization_id)
        request._request.rate = taken  # type: ignore[attr-defined]
        if taken is not None and not taken.allowed:
            raise RateLimited(taken)
        return True


class KeyScope(BasePermission):
    """Lets a key pass where its scope belongs: a view's `key_scope`, else everything but triggers (C04)."""

    def has_permission(self, request: Request, view: Any) -> bool:
        wanted = getattr(view, "key_scope", ApiKey.Scope.CHAT)
        if principal_of(request).scope == wanted:
            return True
        if wanted == ApiKey.Scope.TRIGGERS:
            raise PermissionDenied("This API key is for chat. Here use one of the scope 'triggers'.", "wrong_key_scope")
        raise PermissionDenied("This API key is for triggers. Here use one of the scope 'chat'.", "wrong_key_scope")


def principal_of(request: Request) -> Principal:
    """Return who asks, in a view behind `ApiKeyAuthentication`."""
    principal = request.auth
    if not isinstance(principal, Principal):
        raise NotAuthenticated
    return principal
