"""What the person whose tab it is may do: a control for more is disabled, and says why.

That is a courtesy: whoever presses it all the same is refused where the thing is done.
"""

from pathlib import Path
from typing import TypedDict

from ensemble.access import Action, owners, permissions
from ensemble.ui.sign_in import visitors


class _ControlArguments(TypedDict):
    """Arguments of a control: whether it can be used, and what stands behind its "?"."""

    disabled: bool
    help: str | None


def describe_missing_right(action: Action, folder: Path | None = None) -> str:
    """Why this person may not do this, in a sentence; "" where they may.

    Args:
      folder: of what it is done to; None where that has no owner.
    """
    if not visitors.is_server_shared():
        return ""
    return permissions.describe_denied_action(action, None if folder is None else owners.find_owner(folder))


def build_control_arguments(
    action: Action, folder: Path | None = None, *, disabled: bool = False, help: str | None = None
) -> _ControlArguments:
    """The arguments of a control that does this.

    Args:
      folder: as of `describe_missing_right`.
    """
    why = describe_missing_right(action, folder)
    return {"disabled": disabled or bool(why), "help": why or help}
