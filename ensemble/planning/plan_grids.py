"""The map of a run's plans, from the predictions of every epoch that it keeps.

What was made of an epoch's file is cached on disk, so that a map is there at once the next time.
"""

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ensemble.analysis.inference.image_groups import select_groups
from ensemble.analysis.planning.committee_scores import CommitteeScores, list_committee_sizes, score_committees
from ensemble.analysis.planning.plan_grid import PlanGrid, build_plan_grid
from ensemble.analysis.predictions import MAX_SHOWN_MEMBERS
from ensemble.datasets.partition.split import select_validation_indices
from ensemble.errors import RunError
from ensemble.runs.epoch_files import locate_epoch_file
from ensemble.runs.history import list_prediction_epochs, read_run_predictions, read_validation_predictions
from ensemble.runs.store import Run, require_training_config
from ensemble.runs.test_set import load_run_dataset, load_test_set
from ensemble.storage.arrays.array_digest import digest_named_arrays
from ensemble.storage.arrays.disk_cache import load_or_compute_arrays
from ensemble.storage.arrays.npz import Arrays

MOST_EPOCHS = 24
_MOST_SCORES = 10_000_000  # epochs times sizes times examples: 80 MB
_THREADS = 4

Labels = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class PlanGrids:
    """The maps of a run, of the members who went on to the last epoch.

    Attributes:
      test: on the test images, which is reported.
      validation: on the images held out, by which plans are chosen; None where there are none.
      kept_epochs: how many epochs have predictions: more than the map has where they are too many.
      left_out: why an epoch is not in it, a sentence each.
    """

    test: PlanGrid
    validation: PlanGrid | None
    kept_epochs: int
    left_out: tuple[str, ...]

    @property
    def selection_split(self) -> str:
        """On which images plans are chosen: "validation" or "test"."""
        return "validation" if self.validation else "test"


def load_plan_grids(run: Run) -> PlanGrids:
    """The maps of a run, of every epoch that it keeps or as many as can be looked at.

    Raises:
      NotPreparedError: its dataset is not on this machine any more.
      RunError: it was trained elsewhere, or has no predictions that can be read.
    """
    config = require_training_config(run)
    kept = list_prediction_epochs(run.id)
    if not kept:
        raise RunError(f"The run “{run.id}” has no predictions yet: wait for the end of its first epoch.")
    data, test_set = load_run_dataset(run), load_test_set(run)
    judged = len(list_committee_sizes(config.members)) * max(1, config.members // MAX_SHOWN_MEMBERS)
    epochs = select_grid_epochs(kept, judged * len(data.test_labels))
    test, problems = _score_epochs(run, "predictions", epochs, data.test_labels, read_run_predictions)
    if not test:
        raise RunError(problems[0])
    held: dict[int, CommitteeScores] = {}
    held_groups = None
    if config.validation:
        chosen = select_validation_indices(config, data)
        labels, held_groups = data.train_labels[chosen], select_groups(data.train_groups, chosen)
        held, more = _score_epochs(run, "validation", tuple(test), labels, read_validation_predictions)
        problems += more
    if held:  # both maps have the same epochs
        test = {epoch: test[epoch] for epoch in held}
    return PlanGrids(
        build_plan_grid(tuple(test), tuple(test.values()), test_set.groups),
        build_plan_grid(tuple(held), tuple(held.values()), held_groups) if held else None,
        len(kept),
        tuple(problems),
    )


def select_grid_epochs(kept: Sequence[int], each: int) -> tuple[int, ...]:
    """The epochs of a map: all of a few, else evenly spread ones with the first and the last."""
    most = max(2, min(MOST_EPOCHS, _MOST_SCORES // max(1, each)))
    places = np.linspace(0, len(kept) - 1, min(len(kept), most)).round().astype(int)
    return tuple(kept[place] for place in np.unique(places))


def _score_epochs(
    run: Run, what: str, epochs: Sequence[int], labels: Labels, read: Callable[[str, int], NDArray[np.float32]]
) -> tuple[dict[int, CommitteeScores], list[str]]:
    labels_digest, left = (digest_named_arrays([("labels", labels)]), run.remaining_members(epochs[-1]))

    def score_epoch(epoch: int) -> CommitteeScores | str:
        there = run.remaining_members(epoch)
        # Of who was set aside later the epochs before are there: all are of the same members.
        rows = [place for place, member in enumerate(there) if member in left]
        cache_key = f"{run.id} {what} {epoch} {_file_stamp(locate_epoch_file(run.path, what, epoch))} {labels_digest}"
        cache_key += f" {rows}" if len(rows) < len(there) else ""
        try:
            arrays = load_or_compute_arrays(
                "plan",
                cache_key,
                lambda: _pack_scores(score_committees(_select_members(read(run.id, epoch), rows), labels)),
            )
        except RunError as error:
            return str(error)
        return _unpack_scores(arrays)

    threads = min(_THREADS, os.cpu_count() or 1) if len(left) <= MAX_SHOWN_MEMBERS else 1  # each holds an epoch
    with ThreadPoolExecutor(threads) as pool:
        results = dict(zip(epochs, pool.map(score_epoch, epochs), strict=True))
    scores = {epoch: result for epoch, result in results.items() if isinstance(result, CommitteeScores)}
    return scores, [result for result in results.values() if isinstance(result, str)]


def _select_members(probabilities: NDArray[np.float32], rows: list[int]) -> NDArray[np.float32]:
    return probabilities if len(rows) == len(probabilities) else probabilities[rows]


def _file_stamp(path: Path) -> tuple[int, int]:
    """Changes when the file does; one that is not there is reported by whoever reads it."""
    try:
        stat = path.stat()
    except OSError:
        return 0, 0
    return stat.st_mtime_ns, stat.st_size


def _pack_scores(scores: CommitteeScores) -> Arrays:
    return {
        "sizes": scores.sizes,
        "right": scores.right,
        "nll": scores.nll,
        "member_right": scores.member_right,
        "member_nll": scores.member_nll,
    }


def _unpack_scores(arrays: Arrays) -> CommitteeScores:
    return CommitteeScores(int(arrays["sizes"][-1]), **arrays)
