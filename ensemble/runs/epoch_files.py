"""predictions/, validation/ and parameters/: an .npz an epoch; what is said where one is no use."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from ensemble.errors import RunError
from ensemble.storage.arrays.damaged_file import DamagedFileError
from ensemble.storage.arrays.npy import ExpectedArray
from ensemble.storage.arrays.npz import Arrays, read_arrays, write_arrays


def locate_epoch_file(folder: Path, what: str, epoch: int) -> Path:
    """The file of an epoch's "predictions", "validation" or "parameters" in a run's folder."""
    return folder / what / f"epoch-{int(epoch):04d}.npz"


def write_epoch_arrays(folder: Path, what: str, epoch: int, arrays: Mapping[str, np.ndarray]) -> None:
    """Write what is kept of an epoch; OSError where it cannot be written.

    Args:
      folder: the run's.
      what: "predictions", "validation" or "curve".
      epoch: counted from 1.
      arrays: (M, …) by name; NaN of members that diverged.
    """
    path = locate_epoch_file(folder, what, epoch)
    path.parent.mkdir(exist_ok=True)
    write_arrays(path, arrays)


def read_epoch_arrays(folder: Path, what: str, epoch: int, expected: Mapping[str, ExpectedArray]) -> Arrays:
    """An epoch's arrays, as they were written.

    Args:
      folder: the run's.
      what: "predictions", "validation" or "parameters".
      epoch: counted from 1.
      expected: what the arrays have to be.

    Raises:
      RunError: they are not there, cannot be read, or are others than are expected.
    """
    path = locate_epoch_file(folder, what, epoch)
    try:
        return read_arrays(path, expected)
    except FileNotFoundError as error:
        raise RunError(f"The run “{folder.name}” has no {format_epoch_file_kind(what)} of epoch {epoch}.") from error
    except DamagedFileError as error:
        raise build_damaged_epoch_error(folder, what, epoch, str(error)) from error
    except OSError as error:
        raise RunError(
            f"The {format_epoch_file_kind(what)} of epoch {epoch} of the run “{folder.name}” "
            f"cannot be read ({error.strerror}): check {what}/{path.name} in its folder, or choose another epoch."
        ) from error


def build_damaged_epoch_error(folder: Path, what: str, epoch: int, why: str) -> RunError:
    """What to say of an epoch's file that is there and does not hold what it should."""
    return RunError(
        f"The {format_epoch_file_kind(what)} of epoch {epoch} of the run “{folder.name}” are "
        f"damaged ({why}): choose another epoch."
    )


def format_epoch_file_kind(what: str) -> str:
    return "validation predictions" if what == "validation" else what
