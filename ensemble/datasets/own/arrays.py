"""The arrays of a person's own dataset: memory maps, checked against what is kept of them."""

import zlib
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensemble.datasets.dataset import Dataset
from ensemble.datasets.entry import DatasetEntry
from ensemble.datasets.own import custom_registry
from ensemble.errors import NotPreparedError
from ensemble.storage.arrays.damaged_file import DamagedFileError
from ensemble.storage.arrays.npy import ExpectedArray, map_npy
from ensemble.storage.disk_errors import describe_os_error

SPLITS = ("train", "test")


def load_custom_dataset(entry: DatasetEntry) -> Dataset:
    """The dataset; its images are read-only memory maps, which take no memory of their own.

    Raises:
      NotPreparedError: it has been removed, or its files are not what was written.
    """
    note = custom_registry.read_custom_note(entry.name)
    if note is None:
        raise NotPreparedError(f"The dataset {entry.name} has been removed meanwhile.")
    try:
        return read_custom_dataset(
            custom_registry.custom_datasets_folder() / entry.name, entry, note.labels_crc32, note.whole_groups
        )
    except FileNotFoundError as error:
        raise NotPreparedError(_describe_damaged_dataset(entry, "one of its files is missing")) from error
    except DamagedFileError as error:
        raise NotPreparedError(_describe_damaged_dataset(entry, str(error))) from error
    except OSError as error:
        raise NotPreparedError(_describe_damaged_dataset(entry, describe_os_error(error))) from error


def _describe_damaged_dataset(entry: DatasetEntry, what: str) -> str:
    return (
        f"{entry.title} cannot be read ({what}): remove it with `ensemble data remove {entry.name}`, then add it again."
    )


def is_custom_dataset_intact(entry: DatasetEntry) -> bool:
    """Whether `load_custom_dataset` will find the dataset, told in milliseconds."""
    try:
        load_custom_dataset(entry)
    except NotPreparedError:
        return False
    return True


def read_custom_dataset(folder: Path, entry: DatasetEntry, crc32s: list[int], whole_groups: bool = False) -> Dataset:
    """The dataset in a folder, which may not have its place and name yet.

    Args:
      folder: where its files are.
      entry: the registry's form of it.
      crc32s: of its training and its test labels.
      whole_groups: whether it has the groups of its training images, to hold out by.

    Raises:
      DamagedFileError: a file is not what `entry` says.
      OSError: one cannot be read.
    """
    sizes = {"train": entry.train_size, "test": entry.test_size}
    images = {
        split: map_npy(folder / f"{split}_images.npy", ExpectedArray((sizes[split], *entry.image_shape), "uint8"))
        for split in SPLITS
    }
    labels = {split: _load_label_array(folder, split, sizes[split], entry) for split in SPLITS}
    if [compute_labels_crc32(labels[split]) for split in SPLITS] != crc32s:
        raise DamagedFileError("its labels are not the ones that were written")
    return Dataset(
        name=entry.name,
        # Not as np.memmap, whose every slice looks for its file again.
        train_images=np.asarray(images["train"]),
        train_labels=labels["train"],
        test_images=np.asarray(images["test"]),
        test_labels=labels["test"],
        class_names=entry.class_names,
        source=entry.source,
        noun=entry.noun,
        digest=entry.fingerprint,
        train_groups=_load_groups(folder, "train", entry.train_size) if whole_groups else None,
        test_groups=_load_groups(folder, "test", entry.test_size),
    )


def compute_labels_crc32(labels: NDArray[np.int32]) -> int:
    """CRC-32 of labels: a cheap check that a file is what was written."""
    return zlib.crc32(np.ascontiguousarray(labels).view(np.uint8).data)


def _load_groups(folder: Path, split: str, size: int) -> NDArray[np.int64] | None:
    """Whose each image of a split is; None where that is not known."""
    path = folder / f"{split}_groups.npy"
    if not path.exists():
        return None
    groups = np.array(map_npy(path, ExpectedArray((size,), "int64")))
    groups.setflags(write=False)
    return groups


def _load_label_array(folder: Path, split: str, size: int, entry: DatasetEntry) -> NDArray[Any]:
    mapped = map_npy(folder / f"{split}_labels.npy", ExpectedArray((size,), "int32"))
    labels = np.array(mapped)
    if labels.min() < 0 or labels.max() >= len(entry.class_names):
        raise DamagedFileError(f"its {split} labels do not match its classes")
    labels.setflags(write=False)
    return labels
