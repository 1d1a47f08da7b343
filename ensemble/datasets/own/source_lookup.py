"""Where pictures come from, as it is named on the command line, to a `source.PictureSource`."""

import zipfile
from pathlib import Path

from ensemble.datasets.own.source import PictureSource
from ensemble.datasets.own.sources.folder_source import FolderSource
from ensemble.datasets.own.sources.idx_files import IdxSource, find_idx_files
from ensemble.datasets.own.sources.npz import NpzSource
from ensemble.errors import DataError

TFDS_PREFIX = "tfds:"
ACCEPTED_SOURCES = (
    "give a folder with one folder of pictures for each class, a folder of IDX files, an .npz "
    "file, or tfds:NAME"
)


def open_picture_source(named: str, seed: int = 0) -> PictureSource:
    """The source that a person names.

    Args:
      named: a folder, an .npz file, or `tfds:NAME`.
      seed: of the order in which a folder's pictures are kept.

    Raises:
      DataError: there is none, or it is none that can be read.
    """
    if named.startswith(TFDS_PREFIX):
        from ensemble.datasets.own.sources.tfds import (
            TfdsSource,
        )  # late: TensorFlow Datasets takes a while

        return TfdsSource(named.removeprefix(TFDS_PREFIX))
    path = Path(named).expanduser()
    if path.is_dir():
        return IdxSource(path) if find_idx_files(path) else FolderSource(path, seed)
    if not path.is_file():
        raise DataError(f"There is no file or folder {named!r:.200}: {ACCEPTED_SOURCES}.")
    if path.suffix.lower() == ".npz":
        return NpzSource(path)
    if zipfile.is_zipfile(path) or path.name.lower().endswith((".tar", ".tgz", ".tar.gz", ".7z")):
        raise DataError(f"{path.name} is an archive: unpack it and give the folder.")
    raise DataError(f"{path.name} is not a supported kind of file: {ACCEPTED_SOURCES}.")
