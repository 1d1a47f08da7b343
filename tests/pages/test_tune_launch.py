"""Tune: what is searched and by whom, as controls; how many trials, on what, about how long."""

from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from ensemble import optimizers, sweeps
from ensemble.config import EnsembleConfig
from ensemble.sweeps import SweepConfig
from ensemble.sweeps.settings import VARIABLE
from ensemble.ui.devices.probe import Machine
from ensemble.ui.tune import length, space
from tests.pages.sweeps_screen import labels, said, tuned


@pytest.fixture(autouse=True)
def no_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    """A launch makes the sweep, and starts nothing."""
    monkeypatch.setenv(VARIABLE, "journal")
    monkeypatch.setattr("ensemble.sweeps.commands.start_worker", lambda job: None)


def ticked(at: AppTest, *names: str) -> AppTest:
    return at.multiselect(key="tune_searched").set_value(list(names)).run()


def launched(at: AppTest) -> SweepConfig:
    at.button(key="tune_launch").click().run()
    assert not at.error
    return sweeps.list_sweeps()[0].config


def test_what_is_ticked_is_searched_and_all_else_is_as_on_train() -> None:
    at = tuned()
    at.session_state["set_members"] = 2
    at.session_state["set_network"] = "logistic"
    ticked(at, "learning_rate", "momentum", "optimizer", "bootstrap")
    at.number_input(key="tune_from_learning_rate").set_value(0.02).run()
    at.toggle(key="tune_log_learning_rate").set_value(False).run()
    at.segmented_control(key="tune_kind_momentum").set_value("list").run()
    at.text_input(key="tune_list_momentum").set_value("0.8, 0.9 0.95").run()
    at.selectbox(key="tune_sampler").set_value("random").run()
    at.number_input(key="tune_trials").set_value(7).run()
    assert "All else as on Train: Digits · Logistic regression · 2 members" in said(at)
    config = launched(at)
    assert config.space == (
        f"optimizer={','.join(optimizers.NAMES)} learning_rate=0.02..0.5 momentum=0.8,0.9,0.95 "
        "bootstrap=true,false"
    )
    assert (config.trials, config.sampler, config.objectives) == (7, "random", "nll")
    shared = EnsembleConfig(network="logistic", members=2, validation=0.1)
    assert config.base == shared


def test_a_grid_says_how_many_trials_it_has_before_it_is_launched() -> None:
    at = tuned()
    ticked(at, "learning_rate", "members")
    at.selectbox(key="tune_sampler").set_value("grid").run()
    assert "tune_trials" not in [one.key for one in at.number_input]
    at.number_input(key="tune_values_learning_rate").set_value(5).run()
    assert any(label.startswith("Launch 35 trials") for label in labels(at))
    rates = launched(at).axes["learning_rate"].values
    np.testing.assert_allclose(rates, np.geomspace(0.01, 0.5, 5), rtol=1e-3)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (("multiselect", "tune_searched", []), "Nothing is searched: tick at least one setting."),
        (("multiselect", "tune_objectives", []), "choose an objective such as NLL"),
        (("number_input", "tune_from_learning_rate", 0.7), "a range begins below its end"),
        (("segmented_control", "tune_kind_learning_rate", "list"), "No value of learning rate"),
    ],
)
def test_what_cannot_be_launched_says_why_beside_the_button(
    change: tuple[str, str, Any], reason: str
) -> None:
    at = tuned()
    kind, key, value = change
    getattr(at, kind)(key=key).set_value(value).run()
    assert reason in said(at)
    assert at.button(key="tune_launch").disabled
    assert not at.error


def test_the_time_is_that_of_the_trials_that_will_be_drawn() -> None:
    here = Machine("cpu", ("cpu",), 2)
    base = EnsembleConfig(network="logistic", members=4, epochs=10, validation=0.1)

    def seconds(text: str, **more: Any) -> float:
        config = SweepConfig(space=text, base=base, sampler="random", **more)
        found = length.length(config, here)
        assert found
        return found.seconds - length.STARTUP_SECONDS - config.trials * length.OVERHEAD_SECONDS

    one = seconds("momentum=0.8,0.9", trials=10)
    assert seconds("momentum=0.8,0.9", trials=30) == pytest.approx(3 * one)
    assert seconds("members=4..12", trials=10) == pytest.approx(2 * one, rel=0.25)


def test_values_of_a_grid_are_spread_evenly_or_by_the_same_factor() -> None:
    np.testing.assert_allclose(space.between(0.001, 1, 4, log=True), np.geomspace(0.001, 1, 4))
    np.testing.assert_allclose(space.between(0.5, 0.95, 4, log=False), np.linspace(0.5, 0.95, 4))
