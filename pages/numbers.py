"""Numbers: how far off an ensemble that predicts numbers is, and whether its spreads hold."""

import streamlit as st

from ensemble.ui.jobs import deletion, job_picker
from ensemble.ui.numbers import actions, answer, screen
from ensemble.ui.runs import imports, run_actions
from ensemble.ui.shared import navigation

SAVE_LINES = "np.savez('numbers.npz', mean=mean, std=std, targets=targets)  # (members, examples)"


def show_numbers_page() -> None:
    run_actions.show_run_action_result()
    deletion.show_job_action_problem(screen.NUMERIC_SCREEN)
    choice = job_picker.select_shown_job(screen.NUMERIC_SCREEN)
    if choice.problem:
        screen.show_missing_numbers(choice.problem)
    elif choice.job:
        screen.show_numeric_header(choice.job)
        answer.show_numeric_run(choice.job)
        actions.show_numeric_actions(choice.job)
        imports.show_import_button()
    else:
        show_numbers_introduction()


def show_numbers_introduction() -> None:
    """No runs of numbers: what will be here, and the next step."""
    st.subheader("How far off is it, and does it know?", anchor=False)
    st.markdown(
        "For ensembles that predict a number, as a price or a temperature: the error against a "
        "member’s, whether intervals hold what they promise, what is noise and what the members "
        "disagree on, and the examples that it gets most wrong. Save each member’s mean and "
        "standard deviation (or quantiles, or the number alone) with what is true, from any "
        "program, and import the file:"
    )
    st.code(SAVE_LINES, language="python")
    imports.show_import_button()


navigation.draw_page("numbers", show_numbers_page)
