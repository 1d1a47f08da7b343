"""What the screen of predictions looks for while it waits for a first epoch."""

import pytest
from streamlit.testing.v1 import AppTest

from ensemble.runs.history import write_predictions
from tests.pages.ensembles import probabilities, trained


def look_once(run_id: str, last_state: str) -> None:
    import streamlit as st

    from ensemble.ui.predictions import epoch_availability

    st.session_state["draws"] = st.session_state.get("draws", 0) + 1
    if st.session_state["draws"] == 1:
        epoch_availability._refresh_first_epoch_notice(run_id, last_state, "The test images stand")


@pytest.mark.parametrize(("state", "has_epoch"), [("failed", False), ("queued", True)])
def test_the_page_is_drawn_again_when_the_run_ends_or_has_an_epoch(state: str, has_epoch: bool) -> None:
    run = trained(epochs=2, done=0, state=state, working=state == "queued")
    if has_epoch:
        write_predictions(run.path, 1, probabilities("digits", 3, 1, 4.0))
    at = AppTest.from_function(look_once, args=(run.id, "queued")).run()
    assert not at.exception
    assert at.session_state["draws"] == 2
