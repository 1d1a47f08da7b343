"""A source of pictures becomes a dataset: read once, written as it is read, there whole or not."""

import hashlib
import json
import math
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ensemble.datasets.duplicates import (
    MAX_BYTES,
    DuplicateImages,
    StoredImages,
    find_duplicate_images,
    load_training_copies,
)
from ensemble.datasets.own import arrays, custom_registry, staging
from ensemble.datasets.own.class_spelling import resolve_class_spelling
from ensemble.datasets.own.picture_copy import SPLITS, CopyProgress, CopyResult, copy_pictures
from ensemble.datasets.own.recorded_levels import serialize_levels
from ensemble.datasets.own.report import PreparationReport, count_duplicate_images, describe_dataset_anomalies
from ensemble.datasets.own.request import DEFAULT_SIDE, LEAST_SIDE, DatasetNaming, PreparationSettings, sanitize_text
from ensemble.datasets.own.source import DatasetImageFormat, PictureSource, PictureSurvey
from ensemble.datasets.partition.split import count_singleton_classes, select_class_indices, select_whole_groups
from ensemble.datasets.progress import Progress
from ensemble.errors import DataError
from ensemble.storage.atomic_files import write_json

_TEST_GROUPS_STREAM = 0x6E57  # tells these draws from any other by the same seed
_MAX_SIZES_LISTED = 20  # that are told, the commonest


def add_custom_dataset(
    source: PictureSource, how: PreparationSettings, called: DatasetNaming, progress: Progress | None = None
) -> PreparationReport:
    """Adds a dataset, to be found by `registry.find_dataset_entry` from then on.

    Args:
      source: its pictures.
      how: size, split, what may be unreadable.
      called: its name, title and noun.
      progress: called now and then as progress(fraction in [0, 1], message).

    Raises:
      DataError: there is one of that name, or the source is not fit to be one.
      StorageError: a full disk, or a data folder that cannot be written; nothing is left behind.
    """
    if custom_registry.find_custom_entry(called.name):
        raise DataError(staging.describe_taken_name(called.name))
    with staging.open_staging_folder(called.name) as folder:
        report = _build_staged_dataset(folder, source, how, called, progress)
        staging.publish_staged_dataset(folder, called.name)
    return report


def stage_custom_dataset(
    source: PictureSource, how: PreparationSettings, called: DatasetNaming, progress: Progress | None = None
) -> tuple[Path, PreparationReport]:
    """As `add_custom_dataset`, but the dataset waits in a folder, a day at most, for a yes.

    Its name may be that of another by then: it is given one when it is accepted.
    """
    with staging.open_staging_folder(called.name) as folder:
        return folder, _build_staged_dataset(folder, source, how, called, progress)


def accept_staged_dataset(folder: Path, called: DatasetNaming) -> None:
    """A staged dataset is added, under this name.

    Raises:
      DataError: there is one of that name, or it has waited too long.
      StorageError: the data folder cannot be written.
    """
    with staging.convert_staging_errors(called.name):
        try:
            note = json.loads((folder / custom_registry.NOTE_FILE).read_bytes())
        except FileNotFoundError as error:
            raise DataError("The prepared files no longer exist: add the dataset again.") from error
        note |= {"title": called.title, "noun": called.noun}
        write_json(folder / custom_registry.NOTE_FILE, note, durable=True)
    staging.publish_staged_dataset(folder, called.name)


