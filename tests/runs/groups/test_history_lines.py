"""Lines of a run's history from those of two groups, of which one has told less than the other."""

from typing import Any

import pytest

from ensemble.runs.groups.history_lines import join_group_lines, join_lines_by


def build_line(step: int, members: int, **figures: Any) -> dict[str, Any]:
    place = {"kind": "steps", "epoch": 1, "step": step, "progress": step / 10}
    return {**place, "train_loss": [0.5] * members, "seconds": 2.0, "img_member_per_s": 10.0, **figures}


@pytest.mark.parametrize(("rate", "expected"), [(30.0, 40.0), (None, None), (0.0, None)])
def test_the_speed_is_known_when_that_of_every_group_is(rate: float | None, expected: float | None) -> None:
    joined = join_group_lines([build_line(5, 2), build_line(5, 1, img_member_per_s=rate, seconds=3.0)], [2, 1])
    assert joined["img_member_per_s"] == expected
    assert joined["seconds"] == 3.0


def test_figures_of_one_group_have_gaps_where_the_other_has_no_values() -> None:
    first = {5: build_line(5, 2, train_accuracy=[0.25, 0.75]), 10: build_line(10, 2)}
    earlier, later = join_lines_by("step", [first, {5: build_line(5, 1, train_loss=[1.5])}], [2, 1])
    assert earlier["train_loss"] == [0.5, 0.5, 1.5]
    assert earlier["ensemble_train_loss"] == pytest.approx(2.5 / 3)
    assert earlier["train_accuracy"] == [0.25, 0.75, None]
    assert later["train_loss"] == [0.5, 0.5, None]
    assert later["ensemble_train_loss"] is None
