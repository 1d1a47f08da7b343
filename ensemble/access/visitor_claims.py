"""From what a provider says of a visitor to who they are here, or why they are nobody."""

import math
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ensemble.access import allow_list
from ensemble.access.people import NOBODY, Person, Role
from ensemble.errors import ConfigError

_HOURS_VARIABLE, _DEFAULT_SIGN_IN_HOURS = "ENSEMBLE_SIGN_IN_HOURS", 12.0
MAX_CLOCK_SKEW_S = 120.0  # that a provider's clock may be ahead of ours
_NOT_LISTED = "{address} is not allowed to sign in here: ask whoever runs this server, or sign in with another address."
_UNVERIFIED = "Your provider does not confirm {address}: verify the address there, then sign in again."
_NO_ADDRESS = "Your provider did not send your email address: allow it to, then sign in again."
_EXPIRED = "Your sign-in has expired: sign in again."


@dataclass(frozen=True)
class Visit:
    """A visitor: who it is, and where it is nobody, why not; "" if they never signed in."""

    person: Person = NOBODY
    refusal: str = ""

    @property
    def is_admitted(self) -> bool:
        """Whether they may see anything at all."""
        return self.person.role > Role.NOBODY


def identify_visitor(claims: Mapping[str, Any], now: float) -> Visit:
    """Who signed in with these claims of an ID token, whose signature has been checked.

    Args:
      claims: `email`, `email_verified`, `iat`; none of a visitor who has not signed in.
      now: seconds since 1970.
    """
    if not claims:
        return Visit()
    address = claims.get("email")
    if not isinstance(address, str) or not allow_list.normalize_address(address):
        return Visit(refusal=_NO_ADDRESS)
    if claims.get("email_verified") is not True:
        return Visit(refusal=_UNVERIFIED.format(address=address))
    issued = claims.get("iat")
    if isinstance(issued, bool) or not isinstance(issued, int | float):
        return Visit(refusal=_EXPIRED)
    if not -MAX_CLOCK_SKEW_S <= now - issued < read_sign_in_seconds():
        return Visit(refusal=_EXPIRED)
    return identify_address(address)


def identify_address(address: str) -> Visit:
    """Who has this address, on the list as it is now; a list that is amiss names nobody."""
    try:
        role = allow_list.load_allow_list().role_of(address)
    except ConfigError as error:
        return Visit(refusal=str(error))
    if role is Role.NOBODY:
        return Visit(refusal=_NOT_LISTED.format(address=address[:254]))
    return Visit(Person(allow_list.normalize_address(address), role))


def read_sign_in_seconds() -> float:
    """For how many seconds somebody stays signed in.

    Raises:
      ConfigError: `ENSEMBLE_SIGN_IN_HOURS` is no positive number.
    """
    text = os.environ.get(_HOURS_VARIABLE) or str(_DEFAULT_SIGN_IN_HOURS)
    try:
        hours = float(text)
    except ValueError:
        hours = math.nan
    if not 0 < hours <= 30 * 24:
        raise ConfigError(f"{_HOURS_VARIABLE} is {text:.40}: give hours above 0, at most 720.")
    return 3600 * hours
