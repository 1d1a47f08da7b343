"""A person's .zip, unpacked into a fresh folder; a hostile or damaged one leaves nothing behind.

Nothing in an archive is believed before it is checked: its list of contents is bounded before it
is parsed; names, kinds, methods, places and sizes are checked before anything is written; and
what is written is counted. The bound is on the sum of the sizes, and no ratio: a folder of plain
pictures may be packed well, and a bomb of entries that share their bytes packs each one modestly.
"""

import shutil
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, cast

from ensemble.errors import DataError, StorageError
from ensemble.storage.archives.archive_contents import (
    DEFAULT_LIMITS,
    REPACK_ADVICE,
    ArchiveLimits,
    PlannedFile,
    UnpackPlan,
    plan_unpacking,
    too_many_files_error,
)
from ensemble.storage.arrays.npz import ZIP_ERRORS

_CHUNK = 2**20
Progress = Callable[[float | None, str], None]

_ENTRY_MARK = b"PK\1\2"  # begins each line of the list of contents
_RESERVED_BYTES = 64 * 2**20  # bytes of the disk that are left to others


@dataclass(frozen=True)
class _UnpackResult:
    """What came out of an archive.

    Attributes:
      files: how many files were written.
      nbytes: bytes that they take.
      skipped: how many of a system's own files were left in the archive (`__MACOSX`, Thumbs.db).
      nested: archives within it that stay closed, by their names.
    """

    files: int
    nbytes: int
    skipped: int
    nested: tuple[str, ...]


def unpack_archive(
    file: BinaryIO, folder: Path, limits: ArchiveLimits = DEFAULT_LIMITS, progress: Progress | None = None
) -> _UnpackResult:
    """Unpack a .zip into a folder that is made for it.

    Whatever is raised, by `progress` too, leaves no folder.

    Args:
      file: the archive, which can be sought in; read piece by piece.
      folder: where to; it does not exist, its parent does.
      limits: what the archive may ask for.
      progress: called as progress(share of the bytes, message for people).

    Raises:
      DataError: it is no .zip, is damaged, or asks for what is not done; names the entry.
      StorageError: it would not fit on the disk.
      OSError: the disk refuses.
    """
    with _open_archive(file, limits) as archive:
        plan = plan_unpacking(archive, limits, ignores_case=ignores_case(folder.parent))
        _check_free_space(folder.parent, plan.nbytes)
        folder.mkdir(mode=0o700)
        try:
            _write_planned_files(archive, plan, folder, progress)
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
    return _UnpackResult(len(plan.files), plan.nbytes, plan.skipped, plan.nested)


def ignores_case(folder: Path) -> bool:
    """Whether names in a folder are one that differ in upper and lower case alone.

    Raises:
      OSError: nothing can be written there.
    """
    with tempfile.NamedTemporaryFile(prefix=".case-", dir=folder) as file:
        path = Path(file.name)
        return path.with_name(path.name.upper()).exists()


class _BoundedFile:
    """A file that gives no more at once than a list of contents may take, nor too long a list."""

    def __init__(self, file: BinaryIO, limits: ArchiveLimits) -> None:
        self._file, self._limits, self.opening = file, limits, True
        self.seek, self.tell, self.seekable = file.seek, file.tell, file.seekable

    def read(self, size: int = -1) -> bytes:
        """As of any file; DataError where it would be too much."""
        limits = self._limits
        if size > limits.contents:
            raise DataError(
                f"The archive's list of contents takes over {limits.contents / 1e6:,.0f} MB: {REPACK_ADVICE}."
            )
        # Without a size it is the archive's last record, which is sought near its end.
        content = self._file.read(size if size >= 0 else limits.contents)
        # Each line of the list takes memory, however short it is: count before they are parsed.
        if self.opening and content.count(_ENTRY_MARK) > limits.files:
            raise too_many_files_error(limits)
        return content


def _open_archive(file: BinaryIO, limits: ArchiveLimits) -> zipfile.ZipFile:
    bounded = _BoundedFile(file, limits)
    try:
        archive = zipfile.ZipFile(cast(BinaryIO, bounded))
    except (*ZIP_ERRORS, NotImplementedError) as error:
        if isinstance(error.__context__, OSError) and error.__context__.errno:
            raise error.__context__ from None
        raise DataError(
            "This is not a readable .zip, or the upload is incomplete: pack the folder again "
            "as an ordinary .zip, and upload all of it."
        ) from error
    bounded.opening = False
    return archive


def _check_free_space(folder: Path, nbytes: int) -> None:
    """StorageError where so much would not fit beside what is there."""
    free = shutil.disk_usage(folder).free
    if nbytes + _RESERVED_BYTES > free:
        raise StorageError(
            f"Unpacked, the archive takes {nbytes / 1e6:,.0f} MB, and {free / 1e6:,.0f} MB are free where "
            "datasets are stored: free some space, or point ENSEMBLE_DATA at another disk."
        )


def _write_planned_files(archive: zipfile.ZipFile, plan: UnpackPlan, folder: Path, progress: Progress | None) -> None:
    """The files, in their folders; DataError where one is not what the archive says of it."""
    done, folders = 0, {folder}
    for number, file in enumerate(plan.files):
        path = folder.joinpath(*file.parts)
        if path.parent not in folders:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            folders.add(path.parent)
        written = 0
        # "x": nothing that is there is written through, whatever its name meant.
        with path.open("xb") as target:
            for piece in _read_entry_pieces(archive, file):
                written += len(piece)
                if written > file.info.file_size:
                    raise _damaged_entry_error(file)
                target.write(piece)
        if written != file.info.file_size:
            raise _damaged_entry_error(file)
        done += written
        if progress and (number % 64 == 0 or number == len(plan.files) - 1):
            progress(done / plan.nbytes if plan.nbytes else 1.0, f"Unpacking: {number + 1:,} files")


def _read_entry_pieces(archive: zipfile.ZipFile, file: PlannedFile) -> Iterator[bytes]:
    """A file's bytes, piece by piece."""
    try:
        with archive.open(file.info) as source:
            while piece := source.read(_CHUNK):
                yield piece
    except (*ZIP_ERRORS, NotImplementedError) as error:
        raise _damaged_entry_error(file) from error


def _damaged_entry_error(file: PlannedFile) -> DataError:
    return DataError(
        f"{file.quoted_name} in the archive is damaged, or its size is not what the "
        f"archive says: {REPACK_ADVICE}, and upload all of it."
    )
