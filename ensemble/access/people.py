"""Who there is: an address, a role, and who is asking now."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum


class Role(IntEnum):
    """What somebody may do; a higher role may do all that a lower one may."""

    NOBODY = 0
    VIEWER = 1
    MEMBER = 2
    ADMIN = 3


@dataclass(frozen=True)
class Person:
    """Somebody who asks for something.

    Attributes:
      name: an email address, in small letters; "" on a machine of one's own.
      role: what they may do.
    """

    name: str
    role: Role


LOCAL = Person("", Role.ADMIN)  # the one who started this process, on the command line too
NOBODY = Person("", Role.NOBODY)  # a visitor who has not signed in

_person_source: Callable[[], Person] | None = None


def set_person_source(who: Callable[[], Person] | None) -> None:
    """Have this process ask `who` who is asking, each time again; None for `LOCAL` alone."""
    global _person_source
    _person_source = who


def current_person() -> Person:
    """Who is asking now: `LOCAL` but on a shared server."""
    return LOCAL if _person_source is None else _person_source()
