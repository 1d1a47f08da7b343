"""What is made of a measuring's results, from figures written down by hand."""

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from ensemble import runs
from ensemble.cli.stress_and_regression import summarize_stress
from ensemble.config import EnsembleConfig
from ensemble.runs.checkpoints.folders import find_last_tick
from ensemble.shift import StressState
from ensemble.shift.corruptions import CORRUPTION_KINDS
from ensemble.shift.results import (
    StressResults,
    parse_stress_results,
    read_ood_scores,
    read_stress_results,
    serialize_stress_results,
    write_stress_results,
)
from ensemble.shift.shift_metrics import ShiftMetrics

ESTIMATE = {
    "images": 20,
    "accuracy": 0.6,
    "agreement": None,
    "confidence": [0.7, 0.6, 0.8],
    "threshold": [0.75, 0.65, 0.85],
    "unlike_p": 0.001,
    "unlike_measure": "entropy",
}


def figures(accuracy: float) -> dict[str, Any]:
    """Of two members."""
    half = {name: [0.5, 0.5] if name.startswith("member") else 0.5 for name in ShiftMetrics.__annotations__}
    trust = {
        "confidence_gap": [-0.1, 0.2],
        "error_auroc": [0.7, 0.6, 0.8],
        "answered": 30,
        "answered_wrong": 2,
        "answered_error": [0.01, 0.2],
        "groups": 40,
        "accuracy_fit": None,
        "accuracy_estimate": ESTIMATE,
    }
    return {**half, **trust, "ensemble_accuracy": accuracy}


FIRST, SECOND = CORRUPTION_KINDS["rotation"].amounts[1:3]
RESULTS = StressResults(
    tick=11,
    epoch=1,
    steps_after=0,
    dataset="digits",
    images=40,
    members=2,
    clean=figures(0.9),
    steps=[
        {"kind": "rotation", "amount": SECOND, **figures(0.6)},
        {"kind": "rotation", "amount": FIRST, **figures(0.8)},
    ],
    ood=[
        {
            "key": "noise",
            "title": "Noise",
            "images": 40,
            "measures": {"entropy": {"auroc": 0.95, "fpr95": 0.2}, "epistemic": {"auroc": 0.8, "fpr95": 0.3}},
            "members": [{"auroc": 0.7, "fpr95": 0.4}, {"auroc": 0.9, "fpr95": 0.3}],
        }
    ],
)


def test_results_of_an_earlier_version_are_read_without_what_it_did_not_measure() -> None:
    stored = json.loads(json.dumps(serialize_stress_results(RESULTS)))
    for one in (stored["clean"], *stored["steps"]):
        for name in ("mean_confidence", "confidence_gap", "error_auroc", "answer_threshold"):
            del one[name]
        del one["accuracy_fit"], one["accuracy_estimate"]
    found = parse_stress_results(stored)
    assert found.clean is not None
    assert RESULTS.has_accuracy_estimates
    assert not found.has_accuracy_estimates
    stored["clean"] = json.loads(json.dumps(serialize_stress_results(RESULTS)))["clean"]
    assert not parse_stress_results(stored).has_accuracy_estimates, "the corrupted images are without"
    assert "error_auroc" not in found.clean
    assert found.clean["ensemble_accuracy"] == 0.9


def test_results_with_the_measure_names_of_an_earlier_version_are_read() -> None:
    stored = json.loads(json.dumps(serialize_stress_results(RESULTS)))
    for one in (stored["clean"], *stored["steps"]):
        one["mean_information"] = one.pop("mean_epistemic")
        one["mean_predictive_entropy"] = one.pop("mean_entropy")
        one["mean_member_entropy"] = one.pop("mean_aleatoric")
        one["accuracy_estimate"]["unlike_measure"] = "information"
    (noise,) = stored["outside"]
    measures = noise.pop("measures")
    noise |= {"ensemble": measures["entropy"], "information": measures["epistemic"]}
    found = parse_stress_results(stored)
    assert found.ood == RESULTS.ood
    assert found.clean is not None
    assert found.clean["accuracy_estimate"]["unlike_measure"] == "epistemic"
    assert found.clean.keys() == figures(0.9).keys()
    assert [step.keys() for step in found.steps] == [step.keys() for step in RESULTS.steps]