def _build_staged_dataset(
    folder: Path, source: PictureSource, how: PreparationSettings, called: DatasetNaming, progress: Progress | None
) -> PreparationReport:
    source = resolve_class_spelling(source, how.merge_classes)
    if progress:
        progress(0.0, f"Looking at the pictures of {called.title}")
    survey = source.survey()
    form = _choose_image_format(survey, how)
    tests, split_said = _draw_test_mask(source, how)
    total = sum(len(labels) for labels in source.labels.values())
    staging.check_staging_space(called.name, total * (form.height * form.width * form.channels + 4))
    copied = copy_pictures(folder, source, form, tests, CopyProgress(progress, total))
    _check_unreadable_share(copied, total, how)
    labels = {split: np.array(copied.labels[split], np.int32) for split in SPLITS}
    counts = _count_images_per_class(labels, source.class_names)
    duplicates = count_duplicate_images(copied.hashes)
    if progress:
        progress(1.0, f"Looking for copies among the pictures of {called.title}")
    copies = _find_copies(folder)
    sentences = [
        *source.notes,
        *split_said,
        *_describe_groups(copied),
        *describe_dataset_anomalies(copied, counts, source.class_names, duplicates, copies),
    ]
    note = custom_registry.CustomDatasetNote(
        format=custom_registry.FORMAT,
        title=called.title,
        noun=called.noun,
        class_names=list(source.class_names),
        image_shape=list(form.shape),
        train_size=len(labels["train"]),
        test_size=len(labels["test"]),
        most_frequent=max(counts["test"]),
        alone=count_singleton_classes(np.array(counts["train"])),
        fingerprint=_compute_dataset_fingerprint(copied.digests, source.class_names),
        labels_crc32=[arrays.compute_labels_crc32(labels[split]) for split in SPLITS],
        source=f"Your own: {sanitize_text(source.origin):.200}",
        prepared=form.description,
        added=time.time(),
        said=sentences,
        whole_groups=len(set(copied.groups["train"])) > 1,
        levels=serialize_levels(survey.levels),
        ground=survey.levels.ground,
        tree=survey.tree,
    )
    # Last: a folder without it is no dataset.
    write_json(folder / custom_registry.NOTE_FILE, vars(note), durable=True)
    sizes = [(*size, many) for size, many in survey.sizes.most_common(_MAX_SIZES_LISTED)]
    listed = [(sanitize_text(picture.location), picture.reason) for picture in copied.unreadable]
    if copies:  # For whoever looks at runs of it.
        load_training_copies(note.fingerprint, lambda: copies)
    return PreparationReport(
        note=note,
        counts=counts,
        sizes=sizes,
        unreadable=listed,
        unreadable_count=copied.unreadable_count,
        duplicates=duplicates,
        training_copies=int(copies.in_training.sum()) if copies else None,
        test_copies=copies.copies if copies else None,
    )


def _find_copies(folder: Path) -> DuplicateImages | None:
    """Copies among the pictures as they are stored; None where they are too many to look."""
    train, test = (StoredImages(folder / f"{split}_images.npy") for split in SPLITS)
    if not len(test) or train.nbytes + test.nbytes > MAX_BYTES:
        return None
    return find_duplicate_images(test, train)


def _choose_image_format(survey: PictureSurvey, how: PreparationSettings) -> DatasetImageFormat:
    """The form that all pictures are brought to, by `PreparationSettings.size`."""
    channels = 1 if survey.grey else 3
    if not survey.sizes:
        raise DataError("None of the pictures can be read: check whether they open elsewhere.")
    if not how.size and len(survey.sizes) == 1:
        ((height, width),) = survey.sizes
        if min(height, width) < LEAST_SIDE or max(height, width) > custom_registry.MOST_SIDE:
            raise DataError(
                f"All pictures are {width:,}×{height:,} pixels, but a side has to have "
                f"{LEAST_SIDE} to {custom_registry.MOST_SIDE:,}: resize them with --size 64."
            )
        return DatasetImageFormat(height, width, channels, resize=False)
    size = how.size or DEFAULT_SIDE
    same = set(survey.sizes) == {(size, size)}
    return DatasetImageFormat(size, size, channels, resize=not same)


@dataclass(frozen=True)
class _SplitSettings:
    """The settings of `split.select_class_indices`."""

    validation: float
    seed: int


