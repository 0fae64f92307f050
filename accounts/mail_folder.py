"""Writes mail as plain text files into a folder, for a deployment without a mail server; must be used by no other.

Django's own file backend writes mail as it travels, where a long link is broken into lines that cannot be copied.
"""

import os
import secrets
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from django.core.mail import EmailMessage
from django.core.mail.backends.base import BaseEmailBackend
from django.utils import timezone


class FolderBackend(BaseEmailBackend):
    """One 0600 file for each mail, since it may hold a link that lets somebody in; the newest name sorts last."""

    def __init__(self, *, file_path: Path | str, **options: Any) -> None:
        super().__init__(**options)
        self._folder = Path(file_path)

    def send_messages(self, email_messages: Sequence[EmailMessage]) -> int:
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        for message in email_messages:
            path = self._folder / f"{timezone.now():%Y%m%d-%H%M%S-%f}-{secrets.token_hex(2)}.txt"
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                file.write(f"To: {', '.join(message.to)}\nSubject: {message.subject}\n\n{message.body}")
        return len(email_messages)
