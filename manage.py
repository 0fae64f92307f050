#!/usr/bin/env python
"""Runs one management command, with the embedded PostgreSQL up for as long as the command needs it."""

import os
import sys

from lifecycle.command_line import sentences, take_data_dir
from lifecycle.local import database_for
from memoryproject import environment


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memoryproject.settings")
    with sentences(environment.BadEnvironment):
        arguments = take_data_dir(sys.argv)
        with database_for(arguments, production=environment.mode() == "production"):
            from django.core.management import execute_from_command_line

            execute_from_command_line(arguments)


if __name__ == "__main__":
    main()
