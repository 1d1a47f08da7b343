"""Tune: what is searched and by whom, as controls; how many trials, on what, about how long."""

import re
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from ensemble import optimizers, sweeps
from ensemble.config import EnsembleConfig
from ensemble.sweeps import SweepConfig
from ensemble.sweeps.settings import STORAGE_VARIABLE
from ensemble.sweeps.store import SWEEP_STORE
from ensemble.ui.devices.probe import DeviceInventory
from ensemble.ui.jobs import launch
from ensemble.ui.tune import space, sweep_duration
from tests.pages import sweeps_screen
from tests.pages.sweeps_screen import labels, said


@pytest.fixture(autouse=True)
def no_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    """A launch makes the sweep, and starts nothing."""
    monkeypatch.setenv(STORAGE_VARIABLE, "journal")
    monkeypatch.setattr(SWEEP_STORE, "start_worker", lambda job: None)


def tuned() -> AppTest:
    """Tune with all its settings in sight."""
    at = sweeps_screen.tuned()
    at.session_state["tune_more"] = True
    at.run()
    assert not at.exception, at.exception
    return at


def ticked(at: AppTest, *names: str) -> AppTest:
    """Tick these settings and no other, in their lines or in the box to look for one."""
    for box in [one for one in at.checkbox if one.value]:
        if box.key.removeprefix("tune_tick_") not in names:
            box.uncheck()
    for name in set(names) & {*space.LISTED_SETTINGS}:
        at.checkbox(key=f"tune_tick_{name}").check()
    at.run()
    for name in names:
        if name not in space.LISTED_SETTINGS:
            at = at.selectbox(key="tune_another").set_value(name).run()
    return at


def launched(at: AppTest) -> SweepConfig:
    at.button(key="tune_launch").click().run()
    assert not at.error
    return sweeps.list_sweeps()[0].config


