"""Where the next run is trained, and with what each of its tasks there."""

from ensemble.ui.devices import where
from ensemble.ui.shared import settings, widget

KEY = "where"


def control() -> None:
    """The choice, and what is asked of a cluster; nothing where there is none to choose."""
    choice = where.control(
        KEY,
        "On a cluster each group is a task; they are followed from here, and take no turn of "
        "this machine.",
    )
    if choice != where.HERE:
        where.show_what_is_free(choice)
        settings.control("groups")
        where.requests(choice)


def choice() -> str:
    """What is chosen."""
    chosen: str = widget.value(KEY, where.HERE)
    return chosen
