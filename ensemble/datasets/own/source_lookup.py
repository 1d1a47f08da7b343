"""Where pictures come from, as it is named on the command line, to a `source.PictureSource`."""

import zipfile
from collections.abc import Sequence
from pathlib import Path

from ensemble.datasets.own.request import CLASS_PATTERN_OPTION
from ensemble.datasets.own.source import PictureSource
from ensemble.datasets.own.sources import source_folder
from ensemble.datasets.own.sources.arrays import cifar_binary, hdf5_files, mat_files, npy_files
from ensemble.datasets.own.sources.arrays.array_source import ArraySource, NamedArrays
from ensemble.datasets.own.sources.arrays.idx_files import IdxSource, find_idx_files
from ensemble.datasets.own.sources.arrays.npz_archive import NpzArrays
from ensemble.datasets.own.sources.encoded.picture_shards import list_shards
from ensemble.datasets.own.sources.encoded.webdataset import WebDatasetSource, is_webdataset
from ensemble.datasets.own.sources.folders.folder_source import FolderSource
from ensemble.datasets.own.sources.folders.folder_walk import FolderWalk
from ensemble.datasets.own.sources.foreign_files import check_foreign_file
from ensemble.datasets.own.sources.tables import pixel_csv
from ensemble.errors import ConfigError, DataError

_TFDS_PREFIX = "tfds:"
_ACCEPTED_SOURCES = (
    "give a folder with one folder of pictures for each class, a folder of IDX, .npy or CIFAR's "
    "binary files, an .npz or .mat file, a .csv of pixels, or tfds:NAME"
)


def open_picture_source(
    named: str, seed: int = 0, class_pattern: str = "", labels_as: str = "", masks: str = ""
) -> PictureSource:
    """The source that a person names.

    Args:
      named: a folder, a file of arrays or pixels, or `tfds:NAME`.
      seed: of the order in which a folder's pictures are kept.
      class_pattern: where the class stands in the name of a folder's picture; "" where it does not.
      labels_as: what labels are where classes have names, as of `PreparationSettings`.
      masks: what to do with masks next to pictures in folders, likewise.

    Raises:
      DataError: there is none, or it is none that can be read.
      ConfigError: the pattern is none, or the source no folder of pictures; or no labels of it
        could be read in several ways.
    """
    source = _open_named_source(named, seed, class_pattern, labels_as, masks)
    if labels_as and not isinstance(source, ArraySource | WebDatasetSource):
        raise ConfigError(
            "--labels is for labels in arrays, tables of pixels or WebDataset: here the source "
            "itself says what its classes are, so leave it out."
        )
    return source


def _open_named_source(named: str, seed: int, class_pattern: str, labels_as: str, masks: str) -> PictureSource:
    if named.startswith(_TFDS_PREFIX):
        from ensemble.datasets.own.sources.tfds import TfdsSource  # late: TensorFlow Datasets takes a while

        return TfdsSource(named.removeprefix(_TFDS_PREFIX))
    path = Path(named).expanduser()
    if path.is_dir():
        if class_pattern:
            return FolderSource(path, seed, class_pattern, masks)
        return _open_folder_source(path, seed, labels_as, masks)
    if class_pattern:
        raise ConfigError(f"{CLASS_PATTERN_OPTION} is of pictures' names: give their folder.")
    if not path.is_file():
        raise DataError(f"There is no file or folder {named!r:.200}: {_ACCEPTED_SOURCES}.")
    if arrays := _open_file_arrays(path):
        return ArraySource(arrays, labels_as)
    if path.suffix.lower() in (".parquet", ".arrow"):
        return _open_parquet_source([path], path)
    if path.suffix.lower() == ".tar" and is_webdataset(path):
        return WebDatasetSource([path], path, seed, labels_as)
    check_foreign_file(path)
    if zipfile.is_zipfile(path) or path.name.lower().endswith((".tar", ".tgz", ".tar.gz", ".7z")):
        raise DataError(f"{path.name} is an archive: unpack it and give the folder.")
    raise DataError(f"{path.name} is not a supported kind of file: {_ACCEPTED_SOURCES}.")


def _open_folder_source(path: Path, seed: int, labels_as: str, masks: str) -> PictureSource:
    """The source in a folder: by the files that it holds, else by its folders.

    Raises:
      DataError: it cannot be read, or is none.
    """
    folder = source_folder.list_source_folder(path)
    if find_idx_files(folder.path):
        return IdxSource(folder.path)
    if arrays := _find_folder_arrays(folder):
        return ArraySource(arrays, labels_as)
    # A folder of pictures is known by the first of them, before all files are looked through.
    if not FolderWalk(path).has_pictures(path):
        if shards := list_shards(path, ".parquet") or list_shards(path, ".arrow"):
            return _open_parquet_source(shards, path)
        shards = list_shards(path, ".tar")
        if shards and is_webdataset(shards[0]):
            return WebDatasetSource(shards, path, seed, labels_as)
    return FolderSource(path, seed, "", masks)


def _open_parquet_source(paths: Sequence[Path], root: Path) -> PictureSource:
    """The source in Parquet files; DataError where they are none."""
    from ensemble.datasets.own.sources.encoded.parquet_pictures import ParquetSource  # late: Arrow takes a while

    return ParquetSource(paths, root)


def _find_folder_arrays(folder: source_folder.SourceFolder) -> NamedArrays | None:
    """The arrays that a folder's files are; None where it holds none.

    Raises:
      DataError: they cannot be read, or are pickled.
    """
    if version := cifar_binary.find_cifar_version(folder):
        return cifar_binary.CifarArrays(folder, version)
    if files := mat_files.find_mat_files(folder):
        return mat_files.MatArrays(files, folder.path)
    if path := hdf5_files.find_hdf5_file(folder):
        return hdf5_files.Hdf5Arrays(path)
    if npy_files.has_npy_files(folder):
        return npy_files.NpyFiles(folder)
    return pixel_csv.find_pixel_files(folder)


def _open_file_arrays(path: Path) -> NamedArrays | None:
    """The arrays in a file; None where its name is none of such a file.

    Raises:
      DataError: they cannot be read, are pickled, or are only a part.
    """
    name = path.name.lower()
    cifar_binary.check_cifar_file(path)
    if name.endswith(".npz"):
        return NpzArrays(path)
    if name.endswith(hdf5_files.SUFFIXES):
        return hdf5_files.Hdf5Arrays(path)
    if name.endswith(mat_files.SUFFIX):
        return mat_files.MatArrays({"train": [path]}, path)
    if name.endswith(pixel_csv.SUFFIXES):
        return pixel_csv.open_pixel_file(path)
    if name.endswith(npy_files.SUFFIX):
        raise DataError(f"{path.name} is one array: give the folder in which images.npy and labels.npy lie.")
    return None
