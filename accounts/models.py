"""Users, organizations, memberships and API keys: columns and constraints, nothing that acts."""

import uuid
from datetime import datetime
from typing import Any, ClassVar, Final, Self

from django.contrib.auth.models import AbstractBaseUser, BaseUserManager, PermissionsMixin
from django.db import models
from django.db.models.functions import Upper
from django.utils.translation import gettext_lazy as _

MAX_TRANSCRIPT_DAYS: Final = 3650  # ten years; who wants more keeps them


class UserQuerySet(models.QuerySet["User"]):
    def live(self) -> Self:
        return self.filter(deleted_at__isnull=True, is_active=True)

    def with_email(self, email: str) -> Self:
        return self.filter(email__iexact=email.strip(), deleted_at__isnull=True)


class UserManager(BaseUserManager["User"]):
    """Creates users; `createsuperuser` relies on these names."""

    def get_queryset(self) -> UserQuerySet:
        return UserQuerySet(self.model, using=self._db)

    def live(self) -> UserQuerySet:
        return self.get_queryset().live()

    def with_email(self, email: str) -> UserQuerySet:
        return self.get_queryset().with_email(email)

    def create_user(self, email: str, password: str | None = None, **extra: Any) -> "User":
        user = self.model(email=self.normalize_email(email.strip()), **extra)
        user.set_password(password)
        user.save(using=self._db)
        return user

    def create_superuser(self, email: str, password: str | None = None, **extra: Any) -> "User":
        return self.create_user(email, password, is_staff=True, is_superuser=True, **extra)

    def get_by_natural_key(self, username: str | None) -> "User":
        return self.live().get(email__iexact=username)


class User(AbstractBaseUser, PermissionsMixin):
    """A person. Soft-deleted users keep their row; their address becomes free for an account that inherits nothing."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    email = models.EmailField(_("e-mail address"))
    name = models.CharField(_("name"), max_length=120, blank=True)
    is_staff = models.BooleanField(_("staff"), default=False)
    is_active = models.BooleanField(_("active"), default=True)
    time_zone = models.CharField(_("time zone"), max_length=64, default="UTC")
    language = models.CharField(_("language"), max_length=16, default="en")
    mail_on_invitation = models.BooleanField(
        _("mail me when an invitation that I sent is accepted"), default=True, db_default=True
    )
    mail_on_key = models.BooleanField(
        _("mail me when an API key is made for my account"), default=True, db_default=True
    )
    created_at = models.DateTimeField(auto_now_add=True)
    deleted_at = models.DateTimeField(null=True, blank=True, editable=False)

    objects: ClassVar[UserManager] = UserManager()
    USERNAME_FIELD = "email"
    REQUIRED_FIELDS: ClassVar[list[str]] = []

    class Meta:
        permissions = (("delete_subject", "delete people, organizations and agents, and their memory"),)  # R04
        constraints: ClassVar = [
            models.UniqueConstraint(Upper("email"), name="user_email_live", condition=models.Q(deleted_at__isnull=True))
        ]

    def __str__(self) -> str:
        return self.name or self.email

    @property
    def is_live(self) -> bool:
        return self.deleted_at is None and self.is_active


class Organization(models.Model):
    """A tenant."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    slug = models.SlugField(max_length=63)
    name = models.CharField(_("name"), max_length=120)
    # Conversations are deleted so many days after the last thing said in them; null: they are kept (T04).
    transcript_days = models.PositiveSmallIntegerField(null=True, blank=True, editable=False)
    created_at = models.DateTimeField(auto_now_add=True)
    deleted_at = models.DateTimeField(null=True, blank=True, editable=False)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["slug"], name="organization_slug_live", condition=models.Q(deleted_at__isnull=True)
            ),
            models.CheckConstraint(
                condition=models.Q(transcript_days__isnull=True)
                | models.Q(transcript_days__gte=1, transcript_days__lte=MAX_TRANSCRIPT_DAYS),
                name="organization_transcript_days",
            ),
        ]

    def __str__(self) -> str:
        return self.name


class Membership(models.Model):
    """A user's place in an organization. Ending it deletes the row and nothing else (I02)."""

    class Role(models.TextChoices):
        OWNER = "owner", _("Owner")
        ADMIN = "admin", _("Administrator")
        MEMBER = "member", _("Member")

    organization = models.ForeignKey(Organization, on_delete=models.CASCADE, related_name="+")
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+")
    role = models.CharField(max_length=8, choices=Role, default=Role.MEMBER)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["organization", "user"], name="membership_once"),
            models.CheckConstraint(condition=models.Q(role__in=["owner", "admin", "member"]), name="membership_role"),
        ]


