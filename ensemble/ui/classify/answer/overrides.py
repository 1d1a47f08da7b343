"""What a person has overruled in how a picture is prepared: for this tab, picture by picture."""

from dataclasses import replace
from typing import Any

from ensemble.ui.classify.state import PreparationOverrides
from ensemble.ui.shared.tab import tab

MAX_PICTURES = 300
NO_OVERRIDES = PreparationOverrides()


def find_overrides(ident: str) -> PreparationOverrides:
    return tab.overrules.get(ident, NO_OVERRIDES)


def update_overrides(ident: str, **changes: Any) -> None:
    """Callback: overrule some of it."""
    every = dict(tab.overrules)
    every[ident] = replace(every.pop(ident, NO_OVERRIDES), **changes)
    # The latest stand last.
    tab.overrules = dict(list(every.items())[-MAX_PICTURES:])


def reset_overrides(ident: str) -> None:
    """Callback: everything as the program would have it."""
    every = dict(tab.overrules)
    every.pop(ident, None)
    tab.overrules = every
