"""What is peculiar to the screen about runs that predict numbers, and its header."""

import streamlit as st

from ensemble import runs
from ensemble.config import REGRESSION
from ensemble.errors import RunError
from ensemble.runs.store import RUN_STORE, Run, explain_wrong_task
from ensemble.ui.jobs import job_picker
from ensemble.ui.jobs.job_screen import JobScreen
from ensemble.ui.shared import address, run_panel
from ensemble.wording import escaping
from ensemble.wording.run_names import format_run_name


def describe_numeric_run(run: Run) -> str:
    unit = f" in {run.unit}" if run.unit else ""
    return f"{run.target_name or 'numbers'}{unit}"


NUMERIC_SCREEN: JobScreen[Run] = JobScreen(
    RUN_STORE,
    address.RUN,
    "numeric_",
    "run",
    first_step="See how a first one comes here",
    deletion_question_end=" with its predictions? It cannot be brought back.",
    describe_details=describe_numeric_run,
    dependent_words=(address.EPOCH,),
    memory="numbers",
    explain_refusal=lambda run: explain_wrong_task(run, REGRESSION),
)


def show_numeric_header(run: Run) -> None:
    run_panel.show_run_header(run, has_try_link=False, screen=NUMERIC_SCREEN, report_key="numeric_one_file")


def show_missing_numbers(problem: str) -> None:
    """What is wrong with the run in the address; of one of classes, where it is shown."""
    try:
        run = runs.find_run(address.RUN.read() or "")
    except RunError:
        job_picker.show_missing_job(NUMERIC_SCREEN, problem)
        return
    name = escaping.escape_markdown(format_run_name(run))
    st.info(f"This page is for numbers, and “{name}” is of classes.", icon=":material/category:")
    st.page_link(
        "pages/inspect.py",
        label=f"Open “{name}” on Inspect",
        icon=":material/arrow_forward:",
        query_params=address.RUN.build_query(run.id),
    )
    job_picker.show_way_on(NUMERIC_SCREEN)