def test_what_is_ticked_is_searched_and_all_else_is_as_on_train() -> None:
    at = tuned()
    at.session_state["set_members"] = 2
    at.session_state["set_network"] = "logistic"
    ticked(at, "learning_rate", "momentum", "optimizer", "bootstrap")
    at.number_input(key="tune_from_learning_rate").set_value(0.02)
    at.toggle(key="tune_log_learning_rate").set_value(False)
    at.selectbox(key="tune_sampler").set_value("random")
    at.segmented_control(key="tune_kind_momentum").set_value("list").run()
    at.text_input(key="tune_list_momentum").set_value("0.8, 0.9 0.95")
    at.number_input(key="tune_trials").set_value(7).run()
    way = next(one.proto for one in at.get("page_link") if "All else" in one.proto.label)
    assert "Digits · Logistic regression · 2 members" in way.help
    config = launched(at)
    assert config.space == (
        f"optimizer={','.join(optimizers.OPTIMIZER_NAMES)} learning_rate=0.02..0.5 "
        "momentum=0.8,0.9,0.95 bootstrap=true,false"
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
    rates = launched(at).search_axes["learning_rate"].values
    np.testing.assert_allclose(rates, np.geomspace(0.01, 0.5, 5), rtol=1e-3)


def test_what_cannot_be_launched_says_why_beside_the_button() -> None:
    at = tuned()

    def assert_refused(reason: str) -> None:
        assert reason in said(at)
        assert at.button(key="tune_launch").disabled
        assert not at.error

    at.multiselect(key="tune_objectives").set_value([]).run()
    assert_refused("choose an objective such as NLL")
    at.multiselect(key="tune_objectives").set_value(["nll"])
    at.number_input(key="tune_from_learning_rate").set_value(0.7).run()
    assert_refused("the start of a range has to be below its end")
    at.segmented_control(key="tune_kind_learning_rate").set_value("list").run()
    assert_refused("No value of learning rate")
    at.checkbox(key="tune_tick_learning_rate").uncheck().run()
    assert_refused("Nothing is searched: tick at least one")


def test_a_double_click_launches_one_sweep_unless_the_settings_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = SimpleNamespace(now=1000.0)
    clock.monotonic = lambda: clock.now  # only the test moves it
    monkeypatch.setattr(launch, "time", clock)
    at = tuned()
    for now, sweeps_made in ((1000.0, 1), (1001.0, 1), (1001.9, 1), (1002.1, 2)):
        clock.now = now
        assert launched(at).repeats == 1
        assert len(sweeps.list_sweeps()) == sweeps_made
    at.segmented_control(key="tune_repeats").set_value(3)
    at.number_input(key="tune_trials").set_value(7).run()
    assert at.button(key="tune_launch").label.startswith("Launch 7 trials × 3 seeds")
    launched(at)
    made = [(one.config.trials, one.config.repeats) for one in sweeps.list_sweeps()]
    assert sorted(made) == [(7, 3), (12, 1), (12, 1)], "launched at once"


@pytest.mark.long_cases
@pytest.mark.parametrize(
    ("searched", "fixed", "largest"),
    [
        ("", 1_167, 1_167),
        ("", 1_168, 1_168),
        ("128,1167", 128, 1_167),
        ("1168,128", 128, 1_168),
        ("64..1167", 128, 1_167),
        ("64..1168", 128, 1_168),
    ],
)
def test_no_trial_may_have_a_batch_of_more_images_than_there_are(searched: str, fixed: int, largest: int) -> None:
    """Of 1,297 a tenth is held out: 1,167 are left, all of which may be one batch."""
    at = tuned()
    at.session_state["set_batch_size"] = fixed
    if searched:
        ticked(at, "batch_size")
        is_list = "," in searched
        kind = "list" if is_list else "range"
        at.segmented_control(key="tune_kind_batch_size").set_value(kind).run()
        if is_list:
            at.text_input(key="tune_list_batch_size").set_value(searched).run()
        else:
            low, high = map(int, searched.split(".."))
            at.number_input(key="tune_from_batch_size").set_value(low).run()
            at.number_input(key="tune_to_batch_size").set_value(high).run()
    else:
        at.run()
    refused = f"A batch of {largest:,} is more than the 1,167 training images: choose 1,167 or fewer"
    assert (refused in said(at)) == (largest > 1_167)
    assert at.button(key="tune_launch").disabled == (largest > 1_167)


def test_a_time_is_a_bound_where_trials_may_end_early() -> None:
    at = tuned()
    at.session_state["set_network"] = "logistic"
    for pruner, word in (("none", "about"), ("median", "at most"), ("hyperband", "at most")):
        at.session_state["tune_pruner"] = pruner
        at.run()
        assert re.fullmatch(rf"Launch 12 trials, {word} \d.*", at.button(key="tune_launch").label)
        assert "Time a rough guess" in said(at)


def test_the_time_is_that_of_the_trials_that_will_be_drawn() -> None:
    here = DeviceInventory("cpu", ("cpu",), 2)
    base = EnsembleConfig(network="logistic", members=4, epochs=10, validation=0.1)

    def seconds(text: str, **more: Any) -> float:
        config = SweepConfig(space=text, base=base, sampler="random", **more)
        found = sweep_duration.estimate_sweep_duration(config, here)
        assert found
        return (
            found.seconds
            - sweep_duration.STARTUP_SECONDS
            - config.trials * config.repeats * sweep_duration.OVERHEAD_SECONDS
        )

    one = seconds("momentum=0.8,0.9", trials=10)
    assert seconds("momentum=0.8,0.9", trials=30) == pytest.approx(3 * one)
    assert seconds("momentum=0.8,0.9", trials=10, repeats=3) == pytest.approx(3 * one)
    assert seconds("members=4..12", trials=10) == pytest.approx(2 * one, rel=0.25)


def test_values_of_a_grid_are_spread_evenly_or_by_the_same_factor() -> None:
    np.testing.assert_allclose(space.list_grid_values(0.001, 1, 4, log=True), np.geomspace(0.001, 1, 4))
    np.testing.assert_allclose(space.list_grid_values(0.5, 0.95, 4, log=False), np.linspace(0.5, 0.95, 4))
