"""Which run a page is about, and the header that says so: the same on every page."""

from collections.abc import Callable

import streamlit as st

from ensemble import runs
from ensemble.config import CLASSIFICATION, REGRESSION
from ensemble.errors import RunError
from ensemble.runs.parameters import list_parameter_epochs
from ensemble.runs.start_weights import identify_start_weights
from ensemble.runs.store import RUN_STORE, Run, explain_wrong_task
from ensemble.runs.validation_predictions import are_members_chosen
from ensemble.ui.frame import plain_words, report_download
from ensemble.ui.jobs import job_picker
from ensemble.ui.jobs.job_screen import JobScreen
from ensemble.ui.shared import address, loaders, settings
from ensemble.wording import escaping
from ensemble.wording.provenance import build_rerun_command, format_bibtex, format_citation
from ensemble.wording.run_names import describe_run_origin, format_run_data, format_run_name
from ensemble.wording.runs import member_settings
from ensemble.wording.verdicts import chance_level

RUN_SCREEN = JobScreen(
    RUN_STORE,
    address.RUN,
    "run_",
    "run",
    first_step="Start with a first run",
    deletion_question_end=" with its curves, predictions and checkpoints? It cannot be brought back.",
    explain_refusal=lambda run: explain_wrong_task(run, CLASSIFICATION),
)
NUMERIC_SCREEN: JobScreen[Run] = JobScreen(
    RUN_STORE,
    address.RUN,
    "numeric_",
    "run",
    first_step="Start with a first run",
    deletion_question_end=RUN_SCREEN.deletion_question_end,
    dependent_words=(address.EPOCH,),
    memory="numbers",
    explain_refusal=lambda run: explain_wrong_task(run, REGRESSION),
)


def find_run_screen(run: Run) -> JobScreen[Run]:
    """Return the screen that shows runs of this task."""
    return RUN_SCREEN if run.task == CLASSIFICATION else NUMERIC_SCREEN


def show_run_screen(
    draw: Callable[[runs.Run], None], without: Callable[[], None], *, has_try_link: bool = True
) -> None:
    """A screen about one run: its header and `draw`, or what is wrong, or `without` any run."""
    choice = job_picker.select_shown_job(RUN_SCREEN)
    if choice.problem:
        show_missing_run(RUN_SCREEN, choice.problem)
    elif choice.job:
        show_run_header(choice.job, has_try_link)
        if member_numbering := member_settings.describe_member_numbering(choice.job):
            st.caption(escaping.escape_markdown(member_numbering))
        draw(choice.job)
    else:
        without()


def show_missing_run(screen: JobScreen[Run], problem: str) -> None:
    """Explain what is wrong with the run in the address, or link to the page for its task."""
    try:
        show_other_task_notice(runs.find_run(address.RUN.read() or ""))
    except RunError:
        job_picker.show_missing_job(screen, problem)
    else:
        job_picker.show_way_on(screen)


def show_other_task_notice(run: Run) -> None:
    """Explain that this page is for the other task, and link to the page for this run's task."""
    name = escaping.escape_markdown(format_run_name(run))
    if run.entry:
        st.info(f"This page is for numbers, and “{name}” predicts classes.", icon=":material/category:")
    else:
        st.info(f"This page is for classes, and “{name}” predicts numbers.", icon=":material/123:")
    show_run_link(run)


def show_run_link(run: Run) -> None:
    """A link to the page that judges a run of this task."""
    page, title = ("inspect", "Inspect") if run.entry else ("numbers", "Numbers")
    st.page_link(
        f"pages/{page}.py",
        label=f"Open “{escaping.escape_markdown(format_run_name(run))}” on {title}",
        icon=":material/arrow_forward:",
        query_params=address.RUN.build_query(run.id),
    )


def show_run_header(run: runs.Run, has_try_link: bool = True) -> None:
    """Name, state, file and picker in one line, which stays while the page scrolls.

    The settings stand behind its "?".
    """
    screen = find_run_screen(run)
    parts = [format_run_data(run), settings.summarize_run_settings(run.config)]
    if digest := identify_start_weights(run.path):
        parts.append(f"start weights given ({digest})")
    text = escaping.escape_markdown(" · ".join(parts))
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="run_line"):
        show_run_name_and_state(run, loaders.get_displayed_run_state(run))
        which = " · ".join(filter(None, (run.id, describe_run_origin(run))))
        full = f"**{escaping.escape_markdown(format_run_name(run))}**  \n{text}  \n{escaping.escape_markdown(which)}"
        st.caption("Settings", width="content", help=full)
        st.space("stretch")
        if has_try_link and run.entry:
            _show_try_link(run)
        report_download.show_report_download([run], f"{screen.prefix}one_file")
        if run.entry:
            plain_words.show_terms_control()
        job_picker.show_job_picker(screen, run)


def _show_try_link(run: runs.Run) -> None:
    if not run.data.is_mnist_like or not list_parameter_epochs(run.path):
        return
    st.page_link(
        "pages/classify.py",
        label="Try it",
        icon=":material/draw:",
        query_params=address.RUN.build_query(run.id) | address.INPUT.build_query("draw"),
        help=f"Draw a {run.data.noun}: the members answer while you draw.",
        width="content",
    )


def show_citation_panel(run: runs.Run) -> None:
    with st.expander("Cite or repeat", icon=":material/format_quote:", key="cite_or_repeat"):
        if command := build_rerun_command(run):
            where = "" if run.entry else ", in the folder of its table"
            st.caption(f"The command that repeats this run{where}")
            st.code(command, language="bash", wrap_lines=True)
        elif are_members_chosen(run):
            st.caption("Its members were chosen from other runs: no command repeats it.")
        elif run.settings:
            st.caption("An earlier version trained it, and the columns that were left out are not recorded.")
        else:
            st.caption("It was trained elsewhere: no command repeats it.")
        st.caption("A line to cite it by, and the same for BibTeX")
        st.code(format_citation(run), language=None, wrap_lines=True)
        st.code(format_bibtex(run), language=None, wrap_lines=True)


def show_run_name_and_state(run: runs.Run, state: str) -> None:
    """The run's name, and its state as a badge; another where it was not made here."""
    job_picker.show_job_title(format_run_name(run), chance_level.format_chance_state(run, state))
    if run.origin:
        st.badge("from a report", icon=":material/upload_file:", color="gray")
