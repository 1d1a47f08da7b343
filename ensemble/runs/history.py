"""history.jsonl and predictions/: what a run has to show, as it goes.

A line of history is one JSON object; accuracies in [0, 1], losses in nats, a number that
is not finite stands as null. Lines of `"kind": "steps"` are means over the steps since
the line before; lines of `"kind": "epoch"` close an epoch with the whole test set.
"""

import re
from pathlib import Path

import numpy as np

from ensemble.datasets import registry
from ensemble.jobs.folders import folder_of
from ensemble.runs.epoch_files import damaged, epoch_file, read_epoch
from ensemble.runs.store import find
from ensemble.storage.arrays.npy import Expected
from ensemble.storage.arrays.npz import write_arrays
from ensemble.storage.records.lines import Line, read_lines

EPOCH_FILE = re.compile(r"epoch-(\d+)\.npz")
ROUNDING = 1e-3  # A softmax in few bits may round to a little more than 1.


def read_history(run_id: str) -> list[Line]:
    """All whole lines of a run's history; one cut short by a kill is left out."""
    return read_lines(folder_of(run_id) / "history.jsonl")


def write_predictions(folder: Path, epoch: int, probabilities: np.ndarray) -> None:
    """Keep an epoch's test probabilities (M, N, C)."""
    path = epoch_file(folder, "predictions", epoch)
    path.parent.mkdir(exist_ok=True)
    write_arrays(path, {"probabilities": probabilities.astype(np.float32)})


def drop_predictions(folder: Path, after: int) -> None:
    """Delete the predictions of every epoch after this one."""
    for epoch in _epochs_in(folder):
        if epoch > after:
            epoch_file(folder, "predictions", epoch).unlink()


def prediction_epochs(run_id: str) -> list[int]:
    """The epochs, from 1, whose test probabilities are kept, in order."""
    return _epochs_in(folder_of(run_id))


def read_predictions(run_id: str, epoch: int) -> np.ndarray:
    """An epoch's test probabilities, float32 (M, N, C).

    Raises:
      UnknownRunError: there is no such run.
      RunError: that epoch's are not there, cannot be read, or are no probabilities of this run's
        members on its dataset.
    """
    run = find(run_id)
    dataset = registry.find(run.config.dataset)
    shape = (run.config.members, dataset.test_size, len(dataset.class_names))
    expected = {"probabilities": Expected(shape)}
    found = read_epoch(run.path, "predictions", epoch, expected)["probabilities"]
    if not (found.min() >= 0 and found.max() <= 1 + ROUNDING):  # so that NaN is refused too
        why = "its probabilities are not all between 0 and 1"
        raise damaged(run.path, "predictions", epoch, why)
    return found


def _epochs_in(folder: Path) -> list[int]:
    names = (EPOCH_FILE.fullmatch(path.name) for path in folder.glob("predictions/epoch-*.npz"))
    return sorted(int(match[1]) for match in names if match)
