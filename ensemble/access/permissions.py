"""What takes which role, and what of another's nobody but an admin may touch."""

from ensemble.access import audit_log
from ensemble.access.actions import REFUSAL_EVENT, Action
from ensemble.access.people import Person, Role, current_person
from ensemble.errors import AccessError

_VIEWERS_MAY = {Action.LOOK, Action.CLASSIFY}
_OWNERS_MAY = {Action.RESUME, Action.STOP, Action.CHANGE, Action.DELETE}  # with what is their own


def is_permitted(person: Person, action: Action, owner: str | None = None) -> bool:
    """Whether somebody may do this.

    Args:
      person: who.
      action: what.
      owner: whose it is that it is done to; "" of nobody who is known, whose it is then only an
        admin may touch; None if it is done to nothing that has an owner.
    """
    if action in _VIEWERS_MAY:
        return person.role >= Role.VIEWER
    if action in _OWNERS_MAY and owner is not None and owner != person.name:
        return person.role >= Role.ADMIN
    return person.role >= Role.MEMBER


def check_permission(action: Action, owner: str | None = None) -> None:
    """Refuse what whoever asks now may not do, and write down that they asked.

    Raises:
      AccessError: they may not; it says what it takes.
    """
    if why := describe_denied_action(action, owner):
        audit_log.write_audit_entry(REFUSAL_EVENT, action.value)
        raise AccessError(why)


def describe_denied_action(action: Action, owner: str | None = None) -> str:
    """Why whoever asks now may not do this, in a sentence; "" if they may."""
    person = current_person()
    if is_permitted(person, action, owner):
        return ""
    if person.role is Role.NOBODY:
        return "You are not signed in: sign in, then try again."
    if person.role >= Role.MEMBER:
        if not owner:
            return f"You may not {action.value} this: its owner is unknown. Ask an admin."
        return f"You may not {action.value} this: it belongs to {owner}. Ask them, or an admin."
    return f"You may look and classify here, but not {action.value}: ask an admin of this server."
