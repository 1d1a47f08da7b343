"""Which datasets a person has added, and what is known of each: read from its `dataset.json`.

A folder without one is not yet a dataset. The file is replaced, never written into, so inode, time
and size tell whether it has to be read again.
"""

import functools
import os
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

from ensemble.datasets.entry import DatasetEntry
from ensemble.errors import StorageError
from ensemble.storage.folders import data_folder
from ensemble.storage.plain_files import parse_json, read_limited_bytes
from ensemble.storage.records.field_checks import Count, NumberRange, parse_dataclass, unexpected_value_error

NOTE_FILE = "dataset.json"
FORMAT = 1
# Also the beginning of a run's id, which leaves 64 characters for both.
NAME_PATTERN = re.compile(r"[a-z][a-z0-9_]{0,31}")
MOST_CLASSES = 1000
MOST_SIDE = 1024
MAX_NOTE_BYTES = 2**20  # of a note: a thousand names of classes, and what was said of the files

Side = Annotated[int, NumberRange(1, MOST_SIDE)]


@dataclass(frozen=True)
class CustomDatasetNote:
    """What `dataset.json` says. Sizes count images.

    Attributes:
      format: of the note and the arrays beside it.
      title, noun: what people call the dataset, and one image of it.
      class_names: of the labels from 0.
      image_shape: [H, W, channels].
      train_size, test_size: images.
      most_frequent: test images of the commonest class.
      fingerprint: SHA-256 over the four arrays.
      labels_crc32: of the training labels and the test labels, to tell damage at a look.
      source: where the images came from, one line for people.
      alone: training images that are the only one of their class.
      prepared: how they came to this size, for whoever brings another picture to it.
      added: when, unix seconds.
      said: what was left out or stood out when it was added, a sentence each.
      whole_groups: whether runs hold whole groups of training images out; where groups are not
        known, and in datasets of earlier versions, they hold images of each class out.
      levels: what is black and white, by `recorded_levels`; {} in datasets of earlier versions.
      ground: what stands behind transparent pictures, as `PictureLevels` has it.
      tree: how folders were understood, a line for each.
      relabeled_from: the name of the dataset whose labels were mended to make this one; else "".
      relabeled_fingerprint: of that dataset, as its entry has it.
      relabeled: how many training labels and test labels became others then; else [].
      removed: how many training images and test images were taken out then; else [].
      extended_from: the name of the dataset to which labelled images of a pool were added; else "".
      extended_fingerprint: of that dataset, as its entry has it.
      extended_by: how many images.
      pool: the name of the pool that they are of.
    """

    format: int
    title: str
    noun: str
    class_names: list[str]
    image_shape: list[Side]
    train_size: Count
    test_size: Count
    most_frequent: Count
    fingerprint: str
    labels_crc32: list[Count]
    source: str
    alone: Count = 0
    prepared: str = ""
    added: float = 0.0
    said: list[str] = field(default_factory=list)
    whole_groups: bool = False
    levels: dict[str, list[float]] = field(default_factory=dict)
    ground: str = ""
    tree: list[str] = field(default_factory=list)
    relabeled_from: str = ""
    relabeled_fingerprint: str = ""
    relabeled: list[Count] = field(default_factory=list)
    removed: list[Count] = field(default_factory=list)
    extended_from: str = ""
    extended_fingerprint: str = ""
    extended_by: Count = 0
    pool: str = ""

    @property
    def training_changed(self) -> bool:
        """Whether mending labels changed or removed a training image; False of no such version."""
        return any(counts[0] for counts in (self.relabeled, self.removed) if counts)


def custom_datasets_folder() -> Path:
    """Where they all lie; it need not be there."""
    return data_folder() / "own"


def list_custom_datasets() -> tuple[str, ...]:
    """The datasets that a person has added and that can be read, in alphabetical order."""
    try:
        with os.scandir(custom_datasets_folder()) as inside:
            names = sorted(entry.name for entry in inside if NAME_PATTERN.fullmatch(entry.name))
    except (OSError, StorageError):
        return ()
    return tuple(name for name in names if find_custom_entry(name))


def find_custom_entry(name: str) -> DatasetEntry | None:
    """The entry of a person's own dataset; None if there is none that can be read."""
    note = read_custom_note(name)
    return convert_note_to_entry(name, note) if note else None


def read_custom_note(name: str) -> CustomDatasetNote | None:
    """What is kept of a person's own dataset; None if there is none that can be read."""
    if not isinstance(name, str) or not NAME_PATTERN.fullmatch(name):
        return None
    try:
        path = custom_datasets_folder() / name / NOTE_FILE
        file_status = os.stat(path)
        return _parse_note_file(path, (file_status.st_ino, file_status.st_mtime_ns, file_status.st_size))
    except (OSError, ValueError, StorageError):
        return None


@functools.lru_cache(maxsize=256)
def _parse_note_file(path: Path, version: tuple[int, int, int]) -> CustomDatasetNote:
    note = parse_dataclass(CustomDatasetNote, parse_json(read_limited_bytes(path, MAX_NOTE_BYTES)))
    if note.format != FORMAT or len(note.image_shape) != 3 or note.image_shape[2] not in (1, 3):
        raise unexpected_value_error("image_shape", note.image_shape)
    if not 2 <= len(note.class_names) <= MOST_CLASSES or not (note.train_size and note.test_size):
        raise unexpected_value_error("class_names", note.class_names)
    return note


def convert_note_to_entry(name: str, note: CustomDatasetNote) -> DatasetEntry:
    """The registry's form of a note."""
    height, width, channels = note.image_shape
    return DatasetEntry(
        name=name,
        title=note.title,
        train_size=note.train_size,
        test_size=note.test_size,
        class_names=tuple(note.class_names),
        source=note.source,
        most_frequent=note.most_frequent,
        handwritten=False,
        image_shape=(height, width, channels),
        noun=note.noun,
        own=True,
        fingerprint=note.fingerprint,
        alone=note.alone,
    )
