"""Decisions applied: a new dataset of one's own, beside the one that they were made on.

The old one stays, and so do its runs. Whatever a dataset is (one's own, or built in), the new one
is one's own, and named after it: `leaves_2`, then `leaves_3`.
"""

import re
import shutil
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ensemble.access import Action, check_permission
from ensemble.datasets.dataset import Dataset
from ensemble.datasets.decisions.decision_table import SPLITS, LabelChanges
from ensemble.datasets.entry import DatasetEntry
from ensemble.datasets.own import custom_registry, dataset_builder, staging
from ensemble.datasets.own.arrays import compute_labels_crc32
from ensemble.datasets.own.recorded_levels import load_dataset_levels
from ensemble.datasets.own.request import MAX_NAME_LENGTH, RESERVED_NAMES, DatasetNaming, PreparationSettings
from ensemble.datasets.own.source import DatasetImageFormat, PictureSurvey, Pixels
from ensemble.datasets.progress import Progress
from ensemble.datasets.registry import find_dataset_entry
from ensemble.errors import DataError
from ensemble.storage.atomic_files import read_json, write_json

_VERSION_SUFFIX = re.compile(r"_([1-9]\d{0,5})$")
TITLE_SUFFIX = re.compile(r" \([1-9]\d{0,5}\)$")
_MAX_NAME_LETTERS = 32
_FIRST_VERSION = 2  # the dataset itself is the first


class _RelabeledSource:
    """A dataset as it is after changes; a `source.PictureSource`.

    Args:
      dataset: as it is.
      changes: to its labels and images.
      survey: of its images.
    """

    def __init__(self, dataset: Dataset, changes: LabelChanges, survey: PictureSurvey) -> None:
        self._dataset, self._survey = dataset, survey
        self.class_names = dataset.class_names
        self.origin = f"{dataset.name}, {describe_changes(changes)}"
        self.notes: list[str] = []
        self._remaining, labels = {}, {}
        for split in SPLITS:
            every = getattr(dataset, f"{split}_labels").copy()
            for number, label in changes.new_labels[split].items():
                every[number] = label
            stays = np.ones(len(every), bool)
            stays[list(changes.removed[split])] = False
            self._remaining[split] = np.flatnonzero(stays)
            labels[split] = every[stays]
        self.labels: Mapping[str, NDArray[np.int32]] = labels
        self.groups: Mapping[str, NDArray[np.int64]] = {
            split: groups[self._remaining[split]]
            for split in SPLITS
            if (groups := getattr(dataset, f"{split}_groups")) is not None
        }

    def survey(self) -> PictureSurvey:
        """As of the dataset."""
        return self._survey

    def iterate_pictures(self, split: str, form: DatasetImageFormat) -> Iterator[Pixels]:
        """The images that stay, as they are."""
        images = getattr(self._dataset, f"{split}_images")
        for number in self._remaining[split]:
            yield images[number]


def describe_changes(changes: LabelChanges) -> str:
    """What changes, in a few words: "41 labels mended, 3 images removed"."""
    relabeled, removed = changes.count_relabeled(), changes.count_removed()
    parts = []
    if relabeled:
        parts.append(f"{relabeled:,} label{'s' * (relabeled > 1)} mended")
    if removed:
        parts.append(f"{removed:,} image{'s' * (removed > 1)} removed")
    return ", ".join(parts)


def suggest_version_name(name: str) -> str:
    """A free name for the next version of a dataset: "leaves_2", after that "leaves_3"."""
    found = _VERSION_SUFFIX.search(name)
    stem, number = (name[: found.start()], int(found[1])) if found else (name, _FIRST_VERSION - 1)
    while True:
        number += 1
        suffix = f"_{number}"
        candidate = stem[: _MAX_NAME_LETTERS - len(suffix)] + suffix
        folder = custom_registry.custom_datasets_folder() / candidate
        if candidate not in RESERVED_NAMES and not folder.exists():
            return candidate


