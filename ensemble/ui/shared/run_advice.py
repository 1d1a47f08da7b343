"""What happened to a run that is not simply going on, what is kept, and what to do next."""

from dataclasses import replace

import streamlit as st

from ensemble import runs
from ensemble.config import AnyTrainingConfig
from ensemble.runs.store import require_run_settings
from ensemble.ui.jobs import job_panel
from ensemble.ui.shared import address, guard, settings
from ensemble.wording import escaping
from ensemble.wording.runs import member_settings
from ensemble.wording.verdicts import chance_level


def show_run_advice(run: runs.Run) -> None:
    """A sentence and the next step, for runs that ended; and who goes on no more meanwhile."""
    # Once it has finished its message says so.
    if run.state != "finished" and (
        warning := runs.describe_diverged_members(run.status, run.config.members, over=not run.active)
    ):
        st.caption(f":material/person_off: {escaping.escape_markdown(warning)}")
    if run.state in chance_level.ENDED_STATES:
        if run.entry:
            _show_chance_warning(run)
        if run.message:
            st.info(escaping.escape_markdown(run.message), icon=":material/info:")
    elif run.state == "stopped":
        warning = run.message or "Progress is kept: resume it, or launch a new run."
        st.caption(escaping.escape_markdown(warning))
    elif run.state == "diverged":
        _show_divergence_advice(run)
    elif run.state == "failed":
        job_panel.show_job_ending(run)


def show_predictions_link(run: runs.Run) -> None:
    if run.state in chance_level.ENDED_STATES:
        st.page_link(
            "pages/predictions.py",
            label="See its predictions",
            icon=":material/arrow_forward:",
            query_params=address.RUN.build_query(run.id),
        )


def _show_chance_warning(run: runs.Run) -> None:
    """It is no better than guessing, or some of its members are: why, and what to try."""
    if warning := chance_level.describe_guessing(run):
        st.warning(escaping.escape_markdown(warning), icon=":material/casino:")
        if (config := run.training_config) is None:
            return
        st.caption(escaping.escape_markdown(chance_level.explain_run_chance_level(run, config)))
        if rate := chance_level.suggest_learning_rate(config, run.status.step):
            _show_other_rate_button(config, rate)


def _show_divergence_advice(run: runs.Run) -> None:
    """The loss ran away: a lower rate is the usual cure, one press away."""
    guard.show_error_message(run.message or "The loss diverged to infinity.", ":material/trending_up:")
    config = require_run_settings(run)
    if "learning_rate" in member_settings.collect_varied_settings(config):  # another one would change nothing
        return
    _show_other_rate_button(config, max(0.00001, float(f"{config.learning_rate / 3:.0e}")))


def _show_other_rate_button(config: AnyTrainingConfig, rate: float) -> None:
    st.button(
        f"Set up the same run with learning rate {settings.format_slider_value(rate)}",
        on_click=settings.fill_run_settings,
        args=(replace(config, learning_rate=rate),),
        key="lower_rate",
    )
