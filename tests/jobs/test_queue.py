"""What `enqueue` writes is what the queue's own function writes, for less (E01)."""

import uuid
from typing import Any

import pytest
from django.db import transaction
from django_q.models import OrmQ
from django_q.tasks import async_task

from jobs.queue import enqueue, waiting_tasks

pytestmark = pytest.mark.django_db


def test_a_task_looks_as_the_queue_s_own_function_writes_it() -> None:
    object_id = uuid.uuid4()
    enqueue("jobs.tasks.beat", object_id)
    async_task("jobs.tasks.beat", str(object_id), task_name=f"beat:{object_id}")
    ours, theirs = OrmQ.objects.order_by("pk")
    mine, other = dict(ours.task), dict(theirs.task)
    for differs in ("id", "started"):
        assert type(mine.pop(differs)) is type(other.pop(differs))
    assert (ours.key, mine) == (theirs.key, other)
    assert waiting_tasks() == 2


def test_a_task_vanishes_with_the_transaction_that_enqueued_it(django_assert_num_queries: Any) -> None:
    with transaction.atomic(), django_assert_num_queries(1):
        enqueue("jobs.tasks.beat", uuid.uuid4())
        transaction.set_rollback(True)
    assert waiting_tasks() == 0
