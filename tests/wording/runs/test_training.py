"""A run's training in words: its speed, its best epoch, and why a curve is not there."""

from dataclasses import replace
from typing import Any

import pytest

from ensemble import runs
from ensemble.config import EnsembleConfig
from ensemble.wording.runs import training

LAST = {"epoch": 1, "ensemble_test_accuracy": 0.9}


def build_run(settings: dict[str, Any] | None = None, **status: Any) -> runs.Run:
    """A finished run of two members after ten steps in 40 s."""
    run = runs.create_run(EnsembleConfig(**{"members": 2, **(settings or {})}))
    known: dict[str, Any] = {"state": "finished", "epoch": 1, "step": 10, "seconds": 40.0, "best_epoch": 1}
    known |= {"ensemble_test_accuracy": 0.9, "member_test_accuracy": [0.9, 0.9]}
    return replace(run, status=replace(run.status, **{**known, **status}))


@pytest.mark.parametrize(
    ("status", "said"),
    [
        ({"best_ensemble_test_accuracy": 0.95}, "Best: 95.0 % after epoch 1"),
        ({"best_ensemble_test_accuracy": 0.9}, ""),
        ({"best_ensemble_test_accuracy": 0.85, "best_on": "validation", "best_epoch": 7}, "Best: 85.0 % after epoch 7"),
        ({"best_ensemble_test_accuracy": 0.85, "best_on": "validation"}, ""),
        ({"best_ensemble_test_accuracy": 0.1, "ensemble_test_accuracy": 0.09}, ""),  # by chance
    ],
)
def test_the_best_epoch_is_named_where_it_is_not_the_last_with_what_it_was_chosen_on(
    status: dict[str, Any], said: str
) -> None:
    on = {"validation": "chosen on the validation images, not on the test images."}
    basis = on.get(status.get("best_on", ""), "chosen on the test images: expect less on new ones.")
    last = LAST | ({"ensemble_test_accuracy": 0.09} if "ensemble_test_accuracy" in status else {})
    expected = f"{said} (kept: other screens show it when you choose it there); {basis}" if said else ""
    assert training.describe_best_epoch(build_run(**status), last, last) == expected


def test_of_a_run_whose_figures_are_of_an_earlier_epoch_the_last_is_named() -> None:
    said = training.describe_best_epoch(build_run(), {"epoch": 4, "ensemble_test_accuracy": 0.95}, LAST | {"epoch": 6})
    assert said.startswith("After epoch 4, ")
    assert said.endswith("after epoch 6, the last: 90.0 %.")


@pytest.mark.parametrize(
    ("settings", "why"),
    [
        ({}, ""),
        ({"members": 1, "shift_pixels": 2}, ""),
        ({"shift_pixels": 2}, "each member shifts and turns its images anew."),
        ({"rotation_degrees": 5.0}, "each member shifts and turns its images anew."),
        ({"elastic_pixels": 1.0}, "each member distorts its images anew."),
        ({"flip": True}, "each member mirrors its images anew."),
        ({"bootstrap": True}, "each member learns from its own images."),
    ],
)
def test_members_with_views_of_their_own_have_no_training_curve_together(settings: dict[str, Any], why: str) -> None:
    said = f"The ensemble has no training curve: {why}" if why else ""
    assert training.explain_missing_training_curve(build_run(settings)) == said


@pytest.mark.parametrize(
    ("status", "said"),
    [
        ({"img_member_per_s": 9999.0, "compile_seconds": 9.2}, "; compiling took 9 s more."),
        ({"img_member_per_s": 9999.0}, "."),
    ],
)
def test_the_speed_is_that_of_the_whole_run_not_of_the_last_calls(status: dict[str, Any], said: str) -> None:
    assert training.describe_training_speed(build_run(**status)) == f"At 64 img·member/s over the whole run{said}"