class Invitation(models.Model):
    """A place offered to an e-mail address, until it is accepted or revoked: then the row goes, and the audit tells.

    The link's token is stored as a hash only, and anew for each mail (I07). An expired one can be sent again.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    organization = models.ForeignKey(Organization, on_delete=models.CASCADE, related_name="+")
    email = models.EmailField()
    role = models.CharField(max_length=8, choices=Membership.Role)
    token_hash = models.BinaryField(max_length=32)
    invited_by = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    created_at = models.DateTimeField()
    sent_at = models.DateTimeField()
    expires_at = models.DateTimeField()

    class Meta:
        default_permissions = ()
        constraints: ClassVar = [
            models.UniqueConstraint("organization", Upper("email"), name="invitation_once"),
            models.CheckConstraint(condition=models.Q(role__in=["owner", "admin", "member"]), name="invitation_role"),
        ]


class Attempt(models.Model):
    """One counted try at something that is limited; `counted` is a keyed hash of what and who, never an address."""

    counted = models.BinaryField(max_length=32)
    at = models.DateTimeField()

    class Meta:
        default_permissions = ()
        indexes: ClassVar = [models.Index(fields=["counted", "at"], name="attempt_counted")]


class ApiKeyQuerySet(models.QuerySet["ApiKey"]):
    def usable(self, now: datetime) -> Self:
        """Keys that open something at `now`: not revoked, not expired, of a live user with a live membership (I05)."""
        member = Membership.objects.filter(organization=models.OuterRef("organization"), user=models.OuterRef("user"))
        return self.filter(
            models.Q(expires_at__isnull=True) | models.Q(expires_at__gt=now),
            models.Exists(member),
            revoked_at__isnull=True,
            user__deleted_at__isnull=True,
            user__is_active=True,
            organization__deleted_at__isnull=True,
        )


class ApiKey(models.Model):
    """A key of one user in one organization. Only a hash is stored; `prefix` is public and finds the row (I05)."""

    class Scope(models.TextChoices):
        CHAT = "chat", _("Chat and the other calls of programs")
        TRIGGERS = "triggers", _("Triggers of connectors")

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    organization = models.ForeignKey(Organization, on_delete=models.CASCADE, related_name="+")
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+")
    name = models.CharField(_("name"), max_length=120)
    prefix = models.CharField(max_length=16, unique=True)
    key_hash = models.BinaryField(max_length=32)
    scope = models.CharField(_("may be used for"), max_length=8, choices=Scope, default=Scope.CHAT)
    memory_enabled = models.BooleanField(_("reads and writes memory"), default=True)
    created_at = models.DateTimeField(auto_now_add=True)
    last_used_at = models.DateTimeField(null=True)
    expires_at = models.DateTimeField(null=True)
    revoked_at = models.DateTimeField(null=True)

    objects: ClassVar = ApiKeyQuerySet.as_manager()

    class Meta:
        constraints: ClassVar = [
            models.CheckConstraint(condition=models.Q(scope__in=["chat", "triggers"]), name="api_key_scope")
        ]

    def __str__(self) -> str:
        return f"{self.name} ({self.prefix}…)"


class Rate(models.Model):
    """How much of a limit is used: the bucket is full again at `full_at`. An unlogged table: a crash empties it."""

    bucket = models.CharField(max_length=80, primary_key=True)
    full_at = models.DateTimeField()
    allowed = models.BooleanField()  # what the last request was told

    class Meta:
        default_permissions = ()


class IdempotentRequest(models.Model):
    """An `Idempotency-Key` of an API key and the turn that it led to; keeps hashes, never what was sent (C01).

    `attempt` fences: only who claimed last may go on. A row without a turn belongs to a request that is starting.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    api_key = models.ForeignKey(ApiKey, on_delete=models.CASCADE, related_name="+")
    key_hash = models.BinaryField(max_length=32)
    body_hash = models.BinaryField(max_length=32)
    attempt = models.PositiveIntegerField(default=1)
    turn_id = models.UUIDField(null=True)  # of a higher layer
    finish_reason = models.CharField(max_length=40, blank=True)
    created_at = models.DateTimeField()
    claimed_at = models.DateTimeField()

    class Meta:
        default_permissions = ()
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["api_key", "key_hash"], name="idempotent_request_once"),
        ]
        indexes: ClassVar = [models.Index(fields=["created_at"], name="idempotent_request_by_age")]