def _draw_test_mask(source: PictureSource, how: PreparationSettings) -> tuple[NDArray[np.bool_] | None, list[str]]:
    """Which training pictures are for testing, where the source has no test images; what to say."""
    if "test" in source.labels:
        return None, []
    if "train" in source.groups:
        return _draw_test_groups(source.labels["train"], source.groups["train"], how)
    labels = source.labels["train"]
    drawn = select_class_indices(_SplitSettings(how.test_share, how.seed), labels)
    if not len(drawn):
        raise DataError(
            f"{how.test_share:g} of {len(labels):,} pictures is less than one test image: add "
            "more pictures, or choose a larger --test-share."
        )
    tests = np.zeros(len(labels), bool)
    tests[drawn] = True
    share = f"{100 * how.test_share:g} %"
    return tests, [f"There are no test images: {share} of each class, drawn with seed {how.seed}, become the test set."]


def _draw_test_groups(
    labels: NDArray[np.int32], groups: NDArray[np.int64], how: PreparationSettings
) -> tuple[NDArray[np.bool_], list[str]]:
    """Whole groups for testing, so that nobody is learnt from and tested on; what to say.

    None takes the last training image of a class.
    """
    count = len(np.unique(groups))
    if count < 2:
        raise DataError("All pictures are of one group: add others, or leave the groups out.")
    words = np.random.PCG64([_TEST_GROUPS_STREAM, how.seed]).random_raw(int(groups.max()) + 1)
    wanted = math.ceil(how.test_share * len(groups))
    tests, _ = select_whole_groups(labels, groups, words, wanted, may_exceed=True)
    if not tests.any():
        raise DataError(
            "Each group is all that there is of a class, so that none can be tested on: add "
            "others, leave the groups out, or give a test set (test_images, test_labels)."
        )
    return tests, [
        f"There are no test images: {len(np.unique(groups[tests])):,} of {count:,} "
        f"whole groups ({100 * tests.mean():.0f} % of the images), drawn with seed {how.seed}, become the test set."
    ]


def _describe_groups(copied: CopyResult) -> list[str]:
    train, test = (set(copied.groups[split]) for split in SPLITS)
    sentences = []
    if test:
        sentences.append(f"Test images of one group count together in every interval: {len(test):,} groups.")
    if shared := len(train & test):
        sentences.append(f"{shared:,} of them are among the training images too: it is not tested on new groups.")
    if len(train) > 1:
        sentences.append(
            "Validation images are whole groups too, but for one that may lie in both parts: a run "
            f"with --validation chooses them among {len(train):,} groups."
        )
    return sentences


def _count_images_per_class(labels: dict[str, NDArray[np.int32]], class_names: tuple[str, ...]) -> dict[str, list[int]]:
    """Images of each class in each split; DataError where there is nothing to learn or test."""
    counts = {split: np.bincount(labels[split], minlength=len(class_names)).tolist() for split in SPLITS}
    for split, many in counts.items():
        if not any(many):
            raise DataError(f"No picture of the {split} set can be read: no dataset is made.")
    if sum(map(bool, counts["train"])) < 2:
        raise DataError("All training images are of one class: at least 2 classes are needed.")
    return counts


def _check_unreadable_share(copied: CopyResult, total: int, how: PreparationSettings) -> None:
    if copied.unreadable_count <= how.max_unreadable * total:
        return
    first = "; ".join(f"{sanitize_text(picture.location)}: {picture.reason}" for picture in copied.unreadable[:5])
    raise DataError(
        f"{copied.unreadable_count:,} of {total:,} pictures cannot be read, more than "
        f"{100 * how.max_unreadable:g} % ({first:.600}): repair them, or add only the others "
        "with a larger --max-unreadable."
    )


def _compute_dataset_fingerprint(digests: list[str], class_names: tuple[str, ...]) -> str:
    return hashlib.sha256(json.dumps([digests, class_names]).encode()).hexdigest()
