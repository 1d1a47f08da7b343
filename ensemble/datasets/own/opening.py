"""Where pictures come from, as it is named on the command line, to a `source.Source`."""

import zipfile
from pathlib import Path

from ensemble.datasets.own.source import Source
from ensemble.datasets.own.sources.idx_files import Idx, files_in
from ensemble.datasets.own.sources.npz import Npz
from ensemble.datasets.own.sources.tree import Tree
from ensemble.errors import DataError

TFDS = "tfds:"
WANTED = (
    "name a folder with one folder of pictures for each class, a folder of IDX files, an .npz "
    "file, or tfds:NAME"
)


def source_of(named: str, seed: int = 0) -> Source:
    """The source that a person names.

    Args:
      named: a folder, an .npz file, or `tfds:NAME`.
      seed: of the order in which a folder's pictures are kept.

    Raises:
      DataError: there is none, or it is none that can be read.
    """
    if named.startswith(TFDS):
        from ensemble.datasets.own.sources.tfds import (
            Tfds,
        )  # late: TensorFlow Datasets takes a while

        return Tfds(named.removeprefix(TFDS))
    path = Path(named).expanduser()
    if path.is_dir():
        return Idx(path) if files_in(path) else Tree(path, seed)
    if not path.is_file():
        raise DataError(f"There is no file or folder {named!r:.200}: {WANTED}.")
    if path.suffix.lower() == ".npz":
        return Npz(path)
    if zipfile.is_zipfile(path) or path.name.lower().endswith((".tar", ".tgz", ".tar.gz", ".7z")):
        raise DataError(f"{path.name} is an archive: unpack it, and name the folder.")
    raise DataError(f"{path.name} is of no kind that can be read: {WANTED}.")
