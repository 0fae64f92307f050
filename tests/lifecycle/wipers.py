"""A process that sweeps or wipes in the database that is named, to be killed by a test; must not assert anything.

`python -m tests.lifecycle.wipers DATABASE sweep NOW` prints a line after each batch and waits for one before the next;
`… DATABASE wipe USER` deletes a user.
"""

import sys
from datetime import datetime

import django


def main(database: str, what: str, argument: str) -> None:
    django.setup()
    from django.db import connection
    from django.utils import timezone

    from accounts.models import User
    from facts.due import Limits
    from facts.retention import sweep
    from lifecycle.services import delete_user

    connection.settings_dict["NAME"] = database

    def step(count: int) -> None:
        sys.stdout.write(f"{count}\n")
        sys.stdout.flush()
        sys.stdin.readline()

    if what == "sweep":
        sweep(now=datetime.fromisoformat(argument), limits=Limits(batch=2), step=step)
    else:
        delete_user(user=User.objects.get(pk=argument), actor=None, now=timezone.now())


if __name__ == "__main__":
    main(*sys.argv[1:])
