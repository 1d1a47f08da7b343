"""A widget from a field of settings: its range, choices and help say which widget, and which not.

Runs, regressions, sweeps and what a task asks a cluster for are dataclasses whose fields are made
by `ensemble.settings.declare_setting`; every widget that sets one of them is made here.
"""

import dataclasses
from collections.abc import Sequence
from typing import Any

import streamlit as st

from ensemble.settings import list_setting_choices
from ensemble.ui.shared import widget_state

_MAX_SLIDER_VALUE = 100  # over a longer range a slider moves by more than one value at a time
_FRACTION_STEP = 0.5  # of a slider over numbers with a fraction


def draw_field_control(
    field: "dataclasses.Field[Any]",
    key: str,
    label: str,
    *,
    start: Any = None,
    choices: Sequence[Any] = (),
    buttons: bool = False,
    steps: Sequence[float] = (),
    typed: bool = False,
    step: float | None = None,
    **more: Any,
) -> Any:
    """Draw the widget that fits a field's type and range; what is set stays for other visits.

    Args:
      field: a field that `ensemble.settings.declare_setting` made.
      start: what it holds at first, if not the field's default.
      steps: the values on a slider that does not go evenly over the range; one that the widget
        holds and that is not among them is added.
      **more: goes to the widget.

    Returns:
      The value that the widget holds.
    """
    now = widget_state.initialize_widget(key, field.default if start is None else start)
    about = {"key": key, "help": field.metadata["help"], "persist_state": "session", **more}
    if listed := choices or list_setting_choices(field):
        if buttons:
            return widget_state.draw_widget(st.segmented_control, label, listed, required=True, **about)
        return widget_state.draw_widget(st.selectbox, label, listed, **about)
    if isinstance(field.default, bool):
        return widget_state.draw_widget(st.toggle, label, **about)
    if steps:
        return widget_state.draw_widget(st.select_slider, label, sorted({*steps, now}), **about)
    if field.metadata["form"]:
        return widget_state.draw_widget(st.text_input, label, **about)
    kind: type[int] | type[float] = int if isinstance(field.default, int) else float
    low, high = kind(field.metadata["low"]), kind(field.metadata["high"])
    width = kind(step or (1 if kind is int else _FRACTION_STEP))
    if typed or high > _MAX_SLIDER_VALUE:
        return widget_state.draw_widget(st.number_input, label, low, high, step=width, **about)
    return widget_state.draw_widget(st.slider, label, low, high, step=width, **about)
