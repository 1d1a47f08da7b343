"""Rows of predictions without images that repeat exactly count once, unless by coincidence."""

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import ensemble
from ensemble import exchange, runs
from ensemble.cli.program import main
from ensemble.exchange.checks.repeated_rows import find_repeated_rows
from ensemble.views.evaluated_epoch import evaluate_epoch
from tests.exchange.given import LABELS, PROBABILITIES, C, N, saved
from tests.pages.predictions_screen import opened

PLACES = np.random.default_rng(0).permutation(np.tile(np.arange(N), 3))
NOTE = (
    "80 of the 120 examples repeat another one exactly: its label and all numbers of all members. "
    "They are taken as copies and count once."
)


def find(probabilities: np.ndarray, labels: np.ndarray) -> np.ndarray | None:
    return find_repeated_rows(probabilities[None].astype(np.float32), labels.astype(np.int32))


@pytest.mark.parametrize("members", [1, 3])
def test_copies_are_in_one_group(members: int) -> None:
    groups = find(PROBABILITIES[:members, PLACES], LABELS[PLACES])
    assert groups is not None
    assert groups.max() + 1 == N
    assert all(len(set(groups[place == PLACES])) == 1 for place in range(N))
    assert find(PROBABILITIES[:members], LABELS) is None


def test_rows_with_another_label_or_another_member_are_no_copies() -> None:
    twice = np.tile(np.arange(N), 2)
    labels = np.concatenate([LABELS, (LABELS + 1) % C])
    assert find(PROBABILITIES[:, twice], labels) is None
    other = PROBABILITIES[:, twice].copy()
    other[2, N:] = np.roll(other[2, N:], 1, axis=1)
    assert find(other, LABELS[twice]) is None


@pytest.mark.parametrize("members", [1, 2, 5])
@pytest.mark.parametrize("skill", [0.7, 0.99, 1.0])
@pytest.mark.parametrize("kind", ["hard", "soft", "leaves", "two decimals", "saturated"])
def test_few_values_repeat_by_coincidence(members: int, skill: float, kind: str) -> None:
    rng = np.random.default_rng(3)
    n, classes = 500, 4
    labels = rng.integers(classes, size=n)
    right = rng.random((members, n)) < skill
    votes = np.where(right, labels, rng.integers(classes, size=(members, n)))
    hard = np.eye(classes)[votes]
    leaves = rng.dirichlet(np.ones(classes), 3) + 3
    made = {
        "hard": hard,
        "soft": 0.8 * hard + 0.2 / classes,
        "leaves": hard * leaves[rng.integers(3, size=(members, n))],
        "two decimals": (0.3 + 3 * hard + rng.random((members, n, classes)) / 4).round(1),
        "saturated": np.where(right[..., None], hard, rng.dirichlet(np.ones(classes), right.shape)),
    }[kind]
    made = made / made.sum(axis=-1, keepdims=True)
    if kind == "two decimals":
        made = made.round(2)
    assert find(made, labels) is None


def test_rounded_numbers_that_meet_only_sometimes_are_no_copies() -> None:
    rng = np.random.default_rng(1)
    labels = rng.integers(2, size=1000)
    second = (1 / (1 + np.exp(1 - 2 * labels + rng.normal(0, 1.5, 1000)))).round(3)
    rounded = np.stack([1 - second, second], axis=-1)[None]
    assert len(np.unique(rounded[0, :, 1])) > 400
    assert find(rounded, labels) is None


def test_a_few_different_rows_do_not_show_copies() -> None:
    constant = np.tile([0.7, 0.2, 0.1], (2, 50, 1))
    assert find(constant, np.zeros(50)) is None
    assert find(PROBABILITIES[:, PLACES % 9], LABELS[PLACES % 9]) is None


def test_copies_are_reported_and_count_once_on_every_face(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    probabilities, labels = PROBABILITIES[:, PLACES], LABELS[PLACES]
    with pytest.warns(UserWarning, match="80 of the 120 examples repeat another one exactly"):
        run = ensemble.import_predictions(probabilities, labels)
    with pytest.warns(UserWarning, match="taken as copies and count once"):
        arrays = ensemble.Predictions.from_arrays(probabilities, labels)
    counted = run.predictions()
    assert counted.groups is not None
    assert arrays.groups is not None
    assert counted.groups.max() + 1 == arrays.groups.max() + 1 == N
    assert counted.interval == arrays.interval
    with_images = ensemble.import_predictions(
        probabilities, labels, images=np.random.default_rng(1).integers(256, size=(120, 8, 8))
    )
    assert with_images.predictions().groups is None

    file = saved(tmp_path, probabilities=probabilities, labels=labels)
    done = CliRunner().invoke(main, ["import", str(file)])
    assert NOTE in " ".join(json.loads(done.stdout)["notes"])
    assert NOTE in done.stderr

    at = opened(run.id, "inspect")
    captions = " ".join(str(one.value) for one in at.caption)
    assert "80 of the 120 examples are copies of others and count once." in captions

    report = tmp_path / "report.html"
    run.save_report(report)
    monkeypatch.setenv("ENSEMBLE_RUNS", str(tmp_path / "elsewhere"))
    assert CliRunner().invoke(main, ["import", str(report)]).exit_code == 0
    (copy,) = runs.list_runs()
    np.testing.assert_array_equal(evaluate_epoch(copy).predictions.groups, counted.groups)


def test_copies_join_the_groups_that_a_file_names() -> None:
    outputs = exchange.array_input.convert_arrays_to_outputs(
        PROBABILITIES[:, PLACES], LABELS[PLACES], groups=np.arange(120) // 60
    )
    run = runs.find_run(exchange.import_run(outputs).id)
    groups = runs.load_test_set(run).test_groups
    assert (groups.named, groups.copies) == (2, 80)
    assert groups.groups is not None
    assert groups.groups.max() == 0  # copies lie in both
