"""Arrays in an .npz file: see `array_source` for their names."""

import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from ensemble.datasets.own.sources.arrays.array_files import NumpyArrays, convert_array_errors
from ensemble.errors import DataError
from ensemble.storage.plain_files import open_plain_file

_MOST_ENTRIES = 1000


class NpzArrays(NumpyArrays):
    """Arrays in an .npz file; an `array_source.NamedArrays`.

    Raises:
      DataError: it cannot be read, or is none.
    """

    required = (
        "It has to hold train_images (N, H, W) or (N, H, W, channels) and train_labels (N,), "
        "ideally test_images and test_labels too: np.savez(file, train_images=…, train_labels=…)."
    )

    def __init__(self, path: Path) -> None:
        with convert_array_errors(path), _open_npz_archive(path) as archive:
            names = [name.removesuffix(".npy") for name in archive.namelist()]
        if len(set(names)) != len(names) or len(names) > _MOST_ENTRIES:
            raise DataError(f"{path.name} is not a NumPy file. {self.required}")
        super().__init__(path, names)
        self.origin = f"arrays of the file {path.name}"

    @contextmanager
    def open_array(self, name: str) -> Iterator[tuple[IO[bytes], int]]:
        """The entry of an array, at its beginning, and how many bytes it has."""
        with _open_npz_archive(self.path) as archive:
            entry = _find_npz_entry(archive, name)
            with archive.open(entry) as file:
                yield file, entry.file_size


@contextmanager
def _open_npz_archive(path: Path) -> Iterator[zipfile.ZipFile]:
    """The archive in a file; OSError or one of `ZIP_ERRORS` where it cannot be read."""
    with open_plain_file(path) as file, zipfile.ZipFile(file) as archive:
        yield archive


def _find_npz_entry(archive: zipfile.ZipFile, name: str) -> zipfile.ZipInfo:
    try:
        return archive.getinfo(f"{name}.npy")
    except KeyError:
        return archive.getinfo(name)
