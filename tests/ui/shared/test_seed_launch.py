"""Further seeds of two runs' settings: which are missing, and the press that trains them."""

import pytest
from streamlit.testing.v1 import AppTest

from ensemble import runs
from ensemble.errors import RunError
from ensemble.runs.store import RUN_STORE
from ensemble.ui.shared import loaders
from ensemble.ui.shared.seed_launch import list_missing_seeds, plan_seed_runs
from tests.comparison.drawn import finished, imported


@pytest.fixture(autouse=True)
def no_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(RUN_STORE, "start_worker", lambda run: None)


def page(first: str, second: str) -> None:
    from ensemble import runs
    from ensemble.ui.shared import loaders, seed_launch

    loaders.forget_runs()
    seed_launch.show_seed_launch([runs.find_run(first), runs.find_run(second)], "seeds")


def opened(first: runs.Run, second: runs.Run) -> AppTest:
    at = AppTest.from_function(page, args=(first.id, second.id), default_timeout=240).run()
    assert not at.exception
    return at


def test_each_setting_is_brought_to_three_seeds_that_it_did_not_have() -> None:
    first, second = finished({"seed": 1, "momentum": 0.5}), finished({"momentum": 0.6})
    finished({"seed": 2, "momentum": 0.5})
    loaders.forget_runs()
    plan = plan_seed_runs([first, second], runs.list_runs())
    assert plan is not None
    assert len(plan.existing) == 3
    assert [(config.momentum, config.seed) for config in plan.missing] == [(0.5, 3), (0.6, 1), (0.6, 2)]
    assert plan.seconds == pytest.approx(60.0)


def test_the_last_seed_there_is_is_followed_by_the_first() -> None:
    highest = runs.require_training_config(finished({"seed": 2_147_483_647}))
    found = list_missing_seeds(highest, {2_147_483_647, 1}, 2)
    assert [config.seed for config in found] == [0, 2]


def test_the_button_says_what_it_launches_and_how_long_that_takes() -> None:
    first, second = finished({"momentum": 0.5}), finished({"momentum": 0.6})
    at = opened(first, second)
    (button,) = at.button
    assert button.label == "Train 3 seeds of each"
    assert "Launches 4 runs" in button.help
    assert "about 1 min 20 s" in button.help


def test_what_cannot_be_launched_is_said_in_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(config: object, placement: object = None) -> None:
        raise RunError("The disk is full: free some space.")

    at = opened(finished({"momentum": 0.5}), finished({"momentum": 0.6}))
    monkeypatch.setattr(runs, "launch_run", refuse)
    at = at.button[0].click().run()
    assert [error.value for error in at.error] == [
        "Not all seeds could be launched: The disk is full: free some space."
    ]


def test_what_was_not_trained_here_has_no_further_seeds() -> None:
    at = opened(finished(), imported())
    assert not at.button
    assert not at.get("page_link")
