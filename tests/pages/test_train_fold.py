"""Train's settings fold to one line while a run is shown, and nothing that was set is lost."""

from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from ensemble import runs
from ensemble.config import EnsembleConfig
from ensemble.runs.store import RUN_STORE
from ensemble.ui.shared import loaders, settings
from tests.pages.ensembles import trained
from tests.pages.predictions_screen import opened


@pytest.fixture(autouse=True)
def no_list_of_an_earlier_test() -> None:
    loaders.forget_runs()


def sliders(at: AppTest) -> list[str | None]:
    return [one.key for one in at.sidebar.get("select_slider")]


def press(at: AppTest, key: str) -> AppTest:
    next(one for one in at.button if one.key == key).click().run()
    assert not at.exception
    return at


def label(at: AppTest, key: str) -> Any:
    return next((one.label for one in at.button if one.key == key), None)


def test_with_a_run_the_settings_are_one_line_that_says_what_launch_will_train() -> None:
    at = opened(trained(members=3), "train")
    assert sliders(at) == []
    assert label(at, "fold") == "4 members · rate 0.1 · digits"
    assert label(at, "launch").startswith("Launch 4 members")
    at.session_state[settings.format_setting_key("learning_rate")] = 0.03
    assert label(at.run(), "fold") == "4 members · rate 0.03 · digits"


def test_they_unfold_by_a_press_and_what_was_set_stays_when_they_fold_again() -> None:
    run = trained(members=3)
    at = press(opened(run, "train"), "fold")
    assert settings.format_setting_key("members") in sliders(at)
    slider = next(one for one in at.sidebar.get("select_slider") if one.key == "set_members")
    slider.set_value(7).run()
    assert sliders(at), "a slider that is moved does not fold them"
    press(at, "fold")
    assert sliders(at) == []
    assert label(at, "fold").startswith("7 members")
    assert label(at, "launch").startswith("Launch 7 members")
    press(at, "fold")
    assert at.session_state[settings.format_setting_key("members")] == 7


def test_a_launch_folds_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(RUN_STORE, "start_worker", lambda run: None)
    at = press(opened(trained(members=3), "train"), "fold")
    assert sliders(at)
    press(at, "launch")
    assert len(runs.list_runs()) == 2
    assert sliders(at) == []


def test_images_that_are_not_here_can_be_fetched_though_the_settings_are_folded(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    monkeypatch.setenv("ENSEMBLE_DATA", str(tmp_path / "empty"))
    run = trained()
    at = opened(run, "train")
    at.session_state[settings.format_setting_key("dataset")] = "kmnist"
    at.run()
    assert label(at, "fetch_kmnist").startswith("Fetch Kuzushiji-MNIST")
    press(at, "fold")
    assert label(at, "fetch_kmnist").startswith("Fetch Kuzushiji-MNIST")


def test_the_small_print_does_not_say_the_name_again() -> None:
    run = runs.create_run(EnsembleConfig(members=4, learning_rate=0.1))
    said = [one.value for one in opened(run, "train").main.caption]
    assert f"momentum 0.9 · 10 epochs · batch 128 · seed 0 · {run.id}" in said
    runs.rename_run(run.id, "First")
    said = [one.value for one in opened(run, "train").main.caption]
    whole = "Digits · 4 members · rate 0.1 · momentum 0.9 · 10 epochs · batch 128 · seed 0"
    assert f"{whole} · {run.id}" in said
