"""Numbers: train an ensemble that predicts numbers; how far off it is, and whether it knows."""

import streamlit as st

from ensemble.ui.jobs import deletion, job_picker
from ensemble.ui.jobs import launch as launching
from ensemble.ui.numbers import answer
from ensemble.ui.numbers.training import numeric_launch, numeric_live, table_upload
from ensemble.ui.runs import imports, run_action_panel, run_actions
from ensemble.ui.shared import navigation, run_panel
from ensemble.ui.shared.run_panel import NUMERIC_SCREEN
from ensemble.ui.train import launch

SAVE_LINES = "np.savez('numbers.npz', mean=mean, std=std, targets=targets)  # (members, examples)"


def show_numbers_page() -> None:
    run_actions.show_run_action_result()
    deletion.show_job_action_problem(NUMERIC_SCREEN)
    choice = job_picker.select_shown_job(NUMERIC_SCREEN)
    with st.sidebar:
        with st.container(key="launch_settings"):
            table = table_upload.select_table()
            numeric_launch.show_first_numeric_settings()
        with st.container(key="launch_bar", gap="xsmall"):
            numeric_launch.show_numeric_launch_button(table, launching.is_launch_main_action(choice.job))
            launch.show_seed_count()
        with st.container(key="launch_more"):
            numeric_launch.show_more_numeric_settings(choice.job)
    if choice.problem:
        run_panel.show_missing_run(NUMERIC_SCREEN, choice.problem)
    elif choice.job:
        run_panel.show_run_header(choice.job)
        numeric_live.show_live_numbers(choice.job)
        if not choice.job.active:
            answer.show_numeric_run(choice.job)
            numeric_live.show_numeric_training(choice.job)
        run_action_panel.show_run_action_panel(choice.job, NUMERIC_SCREEN.list_jobs(), on_own_page=True)
        imports.show_import_button()
    else:
        show_numbers_introduction()


def show_numbers_introduction() -> None:
    """No runs of numbers: what will be here, and the next step."""
    st.subheader("How far off is it, and does it know?", anchor=False)
    st.markdown(
        "For ensembles that predict a number, as a price or a temperature: the error against a "
        "member’s, whether intervals hold what they promise, what is noise and what the members "
        "disagree on, and the examples that it gets most wrong. Upload a table, CSV or Parquet, "
        "and choose the column to predict; or begin with one that is here:"
    )
    with st.container(width=420):
        numeric_launch.show_quick_numbers_button()
    st.markdown(
        "Of an ensemble that was trained elsewhere, save each member’s mean and standard deviation "
        "(or quantiles, or the number alone) with what is true, and import the file:"
    )
    st.code(SAVE_LINES, language="python")
    imports.show_import_button()


navigation.draw_page("numbers", show_numbers_page)
