"""What a stress job has found so far: results.json, and the scores of OOD images."""

import math
import re
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from ensemble.analysis.example_measures import EXAMPLE_MEASURES
from ensemble.shift.corruptions import REFERENCE_SIDE, scale_corruptions
from ensemble.shift.shift_metrics import CorruptionMetrics, OodMetrics, ShiftMetrics
from ensemble.storage.arrays.damaged_file import DamagedFileError
from ensemble.storage.arrays.npy import ExpectedArray
from ensemble.storage.arrays.npz import read_arrays, write_arrays
from ensemble.storage.atomic_files import read_json, write_json
from ensemble.storage.records.field_checks import Count, NumberRange, check_json_value, parse_dataclass

STRESS_FOLDER = "stress"  # within that of a run
RESULTS_FORMAT = 1
KNOWN_KEY = "known"
# What out-of-distribution images are called in results.json and in the names of files: run folders
# of earlier versions have them so.
_STORED_OOD_KEY = "outside"

# Names that measures have in files of earlier versions.
_OLD_METRIC_NAMES = {
    "mean_information": "mean_epistemic",
    "mean_predictive_entropy": "mean_entropy",
    "mean_member_entropy": "mean_aleatoric",
}
_OLD_SCORE_NAMES = {"information": "epistemic", "mean_member_entropy": "aleatoric", "doubt": "confidence"}
# The arrays that a file of scores may have, of K images and M members: an earlier version knew fewer measures.
SCORE_ARRAYS = {
    "tick": ExpectedArray((), "int64"),
    **{name: ExpectedArray(("K",)) for name in (*EXAMPLE_MEASURES, *_OLD_SCORE_NAMES)},
    "member_entropy": ExpectedArray(("M", "K")),
}
_REQUIRED_SCORES = ("tick", "entropy", "member_entropy")
_MAX_PIXEL_BYTES = 2**30  # 7,133 images of 224×224 in colour; of 10,000 digits 8 MB
_MAX_SCORE_BYTES = 64 * 2**20  # 64 members on 10,000 images take 2.7 MB.

Metrics = dict[str, Any]
_KEY_PATTERN = re.compile(r"[a-z0-9_]+")
_PositiveCount = Annotated[int, NumberRange(1, 2**53)]


