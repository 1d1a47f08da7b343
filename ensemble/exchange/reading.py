"""Files of predictions, one or one a member, to members' outputs that have been checked."""

import io
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import BinaryIO

from ensemble.errors import PredictionsError
from ensemble.exchange.capsule.element import is_page
from ensemble.exchange.files.archive import InMemory
from ensemble.exchange.files.archive import opened as archive_of
from ensemble.exchange.files.arrays import read_archive
from ensemble.exchange.files.parts import Part
from ensemble.exchange.files.tables import read_csv, read_parquet
from ensemble.exchange.joining import Given, joined, naming
from ensemble.exchange.outputs import MemberOutputs
from ensemble.storage.arrays.damage import DamagedFileError
from ensemble.storage.arrays.npy import Bounded, opened

File = Path | BinaryIO

SAVE = "save NumPy arrays with np.savez(file, probabilities=…, labels=…), or a table as CSV"
# What files of other kinds begin with.
OTHERS = {
    b"\x93NUMPY": f"it is a single array: {SAVE}.",
    b"\x89HDF\r\n": f"it is an HDF5 file: {SAVE}.",
    b"\x80": f"it is a pickle, which nothing here unpickles: {SAVE}.",
    b"{": f"it is JSON: {SAVE}.",
    b"[": f"it is JSON: {SAVE}.",
    b"\x1f\x8b": "it is packed with gzip: unpack it first.",
}
BEGINNING = 64  # bytes, by which a web page is told: blanks may stand first
A_PAGE = "it is a web page: import reports by themselves, without files of predictions."


def read(files: Sequence[File], most_bytes: int | None = None) -> MemberOutputs:
    """What one file holds, or several with a member each (or more).

    Args:
      files: .npz, CSV or Parquet, told by what they begin with: paths, or what was uploaded,
        which has a `name`.
      most_bytes: of memory that may be taken; None for as much as there is.

    Returns:
      The outputs as float32 probabilities; their memory is nearly all that is taken.

    Raises:
      PredictionsError: they cannot be taken; the file, the entry and what to do are named.
    """
    if not files:
        raise PredictionsError("No file was named: give one, or one a member.")
    each = None if most_bytes is None else most_bytes // len(files)
    with ExitStack() as held:
        return joined([_of_file(file, held, each) for file in files], most_bytes)


def is_report(file: File) -> bool:
    """Whether a file begins like a web page; one that cannot be read does not."""
    try:
        if isinstance(file, Path):
            with opened(file) as found:
                return is_page(found.read(BEGINNING))
        file.seek(0)
        return is_page(file.read(BEGINNING))
    except (DamagedFileError, OSError):
        return False


def _of_file(file: File, held: ExitStack, most: int | None) -> Given:
    name = Path(file.name).name or "the file"
    with naming(name):
        return Given(name, _part(_open(file, held), held, most))


def _open(file: File, held: ExitStack) -> Bounded:
    if not isinstance(file, Path):
        file.seek(0)
        content = file.getvalue() if isinstance(file, io.BytesIO) else file.read()
        return held.enter_context(InMemory(content))
    try:
        return held.enter_context(opened(file))
    except DamagedFileError as error:
        raise PredictionsError(
            "it is a folder, a pipe or a device: name files, one for all members or one a member."
        ) from error
    except OSError as error:
        raise PredictionsError(
            f"it cannot be read ({error.strerror or error}): name a file that is there and that "
            "you may read."
        ) from error


def _part(file: Bounded, held: ExitStack, most: int | None) -> Part:
    start = file.read(8)
    file.seek(0)
    if not start:
        raise PredictionsError("it is empty: save it again.")
    for magic, said in OTHERS.items():
        if start.startswith(magic):
            raise PredictionsError(said)
    if is_page(start):
        raise PredictionsError(A_PAGE)
    if start.startswith(b"PK"):
        return read_archive(held.enter_context(archive_of(file)))
    return (read_parquet if start.startswith(b"PAR1") else read_csv)(file, most)
