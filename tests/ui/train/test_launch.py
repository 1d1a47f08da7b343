"""The launch plan of Train, without the page around it."""

import re

import pytest
from streamlit.testing.v1 import AppTest

UNITS = {"d": 86_400, "h": 3600, "min": 60, "s": 1}


def plan_alone() -> None:
    import streamlit as st

    from ensemble.ui.train import launch

    st.session_state["label"] = launch.plan_run_launch().label


def read_seconds(label: str) -> int:
    """The seconds that a label of the button announces: "about 1 min 20 s"."""
    return sum(int(count) * UNITS[unit] for count, unit in re.findall(r"(\d+) (d|h|min|s)\b", label.split("about")[1]))


def test_three_seeds_take_three_times_as_long_as_one() -> None:
    at = AppTest.from_function(plan_alone, default_timeout=240)
    at.session_state["set_epochs"] = 1000
    seconds = []
    for seeds in (1, 3):
        at.session_state["launch_seeds"] = seeds
        assert not at.run().exception
        seconds.append(read_seconds(at.session_state["label"]))
    assert seconds[1] == pytest.approx(3 * seconds[0], rel=0.2)
