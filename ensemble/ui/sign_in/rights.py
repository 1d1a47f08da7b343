"""What the person whose tab it is may do: a control for more is disabled, and says why.

That is a courtesy: whoever presses it all the same is refused where the thing is done.
"""

from pathlib import Path
from typing import TypedDict

from ensemble.access import Action, owners, permissions
from ensemble.ui.sign_in import visitors


class Given(TypedDict):
    """Arguments of a control: whether it can be used, and what stands behind its "?"."""

    disabled: bool
    help: str | None


def why_not(action: Action, folder: Path | None = None) -> str:
    """Why this person may not do this, in a sentence; "" where they may.

    Args:
      action: what.
      folder: of what it is done to; None where that has no owner.
    """
    if not visitors.is_shared():
        return ""
    return permissions.why_not(action, None if folder is None else owners.owner_of(folder))


def given(
    action: Action, folder: Path | None = None, *, disabled: bool = False, help: str | None = None
) -> Given:
    """The arguments of a control that does this.

    Args:
      action: what it does.
      folder: as of `why_not`.
      disabled: whether it cannot be used just now, whoever wants to.
      help: what it says to who may.
    """
    why = why_not(action, folder)
    return {"disabled": disabled or bool(why), "help": why or help}
