"""What the screen Inspect measures and draws, once for each version of a run's predictions.

Shared by every tab and bounded. What comes back is shared too: treat it as read-only.
"""

import contextlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import streamlit as st

from ensemble.analysis.predictions import Predictions
from ensemble.figures.palette import Palette
from ensemble.ui.inspect.shown import Inspected
from ensemble.ui.shared import theme
from ensemble.wording.run_names import called

if TYPE_CHECKING:
    import plotly.graph_objects as go

Result = TypeVar("Result")
MANY = 50_000_000  # probabilities: with more a measure may take seconds


def measured(shown: Inspected, measure: Callable[..., Result], *also: Any) -> Result:
    """What `measure` makes of the predictions that are shown, computed once.

    Args:
      shown: the run's epoch.
      measure: a function of the predictions and `also`, in a module: it goes by its name.
      also: its further arguments, small and hashable; they are part of what is remembered.
    """
    name = f"{measure.__module__}.{measure.__qualname__}"
    place = shown.run.id, shown.epoch, shown.version
    size = shown.made.probabilities.size
    # It says so only where it takes more than a moment.
    wait = st.spinner(f"Reckoning with {size / 1e6:,.0f} million probabilities …")
    with wait if size > MANY else contextlib.nullcontext():
        result: Result = _measured(name, place, also, measure, shown.made)
    return result


# The largest, figures of every example or of every committee, take half a megabyte.
@st.cache_resource(max_entries=96, show_spinner=False)
def _measured(
    name: str, place: tuple[Any, ...], also: tuple[Any, ...],
    _measure: Callable[..., Any], _made: Predictions,
) -> Any:  # fmt: skip
    return _measure(_made, *also)


def pictured(shown: Inspected, make: "Callable[[Palette], go.Figure]", *by: Any) -> "go.Figure":
    """The picture that `make` draws of what is shown, drawn once for each look of the page.

    Plotly checks each word of a figure, which takes as long as the rest of the screen.

    Args:
      shown: the run's epoch.
      make: draws it in the page's colours.
      by: the picture's name and all else that it follows from, small and hashable.
    """
    place = shown.run.id, called(shown.run), shown.epoch, shown.version
    figure: go.Figure = _pictured(place, theme.palette(), by, make)
    return figure


# The largest, of a point for each of 1,500 images, takes some hundred kilobytes.
@st.cache_resource(max_entries=48, show_spinner=False)
def _pictured(
    place: tuple[Any, ...], palette: Palette, by: tuple[Any, ...], _make: Callable[[Palette], Any]
) -> Any:
    return _make(palette)
