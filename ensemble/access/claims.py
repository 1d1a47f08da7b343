"""From what a provider says of a visitor to who they are here, or why they are nobody."""

import math
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ensemble.access import allow_list
from ensemble.access.people import NOBODY, Person, Role
from ensemble.errors import ConfigError

HOURS, USUAL_HOURS = "ENSEMBLE_SIGN_IN_HOURS", 12.0
SKEW_SECONDS = 120.0  # that a provider's clock may be ahead of ours
NOT_LISTED = (
    "{address} is not among those who may come in here: ask whoever runs this server, or sign in "
    "with another address."
)
UNVERIFIED = (
    "Your provider does not say that {address} is verified: verify it there, then sign in again."
)
NO_ADDRESS = "Your provider did not say your email address: allow it to, then sign in again."
EXPIRED = "You have been signed in for long enough: sign in again."


@dataclass(frozen=True)
class Visit:
    """A visitor: who it is, and where it is nobody, why not; "" where they never signed in."""

    person: Person = NOBODY
    why: str = ""

    @property
    def admitted(self) -> bool:
        """Whether they may see anything at all."""
        return self.person.role > Role.NOBODY


def of_claims(claims: Mapping[str, Any], now: float) -> Visit:
    """Who signed in with these claims of an ID token, whose signature has been checked.

    Args:
      claims: `email`, `email_verified`, `iat`; none of a visitor who has not signed in.
      now: seconds since 1970.
    """
    if not claims:
        return Visit()
    address = claims.get("email")
    if not isinstance(address, str) or not allow_list.normalized(address):
        return Visit(why=NO_ADDRESS)
    if claims.get("email_verified") is not True:
        return Visit(why=UNVERIFIED.format(address=address))
    issued = claims.get("iat")
    if isinstance(issued, bool) or not isinstance(issued, int | float):
        return Visit(why=EXPIRED)
    if not -SKEW_SECONDS <= now - issued < longest():
        return Visit(why=EXPIRED)
    return of_address(address)


def of_address(address: str) -> Visit:
    """Who has this address, on the list as it is now; a list that is amiss names nobody."""
    try:
        role = allow_list.read().role_of(address)
    except ConfigError as error:
        return Visit(why=str(error))
    if role is Role.NOBODY:
        return Visit(why=NOT_LISTED.format(address=address[:254]))
    return Visit(Person(allow_list.normalized(address), role))


def longest() -> float:
    """For how many seconds somebody stays signed in.

    Raises:
      ConfigError: `ENSEMBLE_SIGN_IN_HOURS` is no positive number.
    """
    said = os.environ.get(HOURS) or str(USUAL_HOURS)
    try:
        hours = float(said)
    except ValueError:
        hours = math.nan
    if not 0 < hours <= 30 * 24:
        raise ConfigError(f"{HOURS} is {said:.40}: give hours above 0, at most 720.")
    return 3600 * hours
