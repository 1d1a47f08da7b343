"""What several files hold, put together: their labels, classes and epochs agree, or it is said."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensemble.analysis.inference.image_groups import number_groups
from ensemble.errors import PredictionsError
from ensemble.exchange.checks import names
from ensemble.exchange.checks.axes import OutputAxes, parse_output_axes
from ensemble.exchange.checks.labels import has_two_classes, parse_class_numbers
from ensemble.exchange.checks.limits import (
    Shape,
    allocate_probabilities,
    check_free_memory,
    check_prediction_counts,
    estimate_import_bytes,
)
from ensemble.exchange.checks.probability_values import ProbabilityConverter
from ensemble.exchange.files.file_predictions import FilePredictions
from ensemble.exchange.member_outputs import MemberOutputs


@dataclass(frozen=True, eq=False)
class NamedFilePredictions:
    """A file by its name, and what it holds."""

    name: str
    predictions: FilePredictions


@contextmanager
def name_file_in_errors(name: str) -> Iterator[None]:
    """Gives a refusal the name of the file that it is of."""
    try:
        yield
    except PredictionsError as error:
        raise PredictionsError(f"{name}: {error}") from error


def merge_predictions(
    files: list[NamedFilePredictions], most_bytes: int | None = None
) -> MemberOutputs:
    """The members of all files, in the files' order, with one set of labels.

    Args:
      files: the files.
      most_bytes: of memory that may be taken; None for as much as there is.

    Raises:
      PredictionsError: they do not fit together, or what one holds is not as it has to be.
    """
    first, labels = _find_common_labels(files)
    axes = [_parse_file_axes(file, labels) for file in files]
    shape = _compute_merged_shape(files, axes)
    with name_file_in_errors(files[0].name):
        check_prediction_counts(shape)
        nbytes = estimate_import_bytes(shape, max(file.predictions.image_bytes for file in files))
        check_free_memory(nbytes, most_bytes)
        probabilities = allocate_probabilities(shape)
    class_names = _merge_class_names(files, shape[3])
    with name_file_in_errors(first):
        class_numbers = parse_class_numbers(labels, shape[3], class_names)
    notes = [
        *_fill_probabilities(files, axes, probabilities),
        *_describe_zero_probabilities(probabilities[-1], class_numbers),
    ]
    images, image_notes = _load_first_images(files, len(labels))
    groups = _number_first_groups(files, len(labels))
    if groups is not None:
        notes.append(f"Examples of one group count together: {int(groups.max()) + 1:,} groups.")
    return MemberOutputs(
        probabilities=probabilities,
        labels=class_numbers,
        class_names=class_names or names.generate_default_names(shape[3]),
        member_names=_merge_member_names(files, axes),
        images=images,
        groups=groups,
        split=next((file.predictions.split for file in files if file.predictions.split), "test"),
        notes=tuple(
            dict.fromkeys(
                [*(n for file in files for n in file.predictions.notes), *notes, *image_notes]
            )
        ),
    )


def _number_first_groups(
    files: list[NamedFilePredictions], examples: int
) -> NDArray[np.int64] | None:
    """The groups of the first file that has any, as numbers."""
    for file in files:
        groups = file.predictions.groups
        if groups is not None:
            if groups.shape != (examples,):
                raise PredictionsError(
                    f"{file.name}: its `groups` have shape {groups.shape}, and there are "
                    f"{examples:,} examples: give one for each."
                )
            if groups.dtype.kind == "f" and not np.isfinite(groups).all():
                place = int(np.argmin(np.isfinite(groups)))
                raise PredictionsError(
                    f"{file.name}: its `groups[{place}]` is {groups[place]}: give every "
                    "example one."
                )
            return number_groups(groups).astype(np.int64)
    return None


def _find_common_labels(files: list[NamedFilePredictions]) -> tuple[str, NDArray[Any]]:
    """Whose labels stand for all, and these: all files that have any say the same."""
    having = [
        (candidate, candidate.predictions.labels)
        for candidate in files
        if candidate.predictions.labels is not None
    ]
    if not having:
        raise PredictionsError(
            f"{files[0].name}: it has no labels, so answers cannot be checked: save them too, "
            "one for each example, as `labels`, or in a table as a column `label`."
        )
    first, labels = having[0]
    for other, its in having[1:]:
        with name_file_in_errors(other.name):
            _check_equal_labels(first.name, labels, its)
    for file in files:
        if file.predictions.examples not in (None, first.predictions.examples):
            raise PredictionsError(
                f"{file.name}: its examples have other names than in {first.name}: give every "
                "file the same examples."
            )
    return first.name, labels


def _check_equal_labels(first: str, here: NDArray[Any], there: NDArray[Any]) -> None:
    if here.shape != there.shape:
        raise PredictionsError(
            f"it has {len(there):,} labels, and {first} {len(here):,}: give every file the same "
            "examples."
        )
    if (here.dtype.kind == "U") != (there.dtype.kind == "U"):
        here, there = here.astype(str), there.astype(str)
    if (apart := here != there).any():
        place = int(np.argmax(apart))
        raise PredictionsError(
            f"its `labels[{place}]` is {there[place]!s:.40}, and in {first} {here[place]!s:.40}: "
            "give every file the same examples in the same order."
        )


def _parse_file_axes(file: NamedFilePredictions, labels: NDArray[Any]) -> OutputAxes:
    with name_file_in_errors(file.name):
        return parse_output_axes(
            file.predictions.kind, file.predictions.shape, len(labels), has_two_classes(labels)
        )


def _compute_merged_shape(files: list[NamedFilePredictions], axes: list[OutputAxes]) -> Shape:
    epochs, _, examples, classes = axes[0].shape
    for file, its in zip(files, axes, strict=True):
        for noun, place in ("epochs", 0), ("classes", 3):
            if its.shape[place] != axes[0].shape[place]:
                raise PredictionsError(
                    f"{file.name}: it has {its.shape[place]:,} {noun}, and {files[0].name} "
                    f"{axes[0].shape[place]:,}: give every file the same number."
                )
    return epochs, sum(its.shape[1] for its in axes), examples, classes


def _fill_probabilities(
    files: list[NamedFilePredictions], axes: list[OutputAxes], probabilities: NDArray[np.float32]
) -> list[str]:
    """Put all files' probabilities into (E, M, N, C); what is to be said of them."""
    notes, first, shape = list[str](), 0, probabilities.shape
    for file, its in zip(files, axes, strict=True):
        members = its.shape[1]
        own = probabilities[:, first : first + members]
        filling = ProbabilityConverter(file.predictions.kind, members, shape[2])
        with name_file_in_errors(file.name):
            filling.convert_blocks(
                [epoch.reshape(-1, shape[3]) for epoch in own], file.predictions.blocks(its.columns)
            )
            its.check_transposed(file.predictions.kind, file.predictions.shape, own)
        notes += [*its.list_notes(file.predictions.kind), *filling.notes()]
        first += members
    return notes


