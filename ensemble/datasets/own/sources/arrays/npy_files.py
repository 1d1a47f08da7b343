"""Arrays in a folder, a .npy file each, with the names that they would have in an .npz file."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO

from ensemble.datasets.own.sources.arrays.array_files import NumpyArrays
from ensemble.datasets.own.sources.source_folder import SourceFolder
from ensemble.storage.plain_files import open_plain_file

SUFFIX = ".npy"


class NpyFiles(NumpyArrays):
    """The .npy files of a folder; an `array_source.NamedArrays`."""

    required = (
        "The folder has to hold train_images.npy (N, H, W) or (N, H, W, channels) and "
        "train_labels.npy (N,), ideally test_images.npy and test_labels.npy too: "
        'np.save("train_images.npy", …).'
    )

    def __init__(self, folder: SourceFolder) -> None:
        self._files = {path.name[: -len(SUFFIX)]: path for path in folder.select_files(SUFFIX)}
        super().__init__(folder.path, list(self._files))
        self.origin = f".npy files of the folder {folder.path.name}"

    @contextmanager
    def open_array(self, name: str) -> Iterator[tuple[IO[bytes], int]]:
        """The file of an array, at its beginning, and how many bytes it has."""
        with open_plain_file(self._files[name]) as file:
            yield file, os.fstat(file.fileno()).st_size


def has_npy_files(folder: SourceFolder) -> bool:
    """Whether a folder's pictures lie in .npy files: there are some, and no other pictures."""
    return bool(folder.select_files(SUFFIX)) and not folder.holds_pictures