def count_measured_images(test_size: int, shape: tuple[int, int, int]) -> int:
    """How many of a test set of images of that shape are measured: the first `_MAX_PIXEL_BYTES`."""
    return max(1, min(test_size, _MAX_PIXEL_BYTES // math.prod(shape)))


@dataclass(frozen=True)
class StressResults:
    """What has been measured of one checkpoint.

    Attributes:
      tick: the checkpoint's number.
      epoch: epochs that it had done.
      steps_after: steps of the next epoch that it had done: more than 0 in a stopped run.
      dataset: the dataset, whose first `images` test images were used.
      images: how many.
      members: M.
      side: the images' shorter side in pixels, which the amounts go by.
      clean: the figures of `compute_shift_metrics` on the images as they are, once known.
      steps: one a corruption and amount: `kind`, `amount`, and those figures.
      ood: one a set of out-of-distribution images: `key`, `title`, `images`, and how well
        each of the ensemble's `measures` and the entropy of each of the `members` tell them from
        the dataset's own: see `SeparationMetrics`.
    """

    tick: Count
    epoch: Count
    steps_after: Count
    dataset: str
    images: _PositiveCount
    members: _PositiveCount
    format: int = RESULTS_FORMAT
    side: _PositiveCount = REFERENCE_SIDE
    clean: Metrics | None = None
    steps: list[Metrics] = field(default_factory=list)
    ood: list[Metrics] = field(default_factory=list)

    def has_same_subject(self, other: "StressResults") -> bool:
        """Whether both are of the same members and images."""
        return (self.format, self.tick, self.images) == (other.format, other.tick, other.images)

    @property
    def has_accuracy_estimates(self) -> bool:
        """Whether estimates without labels were made of all that is measured."""
        return all("accuracy_estimate" in step for step in [self.clean or {}, *self.steps])

    def list_corruption_steps(self, kind: str) -> list[Metrics]:
        """The figures of one kind from its neutral amount on, as far as they are known."""
        steps_by_amount = {step["amount"]: step for step in self.steps if step["kind"] == kind}
        corruption = scale_corruptions((self.side, self.side))[kind]
        if self.clean:
            steps_by_amount[corruption.neutral_amount] = {
                "kind": kind,
                "amount": corruption.neutral_amount,
                **self.clean,
            }
        return [steps_by_amount[amount] for amount in corruption.amounts if amount in steps_by_amount]


def stress_folder(run_folder: Path) -> Path:
    """Return the folder of a run's stress test, its results and its job."""
    return run_folder / STRESS_FOLDER


def read_stress_results(run_folder: Path) -> StressResults | None:
    """What results.json says; None where there is none, or one of another version."""
    try:
        stress_results = parse_stress_results(read_json(stress_folder(run_folder) / "results.json"))
    except (OSError, ValueError):
        return None
    return stress_results if stress_results.format == RESULTS_FORMAT else None


def parse_stress_results(stored: dict[str, Any]) -> StressResults:
    """The results of `serialize_stress_results`'s form; ValueError where a field is wrong."""
    results = parse_dataclass(StressResults, {**stored, "ood": stored.get(_STORED_OOD_KEY, [])})
    return _check_result_metrics(
        replace(
            results,
            clean=results.clean and _rename_old_metrics(results.clean),
            steps=[_rename_old_metrics(step) for step in results.steps],
            ood=[_rename_old_separations(ood_set) for ood_set in results.ood],
        )
    )


def _rename_old_metrics(metrics: Metrics) -> Metrics:
    renamed = {_OLD_METRIC_NAMES.get(name, name): value for name, value in metrics.items()}
    estimate = metrics.get("accuracy_estimate")
    if isinstance(estimate, dict) and estimate.get("unlike_measure") == "information":
        renamed["accuracy_estimate"] = {**estimate, "unlike_measure": "epistemic"}
    return renamed


def _rename_old_separations(ood_set: Metrics) -> Metrics:
    if "ensemble" not in ood_set:
        return ood_set
    others = {name: value for name, value in ood_set.items() if name not in ("ensemble", "information")}
    return {**others, "measures": {"entropy": ood_set["ensemble"], "epistemic": ood_set.get("information")}}


def _check_result_metrics(results: StressResults) -> StressResults:
    """The results of a file with their figures read too; ValueError where one is odd."""
    clean = check_json_value(ShiftMetrics | None, results.clean, "clean")
    steps = check_json_value(list[CorruptionMetrics], results.steps, "steps")
    ood = check_json_value(list[OodMetrics], results.ood, _STORED_OOD_KEY)
    if any("entropy" not in ood_set["measures"] for ood_set in ood):
        raise ValueError("a set of images has no entropy")
    lists = [ood_set["members"] for ood_set in ood]
    for metrics in [*filter(None, [clean]), *steps]:
        lists += [metrics["member_accuracy"], metrics["member_nll"], metrics["member_ece"]]
    if any(len(members) != results.members for members in lists):
        raise ValueError("the members are not as many everywhere")
    if not all(_KEY_PATTERN.fullmatch(ood_set["key"]) for ood_set in ood):  # It is part of a file's name.
        raise ValueError("a set of images has a name that is none")
    return replace(results, clean=clean, steps=steps, ood=ood)


def write_stress_results(run_folder: Path, results: StressResults) -> None:
    """Replace results.json."""
    write_json(stress_folder(run_folder) / "results.json", serialize_stress_results(results))


def serialize_stress_results(results: StressResults) -> dict[str, Any]:
    """The results in the form of the file."""
    stored = asdict(results)
    stored[_STORED_OOD_KEY] = stored.pop("ood")
    return stored


def ood_scores_path(run_folder: Path, key: str) -> Path:
    """The file with the scores of a set of images; `KNOWN_KEY` are the dataset's own."""
    return stress_folder(run_folder) / f"{_STORED_OOD_KEY}-{key}.npz"


def write_ood_scores(run_folder: Path, key: str, tick: int, scores: dict[str, NDArray[Any]]) -> None:
    """Write the scores that a checkpoint gives a set of images.

    Args:
      run_folder: the run's.
      key: the set's.
      tick: the checkpoint's number.
      scores: arrays (K,) by the names of measures, today's or earlier ones, and `member_entropy` (M, K).
    """
    small = {name: np.asarray(values, np.float32) for name, values in _rename_old_scores(scores).items()}
    arrays: dict[str, NDArray[Any]] = {"tick": np.asarray(tick, np.int64), **small}
    write_arrays(ood_scores_path(run_folder, key), arrays, compressed=True)


def read_ood_scores(run_folder: Path, key: str, tick: int) -> dict[str, NDArray[np.float32]] | None:
    """What `write_ood_scores` wrote of that checkpoint; None where it is missing or damaged."""
    try:
        path = ood_scores_path(run_folder, key)
        scores = read_arrays(path, SCORE_ARRAYS, _MAX_SCORE_BYTES, required=_REQUIRED_SCORES)
    except (OSError, DamagedFileError):
        return None
    return _rename_old_scores(scores) if scores.pop("tick") == tick else None


def _rename_old_scores(scores: dict[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """Give scores of an earlier version today's names; its `doubt` was 1 − confidence."""
    return {
        _OLD_SCORE_NAMES.get(name, name): 1 - values if name == "doubt" else values for name, values in scores.items()
    }
