"""What diversity buys and how often members differ, epoch by epoch, as the component gets them."""

import json
from typing import Any

import numpy as np
import pytest
from sklearn.metrics import hamming_loss, log_loss

from ensemble.engine import Evaluation
from ensemble.runs.training.task_records import compute_member_disagreement, compute_split_metrics
from ensemble.storage.records.json_lines import convert_to_json
from ensemble.ui.train import curve_panels
from tests.analysis.draws import distributions
from tests.ui.train.test_history import steps

LABELS = np.random.default_rng(5).integers(0, 10, 500)


def closed(epoch: int, members: int, seed: int) -> tuple[dict[str, Any], np.ndarray]:
    """A line as the worker writes it at an epoch's end, and the probabilities it is of."""
    drawn = distributions(members, 500, 10, seed).astype(float)
    drawn /= drawn.sum(-1, keepdims=True)
    said = drawn.mean(0)
    tested = Evaluation(
        drawn,
        np.array([log_loss(LABELS, one, labels=range(10)) for one in drawn]),
        (drawn.argmax(-1) == LABELS).mean(1),
        log_loss(LABELS, said, labels=range(10)),
        (said.argmax(-1) == LABELS).mean(),
    )
    place = {"kind": "epoch", "epoch": epoch, "step": 1, "progress": float(epoch)}
    return convert_to_json(
        {**place, **compute_split_metrics("test", tested), **compute_member_disagreement(tested)}
    ), drawn


def run_of(members: int) -> tuple[list[dict[str, Any]], list[np.ndarray]]:
    lines, drawn = zip(*[closed(epoch, members, epoch) for epoch in (1, 2, 3)], strict=True)
    return [steps(0.5, *[1.0] * members), *lines], list(drawn)


def curve(panel: dict[str, Any], who: str) -> list[float]:
    return next(line["y"] for line in panel["lines"] if line["who"] == who)


@pytest.mark.parametrize("members", [2, 5])
def test_what_diversity_buys_is_the_difference_that_scikit_learn_finds(members: int) -> None:
    rows, drawn = run_of(members)
    gain = curve_panels.build_diversity_panel(rows, members, log=True)
    for who, expected in (
        ("mean", [np.mean([log_loss(LABELS, one) for one in three]) for three in drawn]),
        ("ensemble", [log_loss(LABELS, three.mean(0)) for three in drawn]),
    ):
        assert curve(gain, who) == pytest.approx(expected, rel=1e-4)
    last = np.mean([log_loss(LABELS, one) for one in drawn[-1]])
    bought = last - log_loss(LABELS, drawn[-1].mean(0))
    assert gain["band"]["label"] == f"gain {bought:.2g}"
    assert bought > 0
    assert "note" not in gain


def test_how_often_members_differ_is_counted_pair_by_pair_and_against_the_ensemble() -> None:
    rows, drawn = run_of(3)
    differ = curve_panels.build_disagreement_panel(rows, 3, 500, log=True)
    voted = [three.argmax(-1) for three in drawn]
    pairs = [np.mean([hamming_loss(a, b) for a, b in ((x, y), (y, z), (x, z))]) for x, y, z in voted]
    assert curve(differ, "pairs") == pytest.approx(pairs, rel=1e-4)
    apart = [hamming_loss(three.mean(0).argmax(-1), three[1].argmax(-1)) for three in drawn]
    assert curve(differ, "member 2") == pytest.approx(apart, rel=1e-4)
    json.dumps(differ, allow_nan=False)


def test_one_member_and_a_first_epoch_that_goes_on_have_a_sentence_in_the_pictures_place() -> None:
    early, _ = run_of(3)
    for panel in (
        curve_panels.build_diversity_panel(early[:1], 3, True),
        curve_panels.build_disagreement_panel(early[:1], 3, 500, True),
    ):
        assert (panel["note"], panel["lines"]) == (curve_panels.TOO_EARLY_NOTE, [])
    alone, _ = run_of(1)
    for panel in (
        curve_panels.build_diversity_panel(alone, 1, True),
        curve_panels.build_disagreement_panel(alone, 1, 500, True),
    ):
        assert (panel["note"], panel["lines"]) == (curve_panels.SINGLE_MEMBER_NOTE, [])


def test_a_run_that_recorded_no_disagreement_says_so_and_keeps_its_other_pictures() -> None:
    rows, _ = run_of(2)
    older = [{k: v for k, v in row.items() if "disagreement" not in k} for row in rows]
    assert curve_panels.build_disagreement_panel(older, 2, 500, True)["note"] == curve_panels.NOT_RECORDED_NOTE
    assert "note" not in curve_panels.build_diversity_panel(older, 2, True)
    # One that was stopped, and went on with this version, has a curve from there.
    differ = curve_panels.build_disagreement_panel([*older, closed(4, 2, 4)[0]], 2, 500, True)
    assert [line["x"] for line in differ["lines"]] == [[4.0]] * 3


@pytest.mark.parametrize("log", [True, False])
def test_every_axis_says_what_it_does(log: bool) -> None:
    rows, _ = run_of(2)
    places = curve_panels.build_curve_panels(rows, members=2, n_test=500, log=log, smoothing=0.0)
    said = {panel["name"]: panel["axis"] for choices in places for panel in choices}
    assert list(said) == ["loss", "accuracy", "diversity", "disagreement"]
    assert all(("log" in axis or "stretched" in axis) == log for axis in said.values())
