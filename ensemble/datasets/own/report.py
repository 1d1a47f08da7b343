"""What was made of a source, for who added it: counts, what was left out, what stands out."""

from array import array
from dataclasses import dataclass
from typing import Any

import numpy as np

from ensemble.datasets.duplicates import DuplicateImages
from ensemble.datasets.own import custom_registry
from ensemble.datasets.own.picture_copy import SPLITS, CopyResult
from ensemble.datasets.own.request import sanitize_text
from ensemble.datasets.own.source import format_name_list


@dataclass(frozen=True)
class PreparationReport:
    """What was made of a source.

    Attributes:
      note: what is kept of it.
      counts: images of each class, (C,), in "train" and in "test".
      sizes: how many pictures came with each [height, width], the commonest first, at most 20.
      unreadable: the first files that could not be read: [where, why].
      unreadable_count: how many there are.
      duplicates: test images that are also among the training images, to the pixel.
      training_copies: test images that are copies of training images: the same ones, or saved
        again; None where there are too many pictures to look.
      test_copies: test images that are copies of other test images, likewise.
    """

    note: custom_registry.CustomDatasetNote
    counts: dict[str, list[int]]
    sizes: list[tuple[int, int, int]]
    unreadable: list[tuple[str, str]]
    unreadable_count: int
    duplicates: int
    training_copies: int | None = None
    test_copies: int | None = None


def count_duplicate_images(hashes: dict[str, "array[int]"]) -> int:
    train, test = (np.frombuffer(hashes[split], np.uint64) for split in SPLITS)
    return int(np.isin(test, train).sum())


def describe_dataset_anomalies(
    copied: CopyResult,
    counts: dict[str, list[int]],
    class_names: tuple[str, ...],
    duplicates: int,
    copies: DuplicateImages | None = None,
) -> list[str]:
    sentences = []
    if copied.unreadable_count:
        first = "; ".join(f"{sanitize_text(picture.location)}: {picture.reason}" for picture in copied.unreadable[:3])
        more = "" if copied.unreadable_count <= 3 else "; …"
        are = "is" if copied.unreadable_count == 1 else "are"
        sentences.append(f"{copied.unreadable_count:,} cannot be read and {are} left out ({first}{more}).")
    for split in SPLITS:
        if without := [name for name, many in zip(class_names, counts[split], strict=True) if not many]:
            sentences.append(f"Without a {split} image, {len(without):,} of the classes: {format_name_list(without)}.")
    if duplicates:
        are = "image is" if duplicates == 1 else "images are"
        sentences.append(
            f"{duplicates:,} test {are} also among the training images, pixel for pixel: "
            "accuracy on the test set will look better than it is."
        )
    if copies and (nearly := int(copies.in_training.sum()) - duplicates) > 0:
        are = "image is a copy" if nearly == 1 else "images are copies"
        sentences.append(
            f"{nearly:,} {'more ' if duplicates else ''}test {are} of training images "
            "that differ by little more than being saved again: accuracy on the test set will look better than it is."
        )
    if copies and copies.copies:
        are = "image is a copy" if copies.copies == 1 else "images are copies"
        sentences.append(f"{copies.copies:,} test {are} of other test images: intervals count them once.")
    return sentences


def serialize_preparation_report(report: PreparationReport) -> dict[str, Any]:
    """A report as one JSON object."""
    return {**vars(report), "note": vars(report.note), "notes": report.note.said}
