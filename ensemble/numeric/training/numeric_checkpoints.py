"""Where a training of numbers stands, and its checkpoints: plain arrays, the last two of them.

A place is (steps done, epochs evaluated); the running epoch's losses belong to it, so that the
epoch's line of the history comes out the same whether or not the run was interrupted in it. What
is damaged is moved away, never deleted.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jax
import numpy as np
from numpy.typing import NDArray

from ensemble.errors import RunError
from ensemble.storage.arrays.damaged_file import DamagedFileError
from ensemble.storage.arrays.npy import ExpectedArray
from ensemble.storage.arrays.npz import read_arrays, write_arrays
from ensemble.storage.atomic_files import remove_partial_files

FOLDER, _QUARANTINE_FOLDER = "checkpoints", "damaged"
_PATTERN = "place-*.npz"
KEPT = 2  # one is there to go on from where the other is damaged


@dataclass
class NumericProgress:
    """A place in a run.

    Attributes:
      state: the members, leaves (M, …).
      step: steps done in the whole run.
      evaluated: epochs whose evaluation is done.
      nll: (M, S) of the running epoch, of the standardised target, 0 where it has not come to.
      squared_error: likewise.
      seconds: of training and evaluation so far.
    """

    state: Any
    step: int
    evaluated: int
    nll: NDArray[np.float32]
    squared_error: NDArray[np.float32]
    seconds: float

    @classmethod
    def create_blank(cls, state: Any, members: int, steps: int) -> "NumericProgress":
        """The place before the first step, of M members and S steps an epoch."""
        zeros = np.zeros((members, steps), np.float32)
        return cls(state=state, step=0, evaluated=0, nll=zeros, squared_error=zeros.copy(), seconds=0.0)

    @property
    def steps_per_epoch(self) -> int:
        """S."""
        return self.nll.shape[1]

    @property
    def step_in_epoch(self) -> int:
        """Steps done in the running epoch; S when only its evaluation is left."""
        return self.step - self.evaluated * self.steps_per_epoch

    @property
    def place_number(self) -> int:
        """Grows with every step and every evaluation."""
        return self.step + self.evaluated


def save_numeric_checkpoint(folder: Path, progress: NumericProgress) -> None:
    """Keep this place, and the one before it.

    Raises:
      OSError: a full disk, or a folder that cannot be written; what was there before remains.
    """
    place = folder / FOLDER
    place.mkdir(exist_ok=True)
    path = place / f"place-{progress.place_number:010d}.npz"
    if path.exists():
        return
    leaves = jax.tree.leaves(progress.state)
    arrays = {f"leaf-{number:04d}": np.asarray(leaf) for number, leaf in enumerate(leaves)}
    arrays |= {
        "nll": progress.nll,
        "squared_error": progress.squared_error,
        "counts": np.array([progress.step, progress.evaluated], np.int64),
        "seconds": np.array([progress.seconds]),
    }
    write_arrays(path, arrays)
    for old in _list_checkpoint_files(folder)[:-KEPT]:
        old.unlink(missing_ok=True)


def restore_numeric_checkpoint(folder: Path, blank: NumericProgress) -> tuple[NumericProgress | None, list[str]]:
    """The last place that is undamaged, None at the beginning; and what was damaged, in sentences.

    Args:
      folder: the run's.
      blank: a place whose arrays have the shapes to expect.

    Raises:
      RunError: checkpoints are there, and none can be read.
    """
    leaves, tree = jax.tree.flatten(blank.state)
    expected = {f"leaf-{number:04d}": ExpectedArray(leaf.shape, leaf.dtype.name) for number, leaf in enumerate(leaves)}
    shape = blank.nll.shape
    expected |= {name: ExpectedArray(shape) for name in ("nll", "squared_error")}
    expected |= {"counts": ExpectedArray((2,), "int64"), "seconds": ExpectedArray((1,), "float64")}
    remove_partial_files(folder / FOLDER)
    damaged = list[str]()
    for path in reversed(_list_checkpoint_files(folder)):
        try:
            arrays = read_arrays(path, expected, need_checksum=True)
        except DamagedFileError as error:
            damaged.append(_quarantine_checkpoint(folder, path, str(error)))
            continue
        except OSError as error:
            raise RunError(
                f"The checkpoint {path.name} of the run “{folder.name}” cannot be read "
                f"({error.strerror}). Nothing was changed: make it readable, then try again."
            ) from error
        state = jax.tree.unflatten(tree, [arrays[f"leaf-{number:04d}"] for number in range(len(leaves))])
        step, evaluated = (int(count) for count in arrays["counts"])
        seconds = float(arrays["seconds"][0])
        place = NumericProgress(
            state=state,
            step=step,
            evaluated=evaluated,
            nll=arrays["nll"],
            squared_error=arrays["squared_error"],
            seconds=seconds,
        )
        return place, damaged
    if damaged:
        raise RunError(" ".join(damaged) + " There is no other: resume again to train from the beginning.")
    return None, damaged


def _list_checkpoint_files(folder: Path) -> list[Path]:
    return sorted((folder / FOLDER).glob(_PATTERN))


def _quarantine_checkpoint(folder: Path, path: Path, why: str) -> str:
    aside = folder / _QUARANTINE_FOLDER
    aside.mkdir(exist_ok=True)
    path.replace(aside / path.name)
    print(f"The checkpoint {path.name} is damaged: {why}.", flush=True)
    return f"The checkpoint {path.name} is damaged and was moved to the run's folder “{_QUARANTINE_FOLDER}”."
