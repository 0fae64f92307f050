"""A new password by e-mail (I07): asks are counted, and nothing tells whether an address has an account."""

from collections.abc import Callable
from datetime import datetime
from typing import Final

from axes.utils import reset as lift_pause
from django.contrib.auth.tokens import default_token_generator
from django.db import transaction
from django.utils.encoding import force_bytes
from django.utils.http import urlsafe_base64_encode

from accounts.limits import allowed
from accounts.mail import compose, send_behind
from accounts.models import User
from accounts.services import set_password

# Asks within an hour. Each counts, whether the address has an account or not.
PER_ADDRESS_AND_NETWORK: Final = 5
PER_ADDRESS: Final = 10  # from anywhere: nobody's mailbox is flooded
PER_NETWORK: Final = 50  # addresses are not tried one after the other
PER_MEMBER: Final = 10  # wrong guesses of the old password on the page that changes it

type Link = Callable[[str, str], str]  # user id and token, both for an address -> the absolute address of the page


class TooManyAsks(Exception):
    """Too many new passwords were asked for within the hour."""


def ask_for_reset(*, email: str, network: str, link: Link, now: datetime) -> None:
    """Mail a link to the account with this address, if there is one. Raises TooManyAsks, for absent addresses too."""
    address = email.strip().casefold()
    limits = {
        f"reset {address} {network}": PER_ADDRESS_AND_NETWORK,
        f"reset {address}": PER_ADDRESS,
        f"reset from {network}": PER_NETWORK,
    }
    if not allowed(limits, now=now):
        raise TooManyAsks
    found = User.objects.with_email(email).live().first()
    user = found or User(email=email)  # the same work for an absent address, so that timing tells nothing
    uid = urlsafe_base64_encode(force_bytes(user.pk))
    page = link(uid, default_token_generator.make_token(user))
    mail = compose("password_reset", to=user.email, language=user.language, address=page)
    if found is not None and found.has_usable_password():
        send_behind(mail)


@transaction.atomic
def reset_password(*, user: User, password: str) -> None:
    """Set the password of the person who opened her mailbox, and lift the pause of her sign-in."""
    row = set_password(user=user, password=password, reset=True)
    lift_pause(username=row.email.lower())


def may_guess(user: User, *, now: datetime) -> bool:
    """Count a try at the old password of a signed-in member; whoever took over her session cannot go on guessing."""
    return allowed({f"password of {user.pk}": PER_MEMBER}, now=now)
