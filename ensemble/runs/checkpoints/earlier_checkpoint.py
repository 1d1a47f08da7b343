"""Checkpoints of regressions of version 1.0: one .npz of plain arrays for each place."""

from pathlib import Path
from typing import Any

from ensemble.runs.checkpoints.folders import CHECKPOINTS_FOLDER, list_checkpoint_ticks
from ensemble.runs.training.progress import Progress
from ensemble.storage.arrays.damaged_file import DamagedFileError
from ensemble.storage.arrays.npy import ExpectedArray
from ensemble.storage.arrays.npz import read_arrays

_PATTERN = "place-*.npz"
_METRICS = {"loss": "nll", "squared_error": "squared_error"}


def read_earlier_checkpoint(folder: Path, blank: Progress) -> Progress | None:
    """Read the last undamaged place that version 1.0 left in a run's folder; None without any.

    Args:
      folder: the run's.
      blank: a place whose arrays have the shapes to expect.
    """
    import jax

    if list_checkpoint_ticks(folder):
        return None
    leaves, tree = jax.tree.flatten(blank.state)
    names = [f"leaf-{number:04d}" for number in range(len(leaves))]
    expected = {name: ExpectedArray(leaf.shape, leaf.dtype.name) for name, leaf in zip(names, leaves, strict=True)}
    expected |= {
        _METRICS[name]: ExpectedArray(values.shape) for name, values in blank.metrics.items() if name in _METRICS
    }
    expected |= {"counts": ExpectedArray((2,), "int64"), "seconds": ExpectedArray((1,), "float64")}
    for path in sorted((folder / CHECKPOINTS_FOLDER).glob(_PATTERN), reverse=True):
        try:
            arrays: dict[str, Any] = dict(read_arrays(path, expected, need_checksum=True))
        except (OSError, DamagedFileError) as error:
            print(f"The checkpoint {path.name} of an earlier version cannot be read: {error}.", flush=True)
            continue
        step, evaluated = (int(count) for count in arrays["counts"])
        return Progress(
            state=jax.tree.unflatten(tree, [arrays[name] for name in names]),
            step=step,
            evaluated=evaluated,
            metrics={name: arrays[_METRICS[name]] for name in blank.metrics},
            seconds=float(arrays["seconds"][0]),
        )
    return None