def test_scores_with_the_names_of_an_earlier_version_are_read() -> None:
    run = runs.create_run(EnsembleConfig(members=2))
    (run.path / "stress").mkdir()
    wanted = {"entropy": [0.5, 0.25], "epistemic": [0.1, 0.2], "aleatoric": [0.4, 0.05], "confidence": [0.75, 0.5]}
    members = np.array([[0.5, 0.25], [0.75, 1]], np.float32)
    wanted_arrays = {name: np.array(values, np.float32) for name, values in wanted.items()}
    old = {
        "tick": np.int64(3),
        "entropy": wanted_arrays["entropy"],
        "information": wanted_arrays["epistemic"],
        "doubt": np.array([0.25, 0.5], np.float32),
        "mean_member_entropy": wanted_arrays["aleatoric"],
        "member_entropy": members,
    }
    path = run.path / "stress" / "outside-known.npz"
    np.savez_compressed(path, **old)
    found = read_ood_scores(run.path, "known", 3)
    assert found is not None
    assert found.keys() == {*wanted, "member_entropy"}
    for name, values in {**wanted_arrays, "member_entropy": members}.items():
        np.testing.assert_array_equal(found[name], values)
    np.savez_compressed(path, **old, unheard=members)
    assert read_ood_scores(run.path, "known", 3) is None


def test_a_curve_begins_with_the_images_as_they_are_and_goes_by_amount() -> None:
    curve = RESULTS.list_corruption_steps("rotation")
    assert [one["amount"] for one in curve] == [CORRUPTION_KINDS["rotation"].neutral_amount, FIRST, SECOND]
    assert [one["ensemble_accuracy"] for one in curve] == [0.9, 0.8, 0.6]
    assert len(replace(RESULTS, clean=None).list_corruption_steps("rotation")) == 2


@pytest.mark.parametrize(
    ("changes", "same"),
    [
        ({}, True),
        ({"steps": [], "clean": None}, True),
        ({"tick": 12}, False),
        ({"images": 41}, False),
        ({"format": 0}, False),
    ],
)
def test_other_members_or_images_are_another_question(changes: dict[str, Any], same: bool) -> None:
    assert RESULTS.has_same_subject(replace(RESULTS, **changes)) is same


def test_what_is_on_disk_is_named_as_in_earlier_versions_and_read_back() -> None:
    run = runs.create_run(EnsembleConfig(members=2))
    (run.path / "stress").mkdir()
    write_stress_results(run.path, RESULTS)
    stored = json.loads((run.path / "stress" / "results.json").read_text("utf-8"))
    assert stored["outside"][0]["key"] == "noise"
    assert "ood" not in stored
    assert read_stress_results(run.path) == RESULTS


def test_the_summary_has_the_mean_of_what_single_members_tell() -> None:
    run = runs.create_run(EnsembleConfig(members=2))
    found = summarize_stress(StressState(run, None, RESULTS, 11))
    (noise,) = found["outside"]
    assert noise == {
        "key": "noise",
        "auroc": 0.95,
        "fpr95": 0.2,
        "measures": RESULTS.ood[0]["measures"],
        "member_auroc": pytest.approx(0.8),
    }
    assert [step["kind"] for step in found["steps"]] == [None, "rotation", "rotation"]
    assert [step["ensemble_accuracy"] for step in found["steps"]] == [0.9, 0.6, 0.8]
    assert summarize_stress(StressState(run, None, None, 11)) == {}


def swapped(value: Any, swap: Any) -> Iterator[Any]:
    """`value` with `swap` in the place of one of its fields, each in turn, however deep."""
    if isinstance(value, dict | list):
        for name, one in value.items() if isinstance(value, dict) else enumerate(value):
            for changed in (swap, *swapped(one, swap)):
                copy = value.copy()
                copy[name] = changed
                yield copy


@pytest.mark.parametrize("swap", [True, 1e309, {"x": [None]}, 10**400, [[1]]], ids="12345")
def test_results_with_a_field_that_is_something_else_count_as_none(swap: Any) -> None:
    run = runs.create_run(EnsembleConfig(members=2))
    (run.path / "stress").mkdir()
    write_stress_results(run.path, RESULTS)
    path = run.path / "stress" / "results.json"
    for odd in swapped(json.loads(path.read_text()), swap):
        path.write_text(json.dumps(odd))
        assert read_stress_results(run.path) is None, odd


def test_a_set_of_images_whose_name_is_a_path_is_none() -> None:
    run = runs.create_run(EnsembleConfig(members=2))
    (run.path / "stress").mkdir()
    write_stress_results(run.path, replace(RESULTS, ood=[{**RESULTS.ood[0], "key": "../../other"}]))
    assert read_stress_results(run.path) is None


def test_the_last_checkpoint_is_found_beside_folders_of_any_name() -> None:
    run = runs.create_run(EnsembleConfig())
    for name in ("3", "12", "²", "٣٣", "12.tmp", "-1"):
        (run.path / "checkpoints" / name).mkdir(parents=True)
    assert find_last_tick(run.path) == 12
