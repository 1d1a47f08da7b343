"""Which regression the screen is about: its header, and a picker of earlier ones."""

import contextlib
import time
from dataclasses import dataclass

import streamlit as st

from ensemble import regression
from ensemble.errors import RunError
from ensemble.ui.parallel import loader, settings
from ensemble.ui.shared import address, run_panel, widget
from ensemble.ui.shared.tab import tab
from ensemble.wording import escaping
from ensemble.wording.run_names import called, told_apart

LOOKS = {**run_panel.LOOKS, "solving": run_panel.LOOKS["training"]}
SECONDS_NEXT = 3.0


@dataclass(frozen=True)
class Choice:
    """The regression to show, or why there is none: `problem` is "" when there are none yet."""

    solve: regression.Solve | None
    problem: str = ""


def choose() -> Choice:
    """The one just launched, else the one that the address names, else the last shown or newest."""
    launched, when = tab.solve_next
    if launched and time.monotonic() - when < SECONDS_NEXT:
        with contextlib.suppress(RunError):
            return remember(regression.find_solve(launched))
    if wanted := address.SOLVE.read():
        try:
            return remember(regression.find_solve(wanted))
        except RunError as error:
            return Choice(None, str(error))
    if last := tab.solve_shown:
        try:
            return remember(regression.find_solve(last))
        except RunError:  # deleted meanwhile, in another tab
            del tab.solve_shown
    newest = loader.all_solves()[:1]
    return remember(newest[0]) if newest else Choice(None)


def remember(solve: regression.Solve) -> Choice:
    """Put `solve` into the address and into this tab's memory."""
    tab.solve_shown = solve.id
    address.SOLVE.put(solve.id)
    return Choice(solve)


def show_next(solve: regression.Solve) -> None:
    """Have the next runs of the page show `solve`.

    What a part of the page that runs alone writes into the address can be lost on the way to
    the browser, which then sends the former address with whatever it asks next. So it is
    remembered for as long as such a request may be on its way.
    """
    tab.solve_next = solve.id, time.monotonic()


def forget() -> None:
    """Take it out of the address, so that the newest is shown."""
    address.SOLVE.put(None)
    del tab.solve_shown
    del tab.solve_next


def show_problem(problem: str) -> None:
    """What is wrong with the address, and the way on."""
    st.warning(escaping.markdown(problem), icon=":material/link_off:")
    there = loader.all_solves()
    label = "Show the newest regression" if there else "Start with a first regression"
    st.button(label, on_click=forget, type="primary", key="solve_way_on")


def header(solve: regression.Solve) -> None:
    """Its name, state and settings, and a picker for another."""
    color, icon = LOOKS[state := loader.shown_state(solve)]
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.subheader(escaping.markdown(called(solve)), anchor=False, width="content")
        st.badge(state, icon=icon, color=color)
        st.space("stretch")
        picker(solve)
    st.caption(escaping.markdown(f"{settings.summary(solve.config)} · {solve.id}"))


def picker(solve: regression.Solve) -> None:
    """A box with the earlier ones; choosing one changes the address.

    Each regression has a box of its own: the browser may still send what the box of the one
    before showed, and that must not count as a choice.
    """
    every = {one.id: one for one in loader.all_solves()} | {solve.id: solve}
    names = {one.id: told_apart(one) for one in every.values()}
    widget.put(key := f"solve_picker_{solve.id}", solve.id)
    st.selectbox(
        "Regression", list(names), format_func=names.__getitem__, key=key, width=320,
        label_visibility="collapsed", on_change=picked, args=(key,),
        help="Show another regression",
    )  # fmt: skip


def picked(key: str) -> None:
    """Callback of the picker: the address follows; one deleted meanwhile is not followed."""
    del tab.solve_next
    with contextlib.suppress(RunError):
        remember(regression.find_solve(widget.value(key)))
