"""The one way to put work on the queue: a function by its dotted name, with one id (never text)."""

from uuid import UUID

from django_q.tasks import async_task, queue_size


def enqueue(function: str, object_id: UUID) -> None:
    """Enqueue `function(str(object_id))`; it commits or rolls back with the transaction around the call.

    The queue delivers at least once, so the function must cope with being run twice or not at all.
    """
    async_task(function, str(object_id), task_name=f"{function.rpartition('.')[2]}:{object_id}"[:100])


def waiting_tasks() -> int:
    """Return how many tasks nobody has taken yet."""
    return int(queue_size())
