"""What the screen Inspect measures, once for each version of a run's predictions.

Shared by every tab and bounded. What comes back is shared too: treat it as read-only.
"""

from collections.abc import Callable
from typing import Any, TypeVar

import streamlit as st

from ensemble.analysis.predictions import Predictions
from ensemble.ui.inspect_shown import Inspected

Result = TypeVar("Result")


def measured(shown: Inspected, measure: Callable[..., Result], *also: Any) -> Result:
    """What `measure` makes of the predictions that are shown, computed once.

    Args:
      shown: the run's epoch.
      measure: a function of the predictions and `also`, in a module: it goes by its name.
      also: its further arguments, small and hashable; they are part of what is remembered.
    """
    name = f"{measure.__module__}.{measure.__qualname__}"
    place = shown.run.id, shown.epoch, shown.version
    result: Result = _measured(name, place, also, measure, shown.made)
    return result


# The largest, figures of every example or of every committee, take half a megabyte.
@st.cache_resource(max_entries=96, show_spinner=False)
def _measured(
    name: str, place: tuple[Any, ...], also: tuple[Any, ...],
    _measure: Callable[..., Any], _made: Predictions,
) -> Any:  # fmt: skip
    return _measure(_made, *also)
