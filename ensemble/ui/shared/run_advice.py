"""What happened to a run that is not simply going on, what is kept, and what to do next."""

from dataclasses import replace

import streamlit as st

from ensemble import runs
from ensemble.config import EnsembleConfig
from ensemble.ui.jobs import job_panel
from ensemble.ui.shared import address, guard, settings
from ensemble.wording import escaping
from ensemble.wording.runs import varied
from ensemble.wording.verdicts import chance


def show(run: runs.Run) -> None:
    """A sentence and the next step, for runs that ended; and who goes on no more meanwhile."""
    # Once it has finished its message says so.
    if run.state != "finished" and (
        said := runs.who_was_set_aside(run.status, run.config.members, over=not run.active)
    ):
        st.caption(f":material/person_off: {escaping.markdown(said)}")
    if run.state in chance.ENDED:
        guesses(run)
        if run.message:
            st.info(escaping.markdown(run.message), icon=":material/info:")
    elif run.state == "stopped":
        said = run.message or "What was learnt is kept: resume it, or launch anew."
        st.caption(escaping.markdown(said))
    elif run.state == "diverged":
        diverged(run)
    elif run.state == "failed":
        job_panel.ended(run)


def way_on(run: runs.Run) -> None:
    """A link to what a finished run predicts."""
    if run.state in chance.ENDED:
        noun = run.data.noun
        st.page_link(
            "pages/predictions.py",
            label=f"See what it predicts, {noun} by {noun}",
            icon=":material/arrow_forward:",
            query_params=address.RUN.link(run.id),
        )


def guesses(run: runs.Run) -> None:
    """It is no better than guessing, or some of its members are: why, and what to try."""
    if said := chance.found(run):
        st.warning(escaping.markdown(said), icon=":material/casino:")
        if (config := run.trained) is None:
            return
        st.caption(escaping.markdown(chance.advice(config, run.status.step)))
        if rate := chance.rate_to_try(config, run.status.step):
            another_rate(config, rate)


def diverged(run: runs.Run) -> None:
    """The loss ran away: a lower rate is the usual cure, one press away."""
    guard.problem(run.message or "The loss ran away to infinity.", ":material/trending_up:")
    config = runs.trained_here(run)
    if "learning_rate" in varied.of(config):  # another one would change nothing
        return
    another_rate(config, max(0.00001, float(f"{config.learning_rate / 3:.0e}")))


def another_rate(config: EnsembleConfig, rate: float) -> None:
    """A button that sets up the same run with this learning rate."""
    st.button(
        f"Set up the same run with learning rate {settings.shown(rate)}",
        type="primary",
        on_click=settings.fill,
        args=(replace(config, learning_rate=rate),),
        key="lower_rate",
    )
