"""Which run a page is about, and the header that says so: the same on every page."""

from collections.abc import Callable

import streamlit as st

from ensemble import runs
from ensemble.runs.store import RUNS
from ensemble.ui.frame import one_file, plain_words
from ensemble.ui.jobs import picker
from ensemble.ui.jobs.screen import JobScreen
from ensemble.ui.shared import address, loaders, settings
from ensemble.wording import escaping
from ensemble.wording.provenance import bibtex_of, citation_of, command_of
from ensemble.wording.run_names import called, came_from
from ensemble.wording.runs import varied
from ensemble.wording.verdicts import chance

SCREEN = JobScreen(
    RUNS,
    address.RUN,
    "run_",
    "run",
    first_step="Start with a first run",
    deleted_with_it=" with its curves, predictions and checkpoints? It cannot be brought back.",
)


def about_a_run(
    draw: Callable[[runs.Run], None], without: Callable[[], None], compact: bool = False
) -> None:
    """A screen about one run: its header and `draw`, or what is wrong, or `without` any run.

    Args:
      draw: draws the screen below the header.
      without: draws it where there are no runs.
      compact: whether the header is to be one line that stays while the page scrolls.
    """
    choice = picker.choose(SCREEN)
    if choice.problem:
        picker.show_problem(SCREEN, choice.problem)
    elif choice.job:
        (one_line if compact else header)(choice.job)
        if said := varied.counted(choice.job):
            st.caption(escaping.markdown(said))
        draw(choice.job)
    else:
        without()


def header(run: runs.Run) -> None:
    """The run's name, state, dataset and settings, and a picker for another."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        name_and_state(run, loaders.shown_state(run))
        st.space("stretch")
        picker.picker(SCREEN, run)
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
        picker.picker(SCREEN, run)


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
    picker.name_and_state(called(run), chance.state(run, state))
    if run.origin:
        st.badge("from a report", icon=":material/upload_file:", color="gray")