def _describe_zero_probabilities(
    probabilities: NDArray[np.float32], labels: NDArray[np.int32]
) -> list[str]:
    """What is to be said where members (M, N, C) rule out what an example is."""
    zero = int((probabilities[:, np.arange(len(labels)), labels] == 0).sum())
    if not zero:
        return []
    phrase = (
        f"of {probabilities.shape[0] * len(labels):,} times a member gives an example's own class"
    )
    return [
        f"{zero:,} {phrase} a probability of 0: each adds 87 nats to its NLL, which would "
        "otherwise be infinite."
    ]


def _merge_class_names(files: list[NamedFilePredictions], classes: int) -> tuple[str, ...] | None:
    """What the files call their classes, all the same; None if none of them says."""
    first, class_names = "", None
    for file in files:
        if file.predictions.class_names is None:
            continue
        with name_file_in_errors(file.name):
            checked_names = names.check_name_count(
                "class_names", file.predictions.class_names, classes, "classes"
            )
        if class_names not in (None, checked_names):
            raise PredictionsError(
                f"{file.name}: its classes have other names, or another order, than in {first}: "
                "give every file the same."
            )
        first, class_names = file.name, checked_names
    return class_names


def _merge_member_names(
    files: list[NamedFilePredictions], axes: list[OutputAxes]
) -> tuple[str, ...]:
    member_names: list[str] = []
    for file, its in zip(files, axes, strict=True):
        members, text = its.shape[1], file.predictions.member_names
        if text:
            with name_file_in_errors(file.name):
                member_names += names.check_name_count("member_names", text, members, "members")
        elif len(files) == 1:
            member_names += names.generate_default_names(members, "member")
        else:
            stem = names.sanitize_name(Path(file.name).stem)[: names.MOST_LETTERS - 12] or "member"
            member_names += [stem] if members == 1 else names.generate_default_names(members, stem)
    return names.number_duplicate_names(member_names)


def _load_first_images(
    files: list[NamedFilePredictions], examples: int
) -> tuple[NDArray[np.uint8] | None, list[str]]:
    for file in files:
        if file.predictions.images is not None:
            with name_file_in_errors(file.name):
                return file.predictions.images(examples)
    return None, []
