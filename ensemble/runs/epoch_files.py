"""predictions/, validation/ and parameters/: an .npz an epoch; what is said where one is no use."""

from collections.abc import Mapping
from pathlib import Path

from ensemble.errors import RunError
from ensemble.storage.arrays.damage import DamagedFileError
from ensemble.storage.arrays.npy import Expected
from ensemble.storage.arrays.npz import Arrays, read_arrays


def epoch_file(folder: Path, what: str, epoch: int) -> Path:
    """The file of an epoch's "predictions", "validation" or "parameters" in a run's folder."""
    return folder / what / f"epoch-{int(epoch):04d}.npz"


def read_epoch(folder: Path, what: str, epoch: int, expected: Mapping[str, Expected]) -> Arrays:
    """An epoch's arrays, as they were written.

    Args:
      folder: the run's.
      what: "predictions", "validation" or "parameters".
      epoch: counted from 1.
      expected: what the arrays have to be.

    Raises:
      RunError: they are not there, cannot be read, or are others than are expected.
    """
    path = epoch_file(folder, what, epoch)
    try:
        return read_arrays(path, expected)
    except FileNotFoundError as error:
        raise RunError(f"The run “{folder.name}” has no {said(what)} of epoch {epoch}.") from error
    except DamagedFileError as error:
        raise damaged(folder, what, epoch, str(error)) from error
    except OSError as error:
        raise RunError(
            f"The {said(what)} of epoch {epoch} of the run “{folder.name}” cannot be read "
            f"({error.strerror}): see to {what}/{path.name} in its folder, or choose another "
            "epoch."
        ) from error


def damaged(folder: Path, what: str, epoch: int, why: str) -> RunError:
    """What to say of an epoch's file that is there and does not hold what it should."""
    return RunError(
        f"The {said(what)} of epoch {epoch} of the run “{folder.name}” are damaged ({why}): choose "
        "another epoch."
    )


def said(what: str) -> str:
    """A kind of epoch file in a sentence, as several."""
    return "validation predictions" if what == "validation" else what
