"""The one way to put work on the queue: a function by its dotted name, with one id (never text)."""

import uuid
from datetime import datetime
from typing import Final

from django.utils import timezone
from django_q.conf import Conf
from django_q.signing import SignedPackage
from django_q.tasks import queue_size

from database.prepared import prepared_cursor

# What the queue's `async_task` writes, through the ORM and at several times the price. `task_row` has the values.
INSERT: Final = "INSERT INTO django_q_ormq (key, payload, lock) VALUES (%s, %s, %s)"


def task_row(function: str, object_id: uuid.UUID) -> tuple[str, str, datetime]:
    """Return the values of `INSERT`, for whoever writes a task in one statement with the row that it is about."""
    now = timezone.now()
    task = {
        "id": uuid.uuid4().hex,
        "name": f"{function.rpartition('.')[2]}:{object_id}"[:100],
        "func": function,
        "args": (str(object_id),),
        "kwargs": {},
        "ack_failure": Conf.ACK_FAILURES,
        "started": now,
    }
    return Conf.CLUSTER_NAME, SignedPackage.dumps(task), now


def enqueue(function: str, object_id: uuid.UUID) -> None:
    """Enqueue `function(str(object_id))`; it commits or rolls back with the transaction around the call.

    The queue delivers at least once, so the function must cope with being run twice or not at all.
    """
    with prepared_cursor() as cursor:
        cursor.execute(INSERT, task_row(function, object_id))


def waiting_tasks() -> int:
    """Return how many tasks nobody has taken yet."""
    return int(queue_size())
