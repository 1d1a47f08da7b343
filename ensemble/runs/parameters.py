"""parameters/: the members' parameters after every epoch, so that any epoch can be asked.

One file an epoch, `epoch-0003.npz`: float32 arrays (M, …) by the names of the parameter tree,
`Conv_0/kernel` and so on, and running statistics beside them (`batch_stats/…`), as plain NumPy
that any tool reads. Those of the HOWTO's network take 3.3 MB a member and epoch. A run whose files
would take more than 1 GiB keeps evenly spaced epochs only, those that a power of two divides, just
large enough that they fit; and always the first, the last, the best and those that are to be
averaged, whatever they take.
"""

from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ensemble.runs.epoch_files import build_damaged_epoch_error, locate_epoch_file, read_epoch_arrays
from ensemble.runs.history import list_epoch_files
from ensemble.runs.store import Run, find_run, require_training_config
from ensemble.storage.arrays.npy import ExpectedArray
from ensemble.storage.arrays.npz import ArrayParts, write_arrays

if TYPE_CHECKING:
    from ensemble.engine import Network

MAX_BYTES = 2**30
KEPT_BESIDES = 3  # the first, the best and the last, which are kept besides


def write_parameters(folder: Path, epoch: int, params: Any, best: int | None, always: Collection[int] = ()) -> None:
    """Keep an epoch's parameters, then drop what no longer fits beside them.

    Args:
      folder: the run's.
      epoch: counted from 1.
      params: a nested mapping of names to arrays (M, …), or to their `ArrayParts` parts in float32.
      best: the epoch that is the best so far; None drops nothing.
      always: epochs that are never dropped.

    Raises:
      OSError: a full disk, or a folder that cannot be written; nothing half-written is left.
    """
    path = locate_epoch_file(folder, "parameters", epoch)
    path.parent.mkdir(exist_ok=True)
    # Array by array: all of them in float32 at once would double what a worker needs of memory.
    write_arrays(path, ((name, _convert_to_float32(array)) for name, array in _flatten_tree(params)))
    if best is not None:
        drop_excess_epochs(folder, "parameters", epoch, best, always)


def drop_parameters(folder: Path, after: int) -> None:
    """Delete the parameters of every epoch after this one, and what a kill left half-written."""
    for epoch in list_parameter_epochs(folder):
        if epoch > after:
            # Of a group's, whoever merges them may have been first.
            locate_epoch_file(folder, "parameters", epoch).unlink(missing_ok=True)
    for torn in (folder / "parameters").glob(".epoch-*"):
        torn.unlink(missing_ok=True)


def read_parameters(run_id: str, epoch: int) -> dict[str, Any]:
    """An epoch's parameters: the tree that was written, (M, …), M as in `Run.remaining_members`.

    Raises:
      UnknownRunError: there is no such run.
      RunError: that epoch's are not there, cannot be read, or are not those of this run's
        members and their network.
    """
    run = find_run(run_id)
    network = load_run_network(run)
    shapes = network.shapes
    expected = {name: ExpectedArray((run.config.members, *shape.shape)) for name, shape in shapes.items()}
    arrays = read_epoch_arrays(run.path, "parameters", epoch, expected)
    if len(members := run.remaining_members(epoch)) < run.config.members:
        arrays = {name: array[list(members)] for name, array in arrays.items()}
    for name, array in arrays.items():
        if not (np.isfinite(array.min()) and np.isfinite(array.max())):
            why = f"{name} holds a number that is not finite"
            raise build_damaged_epoch_error(run.path, "parameters", epoch, why)
    return network.nest_arrays({name: array.astype(shapes[name].dtype) for name, array in arrays.items()})


def load_run_network(run: Run) -> "Network":
    """The network of a run that was trained here, bound to what it learnt.

    Raises:
      RunError: it was trained elsewhere.
      ConfigError: its network is a person's own, and is not allowed here or no longer fits.
    """
    from ensemble.engine import build_network  # JAX: whoever only writes or lists needs none.

    return build_network(require_training_config(run), run.data.image_shape, len(run.data.class_names))


def list_parameter_epochs(folder: Path) -> list[int]:
    """The epochs whose parameters lie in this run's folder, in order."""
    return list_epoch_files(folder, "parameters")


def drop_excess_epochs(folder: Path, what: str, last: int, best: int, always: Collection[int] = ()) -> None:
    """Delete the epochs whose files take more than a run keeps, so that the others are evenly spaced.

    Args:
      folder: the run's.
      what: "parameters", or a folder of predictions.
      last: the epoch that was written last.
      best: the epoch that is the best so far.
      always: epochs that are never dropped.
    """
    room = MAX_BYTES // locate_epoch_file(folder, what, last).stat().st_size
    if last <= room - KEPT_BESIDES:  # All fit: a slow disk need not list them.
        return
    wanted = {*select_parameter_epochs(last, best, room), *always}
    for epoch in list_epoch_files(folder, what):
        if epoch not in wanted:
            locate_epoch_file(folder, what, epoch).unlink()


def select_parameter_epochs(last: int, best: int, room: int) -> set[int]:
    """Which of the epochs 1 to `last` stay when there is room for so many files.

    The spacing never shrinks as a run goes on, and each is a multiple of those before it: what
    is wanted now has not been dropped before.
    """
    spacing = 1
    while last // spacing > max(room - KEPT_BESIDES, 0):
        spacing *= 2
    return {1, best, last} | set(range(spacing, last + 1, spacing))


def _convert_to_float32(array: Any) -> NDArray[np.float32] | ArrayParts:
    return array if isinstance(array, ArrayParts) else np.asarray(array, np.float32)


def _flatten_tree(tree: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in tree.items():
        if isinstance(value, Mapping):
            yield from _flatten_tree(value, f"{prefix}{name}/")
        else:
            yield f"{prefix}{name}", value
