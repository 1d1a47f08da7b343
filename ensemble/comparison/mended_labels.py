"""Two runs on two versions of a dataset, judged on the test images that both have.

The labels are those of the newer version for both, and images that one version alone has are left
out for both. Labels of test images that were mended by looking at members' answers favour whoever
answers like them: so the same is told of the images whose labels nobody has changed.
"""

from collections import defaultdict, deque
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ensemble import runs
from ensemble.analysis.members.gain import PairedGain, compute_gain
from ensemble.analysis.predictions import EnsemblePredictions, evaluate_predictions
from ensemble.analysis.quality.averaging import Ints
from ensemble.comparison.run_measures import select_compared_epoch
from ensemble.datasets.decisions.label_decision import checksum_image
from ensemble.datasets.own import custom_registry
from ensemble.errors import RunError
from ensemble.runs.store import Run
from ensemble.runs.test_set import TestSet


@dataclass(frozen=True, eq=False)
class MendedComparison:
    """What a run on mended labels is better by than one on the labels of before.

    Attributes:
      gain: on the test images that both versions have, by the mended labels. Positive is better.
      unchanged_gain: on those of them whose labels are the same in both; None where there is none.
      relabeled: how many of the test images have another label now.
      left_out: how many test images one version alone has.
      mended: how many labels became others and images were removed, of both splits, as the newer
        version's note says; None where it does not, or it was made of another dataset.
      epoch: after which the run is judged.
      other_epoch: after which the other is.
    """

    gain: PairedGain
    unchanged_gain: PairedGain | None
    relabeled: int
    left_out: int
    mended: tuple[int, int] | None
    epoch: int
    other_epoch: int


def compare_mended_runs(run: Run, other: Run) -> MendedComparison:
    """What a run is better by than one on an earlier version of its dataset.

    Args:
      run: on the newer version, whose labels judge both.
      other: on the version of before.

    Raises:
      NotPreparedError: a dataset is not on this machine any more.
      RunError: one has no predictions, or they have no test images in common.
    """
    if list(run.data.class_names) != list(other.data.class_names):
        raise RunError(
            f"The runs “{run.name}” and “{other.name}” know different classes: compare two that "
            "were trained on versions of one dataset."
        )
    epoch, other_epoch = select_compared_epoch(run)[0], select_compared_epoch(other)[0]
    tests, other_tests = runs.load_test_set(run), runs.load_test_set(other)
    numbers, other_numbers = _match_images(tests, other_tests)
    if not len(numbers):
        raise RunError(
            f"The runs “{run.name}” and “{other.name}” have no test image in common: compare two "
            "that were trained on versions of one dataset."
        )
    labels, other_labels = tests.labels[numbers], other_tests.labels[other_numbers]
    averaged = _load_predictions(run, epoch, tests).averaged[numbers]
    other_averaged = _load_predictions(other, other_epoch, other_tests).averaged[other_numbers]
    groups = None if tests.groups is None else _renumber_groups(tests.groups[numbers])
    same = labels == other_labels
    unchanged = None
    if same.any():
        unchanged = compute_gain(
            averaged[same],
            other_averaged[same],
            labels[same],
            None if groups is None else _renumber_groups(groups[same]),
        )
    return MendedComparison(
        gain=compute_gain(averaged, other_averaged, labels, groups),
        unchanged_gain=unchanged,
        relabeled=int((~same).sum()),
        left_out=len(tests.labels) + len(other_tests.labels) - 2 * len(numbers),
        mended=_count_mended(run, other),
        epoch=epoch,
        other_epoch=other_epoch,
    )


def is_mended_version(run: Run, other: Run) -> bool:
    """Whether a run's dataset was made by mending the labels of the other's."""
    return _count_mended(run, other) is not None


def _count_mended(run: Run, other: Run) -> tuple[int, int] | None:
    if run.training_config is None or other.training_config is None:
        return None
    note = custom_registry.read_custom_note(run.training_config.dataset)
    if (
        note is None
        or note.fingerprint != run.data.fingerprint
        or note.relabeled_from != other.training_config.dataset
        or note.relabeled_fingerprint != other.data.fingerprint
    ):
        return None
    return sum(note.relabeled), sum(note.removed)


def _match_images(tests: TestSet, other_tests: TestSet) -> tuple[Ints, Ints]:
    """The numbers of the images that both have, in either; copies are matched in their order."""
    if tests.images is None or other_tests.images is None:
        raise RunError("Without images nobody can tell which of two test sets are the same.")
    places = defaultdict[str, deque[int]](deque)
    for number in range(len(other_tests.labels)):
        places[checksum_image(other_tests.images, number)].append(number)
    pairs = [
        (number, places[checksum].popleft())
        for number in range(len(tests.labels))
        if places[checksum := checksum_image(tests.images, number)]
    ]
    numbers, other_numbers = np.array(pairs, np.int64).reshape(-1, 2).T
    return numbers, other_numbers


def _load_predictions(run: Run, epoch: int, tests: TestSet) -> EnsemblePredictions:
    return evaluate_predictions(runs.read_run_predictions(run.id, epoch), tests.labels)


def _renumber_groups(groups: Ints) -> NDArray[np.int64]:
    """The same groups by numbers from 0, without gaps."""
    return np.unique(groups, return_inverse=True)[1]
