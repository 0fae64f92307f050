"""Composes and sends the few mails there are, each in its reader's language; must not log addresses or texts."""

import smtplib
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Final

import structlog
from django.conf import settings
from django.core.mail import EmailMessage
from django.db import transaction
from django.template.loader import render_to_string
from django.utils import translation

log = structlog.get_logger(__name__)

_FOLDER: Final = "accounts.mail_folder.FolderBackend"
_behind: Final = ThreadPoolExecutor(1, thread_name_prefix="mail")


class MailFailed(Exception):
    """The mail server did not take the mail."""


@dataclass(frozen=True, slots=True)
class Mail:
    """A mail that is ready to be sent; its representation holds none of it."""

    kind: str
    to: str
    subject: str
    body: str

    def __repr__(self) -> str:
        return f"Mail({self.kind})"


def compose(kind: str, *, to: str, language: str, **context: object) -> Mail:
    """Render `accounts/mail/KIND.txt`, whose first line is the subject."""
    with translation.override(language):
        subject, _, body = render_to_string(f"accounts/mail/{kind}.txt", context).strip().partition("\n")
    return Mail(kind, to, " ".join(subject.split()), f"{body.strip()}\n")


def send(mail: Mail) -> None:
    """Send a mail now. Raises MailFailed, which has been logged."""
    try:
        EmailMessage(mail.subject, mail.body, to=[mail.to]).send()
    except (OSError, smtplib.SMTPException, ValueError) as error:  # the last of an address that no mail can have
        log.warning("mail_failed", kind=mail.kind, error=type(error).__name__)
        raise MailFailed from None
    log.info("mail_sent", kind=mail.kind)


def send_behind(mail: Mail) -> None:
    """Send a mail without waiting for it, so that nothing can be told from the time; a failure is only logged."""
    _behind.submit(_send_quietly, mail)


def send_once_committed(mail: Mail) -> None:
    """Send a mail about what the open transaction does, if it is committed."""
    transaction.on_commit(partial(send_behind, mail))


def _send_quietly(mail: Mail) -> None:
    try:
        send(mail)
    except MailFailed:
        return


def wait_for_mail() -> None:
    """Return when all that was given to `send_behind` so far is sent; for tests and commands."""
    _behind.submit(int).result()  # one thread sends them in order


def mail_folder() -> str:
    """Return the folder into which mail is written instead of being sent, or "" (only a local deployment has one)."""
    mailer = settings.MAILERS["default"]
    return str(mailer["OPTIONS"]["file_path"]) if mailer["BACKEND"] == _FOLDER and not settings.PRODUCTION else ""
