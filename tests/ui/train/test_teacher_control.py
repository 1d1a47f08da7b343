"""Which runs are offered one network in their place."""

from dataclasses import replace

import numpy as np
from streamlit.testing.v1 import AppTest

from ensemble import runs
from ensemble.jobs.status import write_status
from ensemble.runs.parameters import write_parameters
from tests.comparison.drawn import finished


def offer_for_chosen_run() -> None:
    import streamlit as st

    from ensemble import runs
    from ensemble.ui.train.teacher_control import show_distillation_offer

    show_distillation_offer(runs.find_run(st.session_state["chosen"]))


def end_run(members: int, state: str) -> str:
    """A run with parameters that ended in this state."""
    run = finished({"members": members}, epochs=1)
    write_parameters(run.path, 1, {"kernel": np.zeros((members, 1))}, None)
    write_status(run.path, replace(run.status, state=state))
    return runs.find_run(run.id).id


def test_an_ensemble_that_finished_or_was_stopped_may_teach_and_no_other_run() -> None:
    at = AppTest.from_function(offer_for_chosen_run)
    for members, state, offered in ((3, "finished", 1), (2, "stopped", 1), (1, "finished", 0), (3, "failed", 0)):
        at.session_state["chosen"] = end_run(members, state)
        at.run()
        assert not at.exception
        assert len(at.button) == offered, (members, state)
