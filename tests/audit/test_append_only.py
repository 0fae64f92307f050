"""T03: the database itself refuses to change or remove an audit event."""

import uuid

import pytest
import structlog
from django.core.management import call_command
from django.db import IntegrityError, connection, transaction

from accounts.models import User
from audit.models import AuditEvent
from audit.services import record

pytestmark = pytest.mark.django_db


@pytest.fixture
def event(owner: User) -> AuditEvent:
    record("test.act", actor=owner, object_id=uuid.UUID(int=1), details={"count": 3})
    return AuditEvent.objects.get(action="test.act")


def test_t03_an_event_holds_copied_ids_and_survives_whom_it_tells_of(event: AuditEvent, owner: User) -> None:
    actor_id = owner.pk
    User.objects.filter(pk=owner.pk).delete()
    event.refresh_from_db()
    assert (event.actor_id, event.object_id, event.details) == (actor_id, uuid.UUID(int=1), {"count": 3})


def test_t03_an_update_is_refused(event: AuditEvent) -> None:
    with pytest.raises(IntegrityError, match="append-only"), transaction.atomic():
        AuditEvent.objects.filter(pk=event.pk).update(action="other")
    event.action = "other"
    with pytest.raises(IntegrityError, match="append-only"), transaction.atomic():
        event.save()
    with pytest.raises(IntegrityError, match="append-only"), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("UPDATE audit_auditevent SET details = '{}'")
    assert AuditEvent.objects.get(pk=event.pk).action == "test.act"


def test_t03_a_delete_is_refused(event: AuditEvent) -> None:
    with pytest.raises(IntegrityError, match="append-only"), transaction.atomic():
        event.delete()
    with pytest.raises(IntegrityError, match="append-only"), transaction.atomic():
        AuditEvent.objects.all().delete()
    with pytest.raises(IntegrityError, match="append-only"), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("DELETE FROM audit_auditevent")
    assert AuditEvent.objects.filter(action="test.act").exists()


def test_t03_a_truncate_is_refused(event: AuditEvent) -> None:
    with pytest.raises(IntegrityError, match="append-only"), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("TRUNCATE audit_auditevent")
    assert AuditEvent.objects.filter(pk=event.pk).exists()


@pytest.mark.django_db(transaction=True)
def test_t03_the_flush_after_a_test_leaves_the_refusals_on(owner: User) -> None:
    call_command("flush", interactive=False, verbosity=0)
    assert not AuditEvent.objects.exists()
    record("user.create", actor=None)
    for statement in ("TRUNCATE audit_auditevent", "DELETE FROM audit_auditevent"):
        with pytest.raises(IntegrityError, match="append-only"), connection.cursor() as cursor:
            cursor.execute(statement)


def test_t03_an_event_goes_when_the_act_is_rolled_back(owner: User) -> None:
    with transaction.atomic():
        record("test.undone", actor=owner)
        transaction.set_rollback(True)
    assert not AuditEvent.objects.filter(action="test.undone").exists()


def test_t03_an_event_names_the_request_and_may_have_no_actor(db: None) -> None:
    with structlog.contextvars.bound_contextvars(request_id="r" * 99):
        record("test.act", actor=None)
    event = AuditEvent.objects.get(action="test.act")
    assert (event.actor_id, event.request_id) == (None, "r" * 64)
