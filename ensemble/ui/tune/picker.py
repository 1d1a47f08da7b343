"""Which sweep the screen is about: its header, and a picker of others."""

import contextlib
import time
from dataclasses import dataclass

import streamlit as st

from ensemble import sweeps
from ensemble.errors import RunError
from ensemble.sweeps import Sweep
from ensemble.ui.shared import address, run_panel, widget
from ensemble.ui.shared.tab import tab
from ensemble.ui.tune import loader, space
from ensemble.wording import escaping
from ensemble.wording.run_names import called, told_apart

LOOKS = {**run_panel.LOOKS, "searching": run_panel.LOOKS["training"]}
SECONDS_NEXT = 3.0


@dataclass(frozen=True)
class Choice:
    """The sweep to show, or why there is none: `problem` is "" when there are none yet."""

    sweep: Sweep | None
    problem: str = ""


def choose() -> Choice:
    """The one just launched, else the one that the address names, else the last shown or newest."""
    launched, when = tab.sweep_next
    if launched and time.monotonic() - when < SECONDS_NEXT:
        with contextlib.suppress(RunError):
            return remember(sweeps.find(launched))
    if wanted := address.SWEEP.read():
        try:
            return remember(sweeps.find(wanted))
        except RunError as error:
            return Choice(None, str(error))
    if last := tab.sweep_shown:
        try:
            return remember(sweeps.find(last))
        except RunError:  # deleted meanwhile, in another tab
            del tab.sweep_shown
    newest = loader.all_sweeps()[:1]
    return remember(newest[0]) if newest else Choice(None)


def remember(sweep: Sweep) -> Choice:
    """Put `sweep` into the address and into this tab's memory."""
    tab.sweep_shown = sweep.id
    address.SWEEP.put(sweep.id)
    return Choice(sweep)


def show_next(sweep: Sweep) -> None:
    """Have the next runs of the page show `sweep`: see `ui.parallel.picker.show_next`."""
    tab.sweep_next = sweep.id, time.monotonic()
    address.KEEP.put(None)


def forget() -> None:
    """Take it out of the address, so that the newest is shown."""
    address.SWEEP.put(None)
    address.KEEP.put(None)
    del tab.sweep_shown
    del tab.sweep_next


def show_problem(problem: str) -> None:
    """What is wrong with the address, and the way on."""
    st.warning(escaping.markdown(problem), icon=":material/link_off:")
    label = "Show the newest sweep" if loader.all_sweeps() else "Set up a first sweep"
    st.button(label, on_click=forget, type="primary", key="tune_way_on")


def header(sweep: Sweep) -> None:
    """Its name, state and settings, and a picker for another."""
    color, icon = LOOKS[state := loader.shown_state(sweep)]
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.subheader(escaping.markdown(called(sweep)), anchor=False, width="content")
        st.badge(state, icon=icon, color=color)
        st.space("stretch")
        picker(sweep)
    others = space.others(sweep.config.base, sweep.config.axes)
    said = f"{sweep.config.space} · {sweep.config.sampler} · all else: {others} · {sweep.id}"
    st.caption(escaping.markdown(said))


def picker(sweep: Sweep) -> None:
    """A box with all sweeps; choosing one changes the address.

    Each sweep has a box of its own: the browser may still send what the box of the one before
    showed, and that must not count as a choice.
    """
    every = {one.id: one for one in loader.all_sweeps()} | {sweep.id: sweep}
    names = {one.id: told_apart(one) for one in every.values()}
    widget.put(key := f"sweep_picker_{sweep.id}", sweep.id)
    st.selectbox(
        "Sweep", list(names), format_func=names.__getitem__, key=key, width=320,
        label_visibility="collapsed", on_change=picked, args=(key,), help="Show another sweep",
    )  # fmt: skip


def picked(key: str) -> None:
    """Callback of the picker: the address follows; one deleted meanwhile is not followed."""
    del tab.sweep_next
    with contextlib.suppress(RunError):
        remember(sweeps.find(widget.value(key)))
        address.KEEP.put(None)
