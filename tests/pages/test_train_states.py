"""Train: what stands there in one state of a run and not in another."""

import json
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from ensemble.runs import Run
from tests.pages.ensembles import trained
from tests.pages.predictions_screen import opened
from tests.ui.train.test_history import epoch


def shown(share: float = 0.9, members: int = 2, **status: Any) -> AppTest:
    """Train with a run whose last epoch reached this share."""
    run: Run = trained(members=members, done=1, **status)
    rows = [epoch(1.0, [share] * members, share) | {"train_loss": [0.1] * members}]
    (run.path / "history.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return opened(run, "train")


def keys(at: AppTest) -> list[str | None]:
    return [button.key for button in at.button]


def metrics(at: AppTest) -> dict[str, str]:
    return {metric.label: metric.value for metric in at.metric}


def test_a_finished_run_has_no_bar_and_nothing_to_resume() -> None:
    at = shown()
    assert not at.get("progress")
    assert not {"resume", "stop"} & set(keys(at))


def test_a_finished_run_says_what_happened_on_the_way() -> None:
    assert not shown().info
    at = shown(message="Checkpoint 44 is damaged and was set aside.")
    assert [one.value for one in at.info] == ["Checkpoint 44 is damaged and was set aside."]


def test_a_stopped_run_says_why_and_can_be_resumed() -> None:
    at = shown(state="stopped", message="Stopped by hand after epoch 1.")
    assert at.get("progress")[0].proto.text == "Stopped after 1 epoch of 2"
    assert "resume" in keys(at)
    assert "Stopped by hand after epoch 1." in [one.value for one in at.caption]


def test_the_time_left_stands_there_while_it_trains() -> None:
    at = shown(state="training", seconds_left=65.0, working=True)
    assert metrics(at)["Time left"] == "1 min 5 s"
    assert "Trained for" not in metrics(at)


@pytest.mark.parametrize(("best", "said"), [(0.95, True), (0.9, False)])
def test_the_best_epoch_is_named_where_it_is_not_the_last(best: float, said: bool) -> None:
    at = shown(best_ensemble_test_accuracy=best, best_epoch=1)
    assert ("Best: 95.0 % after epoch 1, kept as a checkpoint; chosen on the test images: on new "
            "ones expect less." in [one.value for one in at.caption]) == said  # fmt: skip
    assert any(one.value.startswith("Best: ") for one in at.caption) == said


@pytest.mark.parametrize(("best", "said"), [(7, True), (1, False)])
def test_by_validation_the_best_epoch_is_named_though_the_last_tests_better(
    best: int, said: bool
) -> None:
    at = shown(best_ensemble_test_accuracy=0.85, best_epoch=best, best_on="validation")
    assert ("Best: 85.0 % after epoch 7, kept as a checkpoint; chosen on the validation images, "
            "not on the test images." in [one.value for one in at.caption]) == said  # fmt: skip


@pytest.mark.parametrize(("members", "who"), [(1, "Accuracy"), (2, "Ensemble")])
def test_one_member_gains_nothing_over_itself(members: int, who: str) -> None:
    found = metrics(shown(members=members))
    assert found[f"{who} on 500 test digits"].startswith("90.0 %")
    assert ("Over the mean member" in found) == (members > 1)
