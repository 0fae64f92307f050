"""Stops and starts the PostgreSQL of a data folder in the middle of a run and prints what became of it, as JSON.

It asserts nothing. The server that it restarts is its own, so no other test can be in the way.
"""

import json
import sys
import threading
import time
from pathlib import Path
from typing import Any


def main(folder: Path) -> None:
    import django

    django.setup()
    from django.core.management import call_command
    from django.db import connection
    from django.utils import timezone

    from extraction import services
    from lifecycle import postgres
    from tests.extraction.conftest import ANSWER, World
    from tests.stub_server import Script, serving

    call_command("migrate", verbosity=0)
    with serving(Script()) as model:
        world = World("memoryproject", model, folder / "fuse", folder / "log")
        world.answer({"text": ANSWER, "delay": 1.0}, ANSWER)
        member = world.member()
        run = member.say()
        refused: list[Any] = []

        def work() -> None:
            try:
                services.extract(run.pk, clock=timezone.now)
            except Exception as error:
                refused.append(type(error).__name__)
            finally:
                connection.close()

        worker = threading.Thread(target=work)
        worker.start()
        world.called(0)
        postgres.stop(folder)  # while the model thinks
        worker.join()
        connection.close()
        with postgres.lease(folder):
            time.sleep(2.5)  # the lease of the run ends
            services.extract(run.pk, clock=timezone.now)
            run.refresh_from_db()
            became = {"state": run.state, "facts": len(member.facts()), "refused": bool(refused)}
            sys.stdout.write(json.dumps(became) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
