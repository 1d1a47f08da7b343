"""A new version of a dataset whose training images are its own and labelled ones of a pool.

Test images stay as they are, so that runs on both versions are judged alike.
"""

import shutil
from collections import Counter
from collections.abc import Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from ensemble.access import Action, check_permission
from ensemble.datasets.dataset import Dataset
from ensemble.datasets.decisions.relabeling import TITLE_SUFFIX, suggest_version_name
from ensemble.datasets.own import custom_registry, dataset_builder, staging
from ensemble.datasets.own.pools.label_pool import LabelPool
from ensemble.datasets.own.pools.pool_labels import Labels
from ensemble.datasets.own.recorded_levels import load_dataset_levels
from ensemble.datasets.own.request import MAX_NAME_LENGTH, DatasetNaming, PreparationSettings
from ensemble.datasets.own.source import DatasetImageFormat, PictureSurvey, Pixels
from ensemble.datasets.progress import Progress
from ensemble.datasets.registry import find_dataset_entry
from ensemble.errors import DataError
from ensemble.storage.atomic_files import read_json, write_json


class _ExtendedSource:
    """A dataset with more training images; a `source.PictureSource`.

    Args:
      dataset: as it is.
      pool: whose images join its training images.
      labels: the classes of these, by their numbers in the pool.
      survey: of the dataset's images.
    """

    def __init__(self, dataset: Dataset, pool: LabelPool, labels: Labels, survey: PictureSurvey) -> None:
        self._dataset, self._images, self._survey = dataset, pool.images, survey
        self._numbers = sorted(labels)
        self.class_names = dataset.class_names
        self.origin = f"{dataset.name} and {describe_added_labels(len(labels))} of {pool.name}"
        self.notes: list[str] = []
        added = np.array([labels[number] for number in self._numbers], np.int32)
        self.labels: Mapping[str, NDArray[np.int32]] = {
            "train": np.concatenate([dataset.train_labels, added]),
            "test": dataset.test_labels,
        }
        self.groups: dict[str, NDArray[np.int64]] = {}
        groups = dataset.train_groups
        if groups is not None:
            # Whose the pool's images are, nobody knows: each is a group of its own.
            top = max(int(each.max()) for each in (groups, dataset.test_groups) if each is not None)
            self.groups["train"] = np.concatenate([groups, top + 1 + np.arange(len(added))])
        if dataset.test_groups is not None:
            self.groups["test"] = dataset.test_groups

    def survey(self) -> PictureSurvey:
        """As of the dataset."""
        return self._survey

    def iterate_pictures(self, split: str, form: DatasetImageFormat) -> Iterator[Pixels]:
        """The images as they are, the pool's behind the dataset's own."""
        yield from getattr(self._dataset, f"{split}_images")
        if split == "train":
            for number in self._numbers:
                yield self._images[number]


def describe_added_labels(count: int) -> str:
    """So many labelled images: "41 labelled images"."""
    return f"{count:,} labelled image{'s' * (count != 1)}"


def extend_dataset(
    dataset: Dataset, pool: LabelPool, labels: Labels, new_name: str = "", progress: Progress | None = None
) -> custom_registry.CustomDatasetNote:
    """Add the dataset with labelled images of a pool, as one's own under a name of its own.

    Args:
      dataset: the one in whose form the pool is, or a version of it; it stays as it is.
      pool: whose images join its training images.
      labels: the classes of these, by their numbers in the pool.
      new_name: of the new one; "" for the next version's, as "leaves_2".
      progress: called now and then as progress(fraction in [0, 1], message).

    Returns:
      What is kept of the new one.

    Raises:
      AccessError: whoever asks may add no data.
      ConfigError: the name is none.
      DataError: there is no label, a dataset of that name, or the pool is of another form.
      StorageError: a full disk, or a data folder that cannot be written; nothing is left behind.
    """
    check_permission(Action.ADD_DATA)
    if not labels:
        raise DataError(
            f"No image of the pool {pool.name} has a label yet: label some on the screen Labels, "
            "or give a table with --table."
        )
    if (list(dataset.class_names), list(dataset.image_shape)) != (pool.note.class_names, pool.note.image_shape):
        raise DataError(
            f"The pool {pool.name} has other classes or another size than {dataset.name}: it was "
            f"made for {pool.note.dataset}."
        )
    entry = find_dataset_entry(dataset.name)
    new_name = new_name or suggest_version_name(dataset.name)
    if custom_registry.find_custom_entry(new_name):
        raise DataError(staging.describe_taken_name(new_name))
    title = f"{TITLE_SUFFIX.sub('', entry.title)[: MAX_NAME_LENGTH - 40]} ({new_name})"
    height, width, channels = dataset.image_shape
    count = len(dataset.train_images) + len(dataset.test_images)
    levels = load_dataset_levels(dataset.name, entry.fingerprint)
    survey = PictureSurvey(Counter({(height, width): count}), channels == 1, levels)
    folder, _ = dataset_builder.stage_custom_dataset(
        _ExtendedSource(dataset, pool, labels, survey),
        PreparationSettings(merge_classes=False),
        DatasetNaming(new_name, title, entry.noun),
        progress,
    )
    try:
        with staging.convert_staging_errors(entry.name):
            note = read_json(folder / custom_registry.NOTE_FILE)
            note |= {
                "extended_from": dataset.name,
                "extended_fingerprint": entry.fingerprint,
                "extended_by": len(labels),
                "pool": pool.name,
            }
            write_json(folder / custom_registry.NOTE_FILE, note, durable=True)
        staging.publish_staged_dataset(folder, new_name)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    made = custom_registry.read_custom_note(new_name)
    if made is None:
        raise DataError(f"The dataset {new_name} has been removed meanwhile: make it again.")
    return made


def list_extended_versions(pool: LabelPool) -> dict[str, int]:
    """The datasets that have labelled images of a pool, with how many, the newest first."""
    found = {
        name: note
        for name in custom_registry.list_custom_datasets()
        if (note := custom_registry.read_custom_note(name))
        and note.pool == pool.name
        and note.extended_from == pool.note.dataset
    }
    ordered = sorted(found.items(), key=lambda version: -version[1].added)
    return {name: note.extended_by for name, note in ordered}
