"""history.jsonl and predictions/: what a run has to show, as it goes.

A line of history is one JSON object; accuracies in [0, 1], losses in nats, a number that
is not finite stands as null. Lines of `"kind": "steps"` are means over the steps since
the line before; lines of `"kind": "epoch"` close an epoch with the whole test set.
"""

import re
from pathlib import Path
from zipfile import BadZipFile

import numpy as np

from ensemble.errors import RunError
from ensemble.jobs.folders import folder_of
from ensemble.storage.atomic import write_arrays
from ensemble.storage.json_lines import Line, read_lines

EPOCH_FILE = re.compile(r"epoch-(\d+)\.npz")


def read_history(run_id: str) -> list[Line]:
    """All whole lines of a run's history; one cut short by a kill is left out."""
    return read_lines(folder_of(run_id) / "history.jsonl")


def write_predictions(folder: Path, epoch: int, probabilities: np.ndarray) -> None:
    """Keep an epoch's test probabilities (M, N, C)."""
    path = _prediction_file(folder, epoch)
    path.parent.mkdir(exist_ok=True)
    write_arrays(path, {"probabilities": probabilities.astype(np.float32)})


def drop_predictions(folder: Path, after: int) -> None:
    """Delete the predictions of every epoch after this one."""
    for epoch in _epochs_in(folder):
        if epoch > after:
            _prediction_file(folder, epoch).unlink()


def prediction_epochs(run_id: str) -> list[int]:
    """The epochs, from 1, whose test probabilities are kept, in order."""
    return _epochs_in(folder_of(run_id))


def read_predictions(run_id: str, epoch: int) -> np.ndarray:
    """An epoch's test probabilities, float32 (M, N, C).

    Raises:
      RunError: that epoch's are not there, or cannot be read.
    """
    path = _prediction_file(folder_of(run_id), epoch)
    try:
        with path.open("rb") as raw, np.load(raw, allow_pickle=False) as file:
            return np.asarray(file["probabilities"])
    except FileNotFoundError as error:
        raise RunError(f"The run “{run_id}” has no predictions of epoch {epoch}.") from error
    except (OSError, ValueError, KeyError, EOFError, BadZipFile) as error:
        raise RunError(
            f"The predictions of epoch {epoch} of the run “{run_id}” cannot be read: choose "
            "another epoch."
        ) from error


def _prediction_file(folder: Path, epoch: int) -> Path:
    return folder / "predictions" / f"epoch-{int(epoch):04d}.npz"


def _epochs_in(folder: Path) -> list[int]:
    names = (EPOCH_FILE.fullmatch(path.name) for path in folder.glob("predictions/epoch-*.npz"))
    return sorted(int(match[1]) for match in names if match)
