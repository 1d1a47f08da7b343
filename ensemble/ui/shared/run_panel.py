"""Which run a page is about, and the header that says so: the same on every page."""

import contextlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import streamlit as st

from ensemble import runs
from ensemble.errors import RunError
from ensemble.ui.frame import one_file, plain_words
from ensemble.ui.shared import address, loaders, settings, widget
from ensemble.ui.shared.tab import tab
from ensemble.wording import escaping
from ensemble.wording.provenance import bibtex_of, citation_of, command_of
from ensemble.wording.run_names import called, came_from, told_apart
from ensemble.wording.runs import varied
from ensemble.wording.verdicts import chance

# How each state looks: colour and icon of its badge.
Color = Literal["gray", "blue", "green", "orange", "red"]
LOOKS: dict[str, tuple[Color, str]] = {
    "queued": ("gray", ":material/hourglass_empty:"),
    "starting": ("gray", ":material/hourglass_top:"),
    "training": ("blue", ":material/play_arrow:"),
    "finished": ("green", ":material/check:"),
    "finished at chance level": ("orange", ":material/casino:"),
    "imported": ("gray", ":material/upload_file:"),
    "imported at chance level": ("orange", ":material/casino:"),
    "stopped": ("orange", ":material/stop:"),
    "diverged": ("red", ":material/trending_up:"),
    "failed": ("red", ":material/error:"),
}


@dataclass(frozen=True)
class Choice:
    """The run to show, or why there is none: `problem` is "" when there are simply no runs."""

    run: runs.Run | None
    problem: str = ""


def choose() -> Choice:
    """The run that the address names, else the one shown last in this tab, else the newest.

    The address is what a refresh, a second tab and a link share, so what was chosen is
    written there.
    """
    if wanted := address.RUN.read():
        try:
            return remember(runs.find(wanted))
        except RunError as error:
            return Choice(None, str(error))
    if last := tab.run_shown:
        try:
            return remember(runs.find(last))
        except RunError:  # deleted meanwhile, on another page or in another tab
            del tab.run_shown
    for listed in loaders.all_runs():
        try:
            return remember(runs.find(listed.id))
        except RunError:  # deleted elsewhere within the two seconds that the list is kept for
            continue
    return Choice(None)


def about_a_run(
    draw: Callable[[runs.Run], None], without: Callable[[], None], compact: bool = False
) -> None:
    """A screen about one run: its header and `draw`, or what is wrong, or `without` any run.

    Args:
      draw: draws the screen below the header.
      without: draws it where there are no runs.
      compact: whether the header is to be one line that stays while the page scrolls.
    """
    choice = choose()
    if choice.problem:
        show_problem(choice)
    elif choice.run:
        (one_line if compact else header)(choice.run)
        if said := varied.counted(choice.run):
            st.caption(escaping.markdown(said))
        draw(choice.run)
    else:
        without()


def remember(run: runs.Run) -> Choice:
    """Put `run` into the address and into this tab's memory."""
    tab.run_shown = run.id
    address.RUN.put(run.id)
    return Choice(run)


def forget() -> None:
    """Take the run out of the address, so that the newest is shown."""
    address.RUN.put(None)
    del tab.run_shown


def show_problem(choice: Choice) -> None:
    """What is wrong with the address, in one sentence, and the way on."""
    st.warning(escaping.markdown(choice.problem), icon=":material/link_off:")
    if newest := loaders.all_runs()[:1]:
        name = escaping.markdown(called(newest[0]))
        st.button(f"Show the newest run, {name}", on_click=forget, type="primary")
    else:
        st.button("Start with a first run", on_click=forget, type="primary")


def header(run: runs.Run) -> None:
    """The run's name, state, dataset and settings, and a picker for another."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        name_and_state(run, loaders.shown_state(run))
        st.space("stretch")
        picker(run)
    said = " · ".join(filter(None, (small_print(run), run.id, came_from(run))))
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.caption(escaping.markdown(said), width="stretch")
        one_file.button([run], "run_one_file")


def small_print(run: runs.Run) -> str:
    """The settings that its name does not say already."""
    if run.name == run.id:
        data = f"{run.data.title} · " if run.trained is None else ""
        return f"{data}{settings.small_print(run.config)}"
    return f"{run.data.title} · {settings.summary(run.config)}"


def one_line(run: runs.Run) -> None:
    """As `header`, in one line; what has no room in it stands in full behind its "?"."""
    title = run.data.title
    said = escaping.markdown(f"{title} · {settings.summary(run.config)}")
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="run_line"):
        name_and_state(run, loaders.shown_state(run))
        which = " · ".join(filter(None, (run.id, came_from(run))))
        full = f"**{escaping.markdown(called(run))}**  \n{said}  \n{escaping.markdown(which)}"
        st.caption(said, width="content", help=full)
        st.space("stretch")
        one_file.button([run], "run_one_file")
        plain_words.control()
        picker(run)


def cite_or_repeat(run: runs.Run) -> None:
    """A fold with the command that makes the run again, and with what to cite it by."""
    with st.expander("Cite or repeat", icon=":material/format_quote:", key="cite_or_repeat"):
        if command := command_of(run):
            st.caption("The command that makes this run again")
            st.code(command, language="bash", wrap_lines=True)
        else:
            st.caption("It was made of what was trained elsewhere: no command makes it again.")
        st.caption("A line to cite it by, and the same for BibTeX")
        st.code(citation_of(run), language=None, wrap_lines=True)
        st.code(bibtex_of(run), language=None, wrap_lines=True)


def name_and_state(run: runs.Run, state: str) -> None:
    """The run's name, and its state as a badge; another where it was not made here."""
    state = chance.state(run, state)
    color, icon = LOOKS[state]
    st.subheader(escaping.markdown(called(run)), anchor=False, width="content")
    st.badge(state, icon=icon, color=color)
    if run.origin:
        st.badge("from a report", icon=":material/upload_file:", color="gray")


def picker(run: runs.Run) -> None:
    """A box to look for another run in; choosing one changes the address.

    Each run has a box of its own: the browser may still send what the box of the one before
    showed, and that must not count as a choice.
    """
    names = {one.id: told_apart(one) for one in (*loaders.all_runs(), run)}
    widget.put(key := f"run_picker_{run.id}", run.id)
    st.selectbox(
        "Run", list(names), format_func=names.__getitem__, key=key, width=320,
        label_visibility="collapsed", on_change=picked, args=(key,), help="Show another run",
    )  # fmt: skip


def picked(key: str) -> None:
    """Callback of the picker: the address follows; one deleted meanwhile is not followed."""
    with contextlib.suppress(RunError):
        remember(runs.find(widget.value(key)))
