"""What a person has overruled in how a picture is prepared: for this tab, picture by picture."""

from dataclasses import replace
from typing import Any

from ensemble.ui.classify.state import Overrule
from ensemble.ui.shared.tab import tab

MOST = 300
NONE = Overrule()


def of(ident: str) -> Overrule:
    """What is overruled in the picture of that id."""
    return tab.overruled.get(ident, NONE)


def put(ident: str, **changes: Any) -> None:
    """Callback: overrule some of it."""
    every = dict(tab.overruled)
    every[ident] = replace(every.pop(ident, NONE), **changes)
    # The latest stand last.
    tab.overruled = dict(list(every.items())[-MOST:])


def reset(ident: str) -> None:
    """Callback: everything as the program would have it."""
    every = dict(tab.overruled)
    every.pop(ident, None)
    tab.overruled = every
