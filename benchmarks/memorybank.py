"""Converts MemoryBank's dialogues (memory_bank_en.json) into a transcript file for `manage.py replay`.

`uv run python -m benchmarks.memorybank memory_bank_en.json Henry > henry.jsonl` writes one session per day; the day's
exchanges start at 10:00 UTC and are five minutes apart, because the data has dates only.
"""

import argparse
import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any


def messages(user: dict[str, Any]) -> Iterator[dict[str, str]]:
    """Yield the replay format's lines of one user of the data."""
    for day, exchanges in user["history"].items():
        at = datetime.fromisoformat(day.strip()).replace(hour=10, tzinfo=UTC)
        for exchange in exchanges:
            for role, text, offset in (("user", exchange["query"], 0), ("assistant", exchange["response"], 30)):
                instant = (at + timedelta(seconds=offset)).isoformat()
                yield {"session": day.strip(), "role": role, "content": text, "at": instant}
            at += timedelta(minutes=5)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("user")
    options = parser.parse_args()
    users = {name.strip(): user for name, user in json.loads(options.file.read_text()).items()}
    for message in messages(users[options.user]):
        print(json.dumps(message, ensure_ascii=False))


if __name__ == "__main__":
    main()