def list_relabeled_versions(name: str, fingerprint: str) -> dict[str, custom_registry.CustomDatasetNote]:
    """The datasets that were made by mending the labels of one, the newest first.

    Args:
      name: of the one that they were made of.
      fingerprint: of that one, as its entry has it: another may have had its name.
    """
    versions = {
        own: note
        for own in custom_registry.list_custom_datasets()
        if (note := custom_registry.read_custom_note(own))
        and (note.relabeled_from, note.relabeled_fingerprint) == (name, fingerprint)
    }
    return dict(sorted(versions.items(), key=lambda version: -version[1].added))


def find_equal_version(dataset: Dataset, changes: LabelChanges) -> str:
    """The name of a version that has these very changes; "" where there is none."""
    source = _RelabeledSource(dataset, changes, PictureSurvey())
    crc32s = [compute_labels_crc32(source.labels[split]) for split in SPLITS]
    removed = [len(changes.removed[split]) for split in SPLITS]
    return next(
        (
            name
            for name, note in list_relabeled_versions(dataset.name, dataset.digest).items()
            if note.labels_crc32 == crc32s and note.removed == removed
        ),
        "",
    )


def relabel_dataset(
    dataset: Dataset, changes: LabelChanges, new_name: str = "", progress: Progress | None = None
) -> custom_registry.CustomDatasetNote:
    """Add the dataset as it is after changes, as one's own under a name of its own.

    Args:
      dataset: the one that the changes are to; it stays as it is.
      changes: which labels become others, and which images go.
      new_name: of the new one; "" for `suggest_version_name`.
      progress: called now and then as progress(fraction in [0, 1], message).

    Returns:
      What is kept of the new one.

    Raises:
      AccessError: whoever asks may add no data.
      ConfigError: the name is none.
      DataError: nothing changes, there is a dataset of that name, or too little would be left.
      StorageError: a full disk, or a data folder that cannot be written; nothing is left behind.
    """
    check_permission(Action.ADD_DATA)
    if not (changes.count_relabeled() or changes.count_removed()):
        raise DataError(
            "No label is changed and no image removed: there is nothing to make a new version of. "
            "Relabel or remove at least one image first."
        )
    entry = find_dataset_entry(dataset.name)
    new_name = new_name or suggest_version_name(dataset.name)
    title = f"{TITLE_SUFFIX.sub('', entry.title)[: MAX_NAME_LENGTH - 10]} ({_find_suffix(new_name)})"
    called = DatasetNaming(new_name, title, entry.noun)
    if custom_registry.find_custom_entry(new_name):
        raise DataError(staging.describe_taken_name(new_name))
    folder, _ = dataset_builder.stage_custom_dataset(
        _RelabeledSource(dataset, changes, _survey_dataset(dataset, entry)),
        PreparationSettings(merge_classes=False),
        called,
        progress,
    )
    try:
        _record_changes(folder, entry, changes)
        staging.publish_staged_dataset(folder, new_name)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    note = custom_registry.read_custom_note(new_name)
    if note is None:
        raise DataError(f"The dataset {new_name} has been removed meanwhile: make it again.")
    return note


def _find_suffix(name: str) -> str:
    """What tells a version's title from another's: its number, else its name."""
    found = _VERSION_SUFFIX.search(name)
    return found[1] if found else name


def _survey_dataset(dataset: Dataset, entry: DatasetEntry) -> PictureSurvey:
    height, width, channels = dataset.image_shape
    count = len(dataset.train_images) + len(dataset.test_images)
    levels = load_dataset_levels(dataset.name, entry.fingerprint)
    return PictureSurvey(Counter({(height, width): count}), channels == 1, levels)


def _record_changes(folder: Path, entry: DatasetEntry, changes: LabelChanges) -> None:
    with staging.convert_staging_errors(entry.name):
        note = read_json(folder / custom_registry.NOTE_FILE)
        note |= {
            "relabeled_from": entry.name,
            "relabeled_fingerprint": entry.fingerprint,
            "relabeled": [len(changes.new_labels[split]) for split in SPLITS],
            "removed": [len(changes.removed[split]) for split in SPLITS],
        }
        write_json(folder / custom_registry.NOTE_FILE, note, durable=True)
