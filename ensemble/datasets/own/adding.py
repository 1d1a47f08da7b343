"""A source of pictures becomes a dataset: read once, written as it is read, there whole or not."""

import hashlib
import json
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ensemble.datasets.own import arrays, entries, staging
from ensemble.datasets.own.copying import SPLITS, Copied, Teller, copy
from ensemble.datasets.own.report import Report, duplicates_in, standing_out
from ensemble.datasets.own.request import LEAST_SIDE, USUAL_SIZE, Called, Preparation, words
from ensemble.datasets.own.source import Form, Source, Survey
from ensemble.datasets.progress import Progress
from ensemble.datasets.split import alone, validation_indices
from ensemble.errors import DataError
from ensemble.storage.atomic import write_json

SIZES = 20  # that are told, the commonest


def add(
    source: Source, how: Preparation, called: Called, progress: Progress | None = None
) -> Report:
    """Adds a dataset, to be found by `registry.find` from then on.

    Args:
      source: its pictures.
      how: size, split, what may be unreadable.
      called: its name, title and noun.
      progress: called now and then as progress(fraction in [0, 1], message).

    Raises:
      DataError: there is one of that name, or the source is not fit to be one.
      StorageError: a full disk, or a data folder that cannot be written; nothing is left behind.
    """
    if entries.find(called.name):
        raise DataError(staging.taken(called.name))
    with staging.part(called.name) as folder:
        report = _prepare(folder, source, how, called, progress)
        staging.put_in_place(folder, called.name)
    return report


def stage(
    source: Source, how: Preparation, called: Called, progress: Progress | None = None
) -> tuple[Path, Report]:
    """As `add`, but the dataset waits in a folder, for a day at most, to be accepted.

    Its name may be that of another by then: it is given one when it is accepted.
    """
    with staging.part(called.name) as folder:
        return folder, _prepare(folder, source, how, called, progress)


def accept(folder: Path, called: Called) -> None:
    """A staged dataset is added, under this name.

    Raises:
      DataError: there is one of that name, or it has waited too long.
      StorageError: the data folder cannot be written.
    """
    with staging.in_words(called.name):
        try:
            note = json.loads((folder / entries.NOTE).read_bytes())
        except FileNotFoundError as error:
            raise DataError("What was prepared is no longer there: add it again.") from error
        note |= {"title": called.title, "noun": called.noun}
        write_json(folder / entries.NOTE, note, durable=True)
    staging.put_in_place(folder, called.name)


def _prepare(
    folder: Path, source: Source, how: Preparation, called: Called, progress: Progress | None
) -> Report:
    if progress:
        progress(0.0, f"Looking at the pictures of {called.title}")
    survey = source.survey()
    form = _form(survey, how)
    tests, split_said = _tests(source, how)
    total = sum(len(labels) for labels in source.labels.values())
    staging.check_space(called.name, total * (form.height * form.width * form.channels + 4))
    copied = copy(folder, source, form, tests, Teller(progress, total))
    _check_unreadable(copied, total, how)
    labels = {split: np.array(copied.labels[split], np.int32) for split in SPLITS}
    counts = _counts(labels, source.class_names)
    duplicates = duplicates_in(copied.hashes)
    said = [
        *source.said,
        *split_said,
        *standing_out(copied, counts, source.class_names, duplicates),
    ]
    note = entries.Note(
        format=entries.FORMAT,
        title=called.title,
        noun=called.noun,
        class_names=list(source.class_names),
        image_shape=list(form.shape),
        train_size=len(labels["train"]),
        test_size=len(labels["test"]),
        most_frequent=max(counts["test"]),
        alone=alone(np.array(counts["train"])),
        fingerprint=_fingerprint(copied.digests, source.class_names),
        labels_crc32=[arrays.crc32(labels[split]) for split in SPLITS],
        source=f"Your own: {words(source.origin):.200}",
        prepared=form.rule,
        added=time.time(),
        said=said,
    )
    # Last: a folder without it is no dataset.
    write_json(folder / entries.NOTE, vars(note), durable=True)
    sizes = [(*size, many) for size, many in survey.sizes.most_common(SIZES)]
    listed = [(words(one.where), one.why) for one in copied.unreadable]
    return Report(note, counts, sizes, listed, copied.unreadable_count, duplicates)


def _form(survey: Survey, how: Preparation) -> Form:
    """The form that all pictures are brought to, by `Preparation.size`."""
    channels = 1 if survey.grey else 3
    if not survey.sizes:
        raise DataError("None of the pictures can be read: look whether they open elsewhere.")
    if not how.size and len(survey.sizes) == 1:
        ((height, width),) = survey.sizes
        if min(height, width) < LEAST_SIDE or max(height, width) > entries.MOST_SIDE:
            raise DataError(
                f"All pictures are {width:,}×{height:,} pixels, and a side has to have "
                f"{LEAST_SIDE} to {entries.MOST_SIDE:,}: bring them to another with --size 64."
            )
        return Form(height, width, channels, fitted=False)
    size = how.size or USUAL_SIZE
    same = set(survey.sizes) == {(size, size)}
    return Form(size, size, channels, fitted=not same)


@dataclass(frozen=True)
class _Draw:
    """The settings of `split.validation_indices`."""

    validation: float
    seed: int


def _tests(source: Source, how: Preparation) -> tuple[NDArray[np.bool_] | None, list[str]]:
    """Which training pictures are for testing, where the source has no test images; what to say."""
    if "test" in source.labels:
        return None, []
    labels = source.labels["train"]
    drawn = validation_indices(_Draw(how.test_share, how.seed), labels)
    if not len(drawn):
        raise DataError(
            f"{how.test_share:g} of {len(labels):,} pictures is less than one to test with: add "
            "more pictures, or choose a larger --test-share."
        )
    tests = np.zeros(len(labels), bool)
    tests[drawn] = True
    share = f"{100 * how.test_share:g} %"
    return tests, [
        f"There are no test images: {share} of each class, drawn by seed {how.seed}, are for that."
    ]


def _counts(
    labels: dict[str, NDArray[np.int32]], class_names: tuple[str, ...]
) -> dict[str, list[int]]:
    """Images of each class in each split; DataError where there is nothing to learn or test."""
    counts = {
        split: np.bincount(labels[split], minlength=len(class_names)).tolist() for split in SPLITS
    }
    for split, many in counts.items():
        if not any(many):
            raise DataError(f"No picture of the {split} set can be read: there is no dataset.")
    if sum(map(bool, counts["train"])) < 2:
        raise DataError(
            "There are training images of one class alone: at least 2 classes are needed."
        )
    return counts


def _check_unreadable(copied: Copied, total: int, how: Preparation) -> None:
    if copied.unreadable_count <= how.max_unreadable * total:
        return
    first = "; ".join(f"{words(one.where)}: {one.why}" for one in copied.unreadable[:5])
    raise DataError(
        f"{copied.unreadable_count:,} of {total:,} pictures cannot be read, more than "
        f"{100 * how.max_unreadable:g} % ({first:.600}): mend them, or add the others alone with a "
        "larger --max-unreadable."
    )


def _fingerprint(digests: list[str], class_names: tuple[str, ...]) -> str:
    return hashlib.sha256(json.dumps([digests, class_names]).encode()).hexdigest()
