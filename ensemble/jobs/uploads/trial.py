"""A person's images prepared on trial: all of a dataset but its name, to be looked at first."""

import shutil
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ensemble.access import Action, owners
from ensemble.datasets.dataset import Dataset
from ensemble.datasets.own import adding, arrays, entries, opening
from ensemble.datasets.own.request import Called, Preparation
from ensemble.datasets.progress import Progress
from ensemble.errors import NotPreparedError
from ensemble.storage.arrays.damage import DamagedFileError
from ensemble.storage.atomic import read_json, write_json
from ensemble.storage.reading import parse_json, read_bytes
from ensemble.storage.records.fields import Count, read_as

NAME = "trial"  # of a dataset that has none yet
PREPARED, FOUND = "prepared", "found.json"


@dataclass(frozen=True)
class Found:
    """What was met on the way, for people.

    Attributes:
      sizes: of the images as they came, and how many there are of each, the commonest first.
      unreadable: files that cannot be read, and why: the first of them.
      unreadable_count: how many there are.
    """

    sizes: list[str]
    unreadable: list[str]
    unreadable_count: Count


@dataclass(frozen=True, eq=False)
class Trial:
    """What would be added.

    Attributes:
      note: what would be kept of it; its title and noun are still to be chosen.
      dataset: its images and labels, as memory maps.
      found: what was met on the way.
    """

    note: entries.Note
    dataset: Dataset
    found: Found

    def counts(self, labels: NDArray[np.int32]) -> NDArray[np.int64]:
        """How many of these labels each class has, (C,)."""
        return np.bincount(labels, minlength=len(self.note.class_names)).astype(np.int64)


def prepare(source: Path, folder: Path, how: Preparation, progress: Progress) -> None:
    """Prepare what lies in `source`, to be looked at in `folder` until it is kept.

    Args:
      source: a folder or an .npz file.
      folder: of the upload, on the disk of the datasets; what was prepared there before goes.
      how: size, split, what may be unreadable.
      progress: called as progress(fraction in [0, 1] or None, message for people).

    Raises:
      DataError: it is not fit to be a dataset; nothing is left of it.
      StorageError: the disk does not take it.
    """
    staged, report = adding.stage(
        opening.source_of(str(source), how.seed), how, Called(NAME), progress
    )
    try:
        shutil.rmtree(folder / PREPARED, ignore_errors=True)
        found = Found(
            [f"{width}×{height}: {many:,}" for height, width, many in report.sizes],
            [f"{where}: {why}" for where, why in report.unreadable],
            report.unreadable_count,
        )
        write_json(folder / FOUND, asdict(found))
        staged.rename(folder / PREPARED)
    except BaseException:
        shutil.rmtree(staged, ignore_errors=True)
        raise


def read(folder: Path) -> Trial:
    """What was prepared in an upload's folder.

    Raises:
      NotPreparedError: it is not there, or not what was written.
    """
    try:
        said = read_bytes(folder / PREPARED / entries.NOTE, entries.MOST_BYTES)
        note = read_as(entries.Note, parse_json(said))
        made = arrays.read(folder / PREPARED, entries.as_entry(NAME, note), note.labels_crc32)
        return Trial(note, made, read_as(Found, read_json(folder / FOUND)))
    except (OSError, ValueError, DamagedFileError) as error:
        raise NotPreparedError(
            f"What was made of this upload cannot be read ({error}): upload the file again."
        ) from error


def keep(folder: Path, called: Called) -> None:
    """What was prepared in an upload's folder takes its place among the datasets.

    Raises:
      AccessError: it is somebody else's upload.
      DataError: there is one of that name, or it is not there any more.
      StorageError: the disk refuses; it stays where it was.
    """
    owners.check_own(Action.CHANGE, folder)
    adding.accept(folder / PREPARED, called)


def examples(trial: Trial, classes: NDArray[np.int64], most: int) -> list[NDArray[np.uint8]]:
    """The first training images of some classes, each (E, H, W, channels), E at most `most`."""
    labels = trial.dataset.train_labels
    return [trial.dataset.train_images[np.flatnonzero(labels == c)[:most]] for c in classes]
