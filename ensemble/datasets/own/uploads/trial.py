"""A person's images prepared on trial: all of a dataset but its name, to be looked at first."""

import os
import time
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ensemble.datasets.dataset import Dataset
from ensemble.datasets.own import arrays, entries
from ensemble.datasets.progress import Progress
from ensemble.datasets.registry import DATASETS
from ensemble.errors import ConfigError, NotPreparedError, StorageError
from ensemble.storage.arrays.damage import DamagedFileError
from ensemble.storage.atomic import write_json
from ensemble.storage.reading import parse_json, read_bytes
from ensemble.storage.records.fields import read_as
from ensemble.storage.refusals import remedy, why

__all__ = ["Progress", "Trial", "examples", "keep", "read"]

NAME = "trial"  # of a dataset that has none yet


@dataclass(frozen=True, eq=False)
class Trial:
    """What would be added.

    Attributes:
      note: what would be kept of it; its title and noun are still to be chosen.
      dataset: its images and labels, as memory maps.
    """

    note: entries.Note
    dataset: Dataset

    def counts(self, labels: NDArray[np.int32]) -> NDArray[np.int64]:
        """How many of these labels each class has, (C,)."""
        return np.bincount(labels, minlength=len(self.note.class_names)).astype(np.int64)


def prepare(source: Path, folder: Path, request: object, progress: Progress) -> None:
    """Prepare."""
    raise NotImplementedError


def read(folder: Path) -> Trial:
    """What was prepared in a folder.

    Raises:
      NotPreparedError: it is not there, or not what was written.
    """
    try:
        note = read_as(
            entries.Note, parse_json(read_bytes(folder / entries.NOTE, entries.MOST_BYTES))
        )
        found = arrays.read(folder, entries.as_entry(NAME, note), note.labels_crc32)
    except (OSError, ValueError, DamagedFileError) as error:
        raise NotPreparedError(
            f"What was made of this upload cannot be read ({error}): upload the file again."
        ) from error
    return Trial(note, found)


def examples(trial: Trial, classes: NDArray[np.int64], most: int) -> list[NDArray[np.uint8]]:
    """The first training images of some classes, each (E, H, W, channels), E at most `most`."""
    labels = trial.dataset.train_labels
    return [trial.dataset.train_images[np.flatnonzero(labels == c)[:most]] for c in classes]


def keep(folder: Path, name: str, title: str, noun: str) -> None:
    """Give what was prepared its name and its place among the datasets.

    Raises:
      ConfigError: the name is none, or is taken.
      NotPreparedError: it is not there any more.
      StorageError: the disk refuses; it stays where it was.
    """
    check_name(name)
    found = read(folder).note
    note = replace(found, title=one_line(title), noun=one_line(noun), added=time.time())
    target = entries.folder() / name
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        write_json(folder / entries.NOTE, asdict(note), durable=True)
        if os.path.lexists(target):
            raise taken(name)
        # Of two at once the second finds a folder that is not empty.
        folder.rename(target)
    except FileExistsError as error:
        raise taken(name) from error
    except OSError as error:
        if os.path.lexists(target):
            raise taken(name) from error
        raise StorageError(
            f"The dataset cannot be kept in {target.parent} ({why(error)}): {remedy(error)}, then "
            "add it again."
        ) from error


def check_name(name: str) -> None:
    """ConfigError unless a dataset of one's own may be called so."""
    if not entries.NAME.fullmatch(name):
        raise ConfigError(
            f"The name “{name:.40}” cannot be used: begin with a small letter, and go on with small "
            "letters, digits and _, 32 at most."
        )
    if name in DATASETS:
        raise taken(name)


def taken(name: str) -> ConfigError:
    """What to say where there is a dataset of that name."""
    return ConfigError(f"There is a dataset called {name}: choose another name, or remove that one "
                       "first.")  # fmt: skip


def one_line(said: str) -> str:
    """A title or noun as it is kept: one line of letters that show."""
    return " ".join("".join(one if one.isprintable() else " " for one in said).split())
