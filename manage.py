#!/usr/bin/env python
"""Runs one management command, with the embedded PostgreSQL up for as long as the command needs it."""

import os
import sys

from lifecycle.local import database_for


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memoryproject.settings")
    with database_for(sys.argv):
        from django.core.management import execute_from_command_line

        execute_from_command_line(sys.argv)


if __name__ == "__main__":
    main()
