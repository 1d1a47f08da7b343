"""Prepared datasets on disk: one array, read as a memory map, and a JSON note beside it.

`<folder>/prepared/mnist.npy` is one run of bytes (uint8, one dimension): training images, test
images, training labels, test labels. `mnist.json` is written last and says how long the file
has to be and what the labels' checksum is, so that a preparation cut short anywhere, and a
file shortened or blanked later, count as not prepared. Both are written beside and renamed:
a reader meets the old file or the new one, and two writers do each other no harm.
"""

import zlib
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from ensemble.datasets.dataset import Dataset
from ensemble.datasets.entry import DatasetEntry
from ensemble.storage.arrays.damaged_file import DamagedFileError
from ensemble.storage.arrays.npy import ExpectedArray, map_npy
from ensemble.storage.atomic_files import open_atomic_write, read_json, write_json

FORMAT = 1


class IncompleteDatasetError(Exception):
    """What is on disk is not a whole preparation. The message says what is amiss."""


def prepared_array_path(folder: Path, name: str) -> Path:
    """The array of dataset `name` in data folder `folder`."""
    return folder / "prepared" / f"{name}.npy"


def prepared_note_path(folder: Path, name: str) -> Path:
    """The note beside `prepared_array_path`."""
    return folder / "prepared" / f"{name}.json"


def write_prepared_dataset(folder: Path, entry: DatasetEntry, parts: list[NDArray[np.uint8]], source: str) -> None:
    """Writes a prepared dataset so that it is there as a whole or not at all.

    Args:
      folder: the data folder.
      entry: the dataset.
      parts: training images, test images (N, H, W), training labels, test labels (N,).
      source: where the files came from, one line for people.

    Raises:
      OSError: it cannot be written; what was begun is removed.
    """
    flat = np.concatenate([part.ravel() for part in parts])
    array = prepared_array_path(folder, entry.name)
    array.parent.mkdir(parents=True, exist_ok=True)
    with open_atomic_write(array, durable=True) as file:
        _write_npy_array(file, flat)
    note = {
        "format": FORMAT,
        "bytes": array.stat().st_size,
        "labels_crc32": _compute_packed_labels_crc32(flat, entry),
        "source": source,
    }
    write_json(prepared_note_path(folder, entry.name), note, durable=True)


def _write_npy_array(file: BinaryIO, flat: NDArray[np.uint8]) -> None:
    """np.save, except that a full disk keeps its errno, which ndarray.tofile drops."""
    np.lib.format.write_array_header_1_0(file, np.lib.format.header_data_from_array_1_0(flat))
    file.write(flat.data)


def read_prepared_dataset(folder: Path, entry: DatasetEntry) -> Dataset:
    """The prepared dataset; its images are a read-only memory map.

    Raises:
      FileNotFoundError: it has not been prepared.
      IncompleteDatasetError: it is not whole; preparing it again repairs it.
    """
    note = _read_prepared_note(folder, entry)
    try:
        flat = map_npy(prepared_array_path(folder, entry.name), ExpectedArray((entry.nbytes_prepared,), "uint8"))
    except (OSError, DamagedFileError) as error:
        raise IncompleteDatasetError(f"its array cannot be read ({error})") from error
    if _compute_packed_labels_crc32(flat, entry) != note.get("labels_crc32"):
        raise IncompleteDatasetError("its labels are not the ones that were written")
    return _create_dataset_views(np.asarray(flat), entry, str(note.get("source", entry.source)))


def is_prepared_dataset_intact(folder: Path, entry: DatasetEntry) -> bool:
    """Whether `read_prepared_dataset` will find the dataset; takes as long, milliseconds."""
    try:
        read_prepared_dataset(folder, entry)
    except (OSError, IncompleteDatasetError):
        return False
    return True


def _read_prepared_note(folder: Path, entry: DatasetEntry) -> dict[str, Any]:
    """The note, after comparing it with the array's length on disk.

    Raises:
      FileNotFoundError: neither note nor array is there.
      IncompleteDatasetError: one of them is missing, or they do not fit together.
    """
    array, note = prepared_array_path(folder, entry.name), prepared_note_path(folder, entry.name)
    if not note.is_file():
        if array.is_file():
            raise IncompleteDatasetError(f"{note.name} is missing")
        raise FileNotFoundError(note)
    try:
        values = read_json(note)
        length = array.stat().st_size
    except (OSError, ValueError) as error:
        raise IncompleteDatasetError(f"its files cannot be read ({error})") from error
    if values.get("format") != FORMAT:
        raise IncompleteDatasetError(f"{note.name} has another version")
    if length != values.get("bytes"):
        raise IncompleteDatasetError(f"{array.name} has {length:,} bytes where {values.get('bytes')} were written")
    return values


def _compute_packed_labels_crc32(flat: NDArray[np.uint8], entry: DatasetEntry) -> int:
    """CRC-32 of all labels: a cheap check that the end of the file is what was written."""
    return zlib.crc32(flat[(entry.train_size + entry.test_size) * entry.bytes_per_image :].tobytes())


def _create_dataset_views(flat: NDArray[np.uint8], entry: DatasetEntry, source: str) -> Dataset:
    """Views of the array's four parts; the labels are copied to int32."""
    train, test = entry.train_size, entry.test_size
    cuts = np.cumsum([train * entry.bytes_per_image, test * entry.bytes_per_image, train])
    train_images, test_images, train_bytes, test_bytes = np.split(flat, cuts)
    train_labels, test_labels = train_bytes.astype(np.int32), test_bytes.astype(np.int32)
    for labels in (train_labels, test_labels):
        labels.setflags(write=False)
    return Dataset(
        name=entry.name,
        train_images=train_images.reshape(train, *entry.image_shape),
        train_labels=train_labels,
        test_images=test_images.reshape(test, *entry.image_shape),
        test_labels=test_labels,
        class_names=entry.class_names,
        source=source,
        noun=entry.noun,
    )
