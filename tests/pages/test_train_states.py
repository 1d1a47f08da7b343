"""Train: what stands there in one state of a run and not in another."""

import json
import time
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from ensemble import datasets
from ensemble.runs import Run
from ensemble.ui.shared import run_metrics
from tests.pages.ensembles import trained
from tests.pages.predictions_screen import opened
from tests.ui.train.test_history import epoch


def shown(
    share: float = 0.9,
    members: int = 2,
    train_nll: float | None = None,
    settings: dict[str, Any] | None = None,
    **status: Any,
) -> AppTest:
    """Train with a run of these settings whose last epoch reached this share."""
    run: Run = trained(members=members, done=1, **status)
    if settings:
        file = run.path / "config.json"
        kept = json.loads(file.read_text())
        file.write_text(json.dumps(kept | {"settings": kept["settings"] | settings}))
    rows = [epoch(1.0, [share] * members, share) | {"train_loss": [0.1] * members}]
    rows[0]["ensemble_train_nll"] = train_nll
    (run.path / "history.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return opened(run, "train")


def keys(at: AppTest) -> list[str | None]:
    return [button.key for button in at.button]


def captions(at: AppTest) -> list[str]:
    return [one.value for one in at.caption]


def metrics(at: AppTest) -> dict[str, str]:
    return {metric.label: metric.value for metric in at.metric}


def test_a_finished_run_has_no_bar_says_its_whole_speed_and_names_a_better_epoch() -> None:
    at = shown(best_ensemble_test_accuracy=0.95, best_epoch=1, img_member_per_s=9999.0, compile_seconds=9.2)
    assert not at.get("progress")
    assert not at.info
    assert not {"resume", "stop"} & set(keys(at))
    assert metrics(at)["Trained for"] == "40 s"
    # Ten steps of 128 images for each of two members in 40 s: not what the last calls reached.
    said = "At 64 img·member/s over the whole run; compiling took 9 s more."
    assert said in [one.help for one in at.metric]
    assert (
        "Best: 95.0 % after epoch 1 (kept: other screens show it when you choose it there); "
        "chosen on the test images: expect "
        "less on new ones."
    ) in captions(at)


def test_a_run_that_ended_early_says_why_and_gains_over_its_members() -> None:
    at = shown(message="Stopped early after epoch 1 of 2: the validation NLL has not fallen.", train_nll=0.01)
    (said,) = at.info
    assert said.value.startswith("Stopped early after epoch 1")
    assert said.icon == ":material/info:", "nothing is broken, nothing was mended"
    assert metrics(at)["Ensemble on 500 test digits"].startswith("90.0 %")
    assert "Over the average member" in metrics(at)
    assert not any(one.startswith("Best: ") for one in captions(at)), "it is the last"
    assert not any("no training curve" in one for one in captions(at))
    assert at.dataframe[0].value["train NLL"].tolist()[0] == "0.0100"


def test_a_stopped_run_says_why_and_can_be_resumed() -> None:
    at = shown(state="stopped", message="Stopped by hand after epoch 1.")
    assert at.get("progress")[0].proto.text == "Stopped after 1 epoch of 2"
    assert "resume" in keys(at)
    assert "Stopped by hand after epoch 1." in [one.value for one in at.caption]


def test_the_table_has_the_validation_figures_that_choices_are_made_by() -> None:
    row = epoch(1.0, [0.9, 0.8], 0.9) | {"train_loss": [0.1, 0.1]}
    info = datasets.find_dataset_info("digits")
    assert "validation NLL" not in run_metrics.tabulate_member_metrics(row, info)
    held = {"validation_loss": [0.31, 0.42], "ensemble_validation_nll": 0.25}
    table = run_metrics.tabulate_member_metrics(row | held, info)
    assert table["validation NLL"] == ["0.250", "0.310", "0.420"]


def test_the_time_left_is_shown_during_training_and_counts_down_between_two_reports() -> None:
    at = shown(state="training", seconds_left=3925.0, working=True, updated=time.time() - 300)
    assert metrics(at)["Time left"] == "1 h"
    assert "Trained for" not in metrics(at)


def test_one_member_gains_nothing_over_itself() -> None:
    found = metrics(shown(members=1))
    assert found["Accuracy on 500 test digits"].startswith("90.0 %")
    assert "Over the average member" not in found


def test_a_run_that_only_guesses_gets_no_tick_no_best_epoch_and_a_rate_to_try() -> None:
    low = {"ensemble_test_accuracy": 0.09, "member_test_accuracy": [0.09, 0.102]}
    at = shown(0.09, sure=0.0, best_ensemble_test_accuracy=0.1, best_epoch=1, step=100, **low)
    badges = [one.value for one in at.markdown if "badge[" in one.value]
    assert [one for one in badges if "finished at chance level" in one and "orange" in one]
    assert not [one for one in badges if "green" in one]
    assert not [one for one in at.caption if one.value.startswith("Best: ")]
    (said,) = [one.value for one in at.warning]
    assert said == "At chance level: 9.0 % right, guessing gives 10.2 %."
    assert [one for one in at.caption if one.value.startswith("The usual cause is a learning rate")]
    at.button(key="lower_rate").click().run()
    assert at.session_state["set_learning_rate"] == pytest.approx(0.03)


def test_a_member_that_only_guesses_is_named_and_the_run_keeps_its_tick() -> None:
    reached = {"ensemble_test_accuracy": 0.9, "member_test_accuracy": [0.9, 0.1]}
    at = shown(sure=[4.0, 0.0], step=100, **reached)
    assert [one.value for one in at.markdown if "green-badge[" in one.value]
    (said,) = [one.value for one in at.warning]
    assert said.startswith("Member 2 is at chance level: 10.0 % right, guessing gives 10.2 %.")


def test_a_run_by_an_earlier_version_shows_no_average_of_different_views() -> None:
    at = shown(settings={"shift_pixels": 2}, train_nll=0.01)
    table = at.dataframe[0].value
    assert table["train NLL"].tolist() == ["–", "0.100", "0.100"]
    assert "The ensemble has no training curve: each member shifts and turns its images anew." in captions(at)
