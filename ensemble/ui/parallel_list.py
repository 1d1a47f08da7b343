"""Which regression the screen is about: its header, a picker of earlier ones, and Delete."""

import contextlib
from dataclasses import dataclass

import streamlit as st

from ensemble import runs
from ensemble.errors import EnsembleError, RunError
from ensemble.ui import parallel_loader, parallel_settings, run_panel

LOOKS = {**run_panel.LOOKS, "solving": run_panel.LOOKS["training"]}
REMEMBERED = "solve_last_shown"
ASKED = "solve_delete_asked"
SAID = "solve_said"


@dataclass(frozen=True)
class Choice:
    """The regression to show, or why there is none: `problem` is "" when there are none yet."""

    solve: runs.Solve | None
    problem: str = ""


def choose() -> Choice:
    """The one that the address names, else the one shown last in this tab, else the newest."""
    if wanted := st.query_params.get("solve"):
        try:
            return remember(runs.find_solve(wanted))
        except RunError as error:
            return Choice(None, str(error))
    if last := st.session_state.get(REMEMBERED):
        try:
            return remember(runs.find_solve(last))
        except RunError:  # deleted meanwhile, in another tab
            del st.session_state[REMEMBERED]
    newest = parallel_loader.all_solves()[:1]
    return remember(newest[0]) if newest else Choice(None)


def remember(solve: runs.Solve) -> Choice:
    """Put `solve` into the address and into this tab's memory."""
    st.session_state[REMEMBERED] = solve.id
    if st.query_params.get("solve") != solve.id:
        st.query_params["solve"] = solve.id
    return Choice(solve)


def forget() -> None:
    """Take it out of the address, so that the newest is shown."""
    st.query_params.pop("solve", None)
    st.session_state.pop(REMEMBERED, None)


def show_problem(problem: str) -> None:
    """What is wrong with the address, and the way on."""
    st.warning(problem, icon=":material/link_off:")
    there = parallel_loader.all_solves()
    label = "Show the newest regression" if there else "Start with a first regression"
    st.button(label, on_click=forget, type="primary", key="solve_way_on")


def header(solve: runs.Solve) -> None:
    """Its name, state and settings, and a picker for another."""
    tell()
    color, icon = LOOKS[state := parallel_loader.shown_state(solve)]
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.subheader(run_panel.plain(solve.name), anchor=False, width="content")
        st.badge(state, icon=icon, color=color)
        st.space("stretch")
        picker(solve)
    st.caption(parallel_settings.summary(solve.config))


def picker(solve: runs.Solve) -> None:
    """A box with the earlier ones; choosing one changes the address.

    Each regression has a box of its own: the browser may still send what the box of the one
    before showed, and that must not count as a choice.
    """
    every = {one.id: one for one in parallel_loader.all_solves()} | {solve.id: solve}
    names = {one.id: titled(one) for one in every.values()}
    st.session_state[key := f"solve_picker_{solve.id}"] = solve.id
    st.selectbox(
        "Regression", list(names), format_func=names.__getitem__, key=key, width=320,
        label_visibility="collapsed", on_change=picked, args=(key,),
        help="Show another regression",
    )  # fmt: skip


def titled(solve: runs.Solve) -> str:
    """What it solves, and its id, which says when: never what changes while it goes on.

    The browser sends a choice back by its words; one in words of a moment ago is none.
    """
    return f"{parallel_settings.shape(solve.config)} · {solve.name}"


def picked(key: str) -> None:
    """Callback of the picker: the address follows; one deleted meanwhile is not followed."""
    with contextlib.suppress(RunError):
        remember(runs.find_solve(st.session_state[key]))


def actions(solve: runs.Solve) -> None:
    """What else can be done with it: its settings again, and Delete, which asks first."""
    if st.session_state.get(ASKED) == solve.id:
        sure(solve)
        return
    with st.container(horizontal=True, gap="small"):
        st.button(
            "Use these settings again", key="solve_reuse", icon=":material/replay:",
            on_click=parallel_settings.fill, args=(solve.config,),
            help="Copies these settings to the controls, ready to change and launch.",
        )  # fmt: skip
        st.button("Delete…", icon=":material/delete:", key="solve_delete", disabled=solve.active,
                  on_click=ask, args=(solve.id,),
                  help="Stop it first." if solve.active else None)  # fmt: skip


def sure(solve: runs.Solve) -> None:
    """The second question before deleting."""
    name = run_panel.plain(solve.name)
    st.warning(f"Delete {name} with its measurements? It cannot be brought back.",
               icon=":material/delete_forever:")  # fmt: skip
    with st.container(horizontal=True):
        st.button(f"Delete {name} for good", key="solve_delete_sure", type="primary",
                  on_click=delete, args=(solve.id,))  # fmt: skip
        st.button("Keep it", key="solve_keep", on_click=ask, args=(None,))


def ask(solve_id: str | None) -> None:
    """Callback: the first press on Delete, or Keep it."""
    st.session_state[ASKED] = solve_id


def delete(solve_id: str) -> None:
    """Callback: the second press."""
    ask(None)
    try:
        runs.delete_solve(solve_id)
    except EnsembleError as error:
        st.session_state[SAID] = str(error)
    except OSError as error:
        st.session_state[SAID] = f"Its files cannot be deleted ({error.strerror})."
    else:
        forget()
    parallel_loader.forget_solves()


def tell() -> None:
    """Why the last press could not be obeyed."""
    if said := st.session_state.pop(SAID, ""):
        st.error(said, icon=":material/error:")
