"""The arrays of a person's own dataset: memory maps, checked against what is kept of them."""

import zlib
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensemble.datasets.dataset import Dataset
from ensemble.datasets.entry import Entry
from ensemble.datasets.own import entries
from ensemble.errors import NotPreparedError
from ensemble.storage.arrays.damage import DamagedFileError
from ensemble.storage.arrays.npy import Expected, map_npy
from ensemble.storage.refusals import why

SPLITS = ("train", "test")


def load(entry: Entry) -> Dataset:
    """The dataset; its images are read-only memory maps, which take no memory of their own.

    Raises:
      NotPreparedError: it has been removed, or its files are not what was written.
    """
    note = entries.read_note(entry.name)
    if note is None:
        raise NotPreparedError(f"The dataset {entry.name} has been removed meanwhile.")
    try:
        return read(entries.folder() / entry.name, entry, note.labels_crc32)
    except FileNotFoundError as error:
        raise NotPreparedError(amiss(entry, "a file of it is missing")) from error
    except DamagedFileError as error:
        raise NotPreparedError(amiss(entry, str(error))) from error
    except OSError as error:
        raise NotPreparedError(amiss(entry, why(error))) from error


def amiss(entry: Entry, what: str) -> str:
    """What to say of one that cannot be read."""
    return (
        f"{entry.title} cannot be read ({what}): remove it with `python -m ensemble data remove "
        f"{entry.name}`, then add it again."
    )


def is_sound(entry: Entry) -> bool:
    """Whether `load` will find the dataset, told in milliseconds."""
    try:
        load(entry)
    except NotPreparedError:
        return False
    return True


def read(folder: Path, entry: Entry, crc32s: list[int]) -> Dataset:
    """The dataset in a folder, which may not have its place and name yet.

    Raises:
      DamagedFileError: a file is not what `entry` says.
      OSError: one cannot be read.
    """
    sizes = {"train": entry.train_size, "test": entry.test_size}
    images = {
        split: map_npy(
            folder / f"{split}_images.npy", Expected((sizes[split], *entry.image_shape), "uint8")
        )
        for split in SPLITS
    }
    labels = {split: _labels(folder, split, sizes[split], entry) for split in SPLITS}
    if [crc32(labels[split]) for split in SPLITS] != crc32s:
        raise DamagedFileError("its labels are not those that were written")
    return Dataset(
        name=entry.name,
        # Not as np.memmap, whose every slice looks for its file anew.
        train_images=np.asarray(images["train"]),
        train_labels=labels["train"],
        test_images=np.asarray(images["test"]),
        test_labels=labels["test"],
        class_names=entry.class_names,
        source=entry.source,
        noun=entry.noun,
        digest=entry.fingerprint,
    )


def crc32(labels: NDArray[np.int32]) -> int:
    """CRC-32 of labels: a cheap check that a file is what was written."""
    return zlib.crc32(np.ascontiguousarray(labels).view(np.uint8).data)


def _labels(folder: Path, split: str, size: int, entry: Entry) -> NDArray[Any]:
    mapped = map_npy(folder / f"{split}_labels.npy", Expected((size,), "int32"))
    labels = np.array(mapped)
    if labels.min() < 0 or labels.max() >= len(entry.class_names):
        raise DamagedFileError(f"its {split} labels are not those of its classes")
    labels.setflags(write=False)
    return labels
