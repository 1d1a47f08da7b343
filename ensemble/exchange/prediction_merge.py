"""What several files hold, put together: their labels, classes and epochs agree, or it is said."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

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
    given: list[NamedFilePredictions], most_bytes: int | None = None
) -> MemberOutputs:
    """The members of all files, in the files' order, with one set of labels.

    Args:
      given: the files.
      most_bytes: of memory that may be taken; None for as much as there is.

    Raises:
      PredictionsError: they do not fit together, or what one holds is not as it has to be.
    """
    first, labels = _find_common_labels(given)
    axes = [_parse_file_axes(one, labels) for one in given]
    shape = _compute_merged_shape(given, axes)
    with name_file_in_errors(given[0].name):
        check_prediction_counts(shape)
        nbytes = estimate_import_bytes(shape, max(one.predictions.image_bytes for one in given))
        check_free_memory(nbytes, most_bytes)
        probabilities = allocate_probabilities(shape)
    class_names = _merge_class_names(given, shape[3])
    with name_file_in_errors(first):
        known = parse_class_numbers(labels, shape[3], class_names)
    notes = [
        *_fill_probabilities(given, axes, probabilities),
        *_describe_zero_probabilities(probabilities[-1], known),
    ]
    images, said = _load_first_images(given, len(labels))
    return MemberOutputs(
        probabilities=probabilities,
        labels=known,
        class_names=class_names or names.generate_default_names(shape[3]),
        member_names=_merge_member_names(given, axes),
        images=images,
        split=next((one.predictions.split for one in given if one.predictions.split), "test"),
        notes=tuple(
            dict.fromkeys([*(n for one in given for n in one.predictions.notes), *notes, *said])
        ),
    )


def _find_common_labels(given: list[NamedFilePredictions]) -> tuple[str, NDArray[Any]]:
    """Whose labels stand for all, and these: all files that have any say the same."""
    having = [(one, one.predictions.labels) for one in given if one.predictions.labels is not None]
    if not having:
        raise PredictionsError(
            f"{given[0].name}: it has no labels, so answers cannot be checked: save them too, "
            "one for each example, as `labels`, or in a table as a column `label`."
        )
    first, labels = having[0]
    for other, its in having[1:]:
        with name_file_in_errors(other.name):
            _check_equal_labels(first.name, labels, its)
    for one in given:
        if one.predictions.examples not in (None, first.predictions.examples):
            raise PredictionsError(
                f"{one.name}: its examples have other names than in {first.name}: give every "
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


def _parse_file_axes(one: NamedFilePredictions, labels: NDArray[Any]) -> OutputAxes:
    with name_file_in_errors(one.name):
        return parse_output_axes(
            one.predictions.kind, one.predictions.shape, len(labels), has_two_classes(labels)
        )


def _compute_merged_shape(given: list[NamedFilePredictions], axes: list[OutputAxes]) -> Shape:
    epochs, _, examples, classes = axes[0].shape
    for one, its in zip(given, axes, strict=True):
        for noun, place in ("epochs", 0), ("classes", 3):
            if its.shape[place] != axes[0].shape[place]:
                raise PredictionsError(
                    f"{one.name}: it has {its.shape[place]:,} {noun}, and {given[0].name} "
                    f"{axes[0].shape[place]:,}: give every file the same number."
                )
    return epochs, sum(its.shape[1] for its in axes), examples, classes


def _fill_probabilities(
    given: list[NamedFilePredictions], axes: list[OutputAxes], probabilities: NDArray[np.float32]
) -> list[str]:
    """Put all files' probabilities into (E, M, N, C); what is to be said of them."""
    notes, first, shape = list[str](), 0, probabilities.shape
    for one, its in zip(given, axes, strict=True):
        members = its.shape[1]
        own = probabilities[:, first : first + members]
        filling = ProbabilityConverter(one.predictions.kind, members, shape[2])
        with name_file_in_errors(one.name):
            filling.convert_blocks(
                [epoch.reshape(-1, shape[3]) for epoch in own], one.predictions.blocks(its.columns)
            )
            its.check_transposed(one.predictions.kind, one.predictions.shape, own)
        notes += [*its.list_notes(one.predictions.kind), *filling.notes()]
        first += members
    return notes


def _describe_zero_probabilities(
    probabilities: NDArray[np.float32], labels: NDArray[np.int32]
) -> list[str]:
    """What is to be said where members (M, N, C) rule out what an example is."""
    zero = int((probabilities[:, np.arange(len(labels)), labels] == 0).sum())
    if not zero:
        return []
    one = f"of {probabilities.shape[0] * len(labels):,} times a member gives an example's own class"
    return [
        f"{zero:,} {one} a probability of 0: each adds 87 nats to its NLL, which would "
        "otherwise be infinite."
    ]


def _merge_class_names(given: list[NamedFilePredictions], classes: int) -> tuple[str, ...] | None:
    """What the files call their classes, all the same; None if none of them says."""
    first, found = "", None
    for one in given:
        if one.predictions.class_names is None:
            continue
        with name_file_in_errors(one.name):
            said = names.check_name_count(
                "class_names", one.predictions.class_names, classes, "classes"
            )
        if found not in (None, said):
            raise PredictionsError(
                f"{one.name}: its classes have other names, or another order, than in {first}: "
                "give every file the same."
            )
        first, found = one.name, said
    return found


def _merge_member_names(
    given: list[NamedFilePredictions], axes: list[OutputAxes]
) -> tuple[str, ...]:
    made: list[str] = []
    for one, its in zip(given, axes, strict=True):
        members, said = its.shape[1], one.predictions.member_names
        if said:
            with name_file_in_errors(one.name):
                made += names.check_name_count("member_names", said, members, "members")
        elif len(given) == 1:
            made += names.generate_default_names(members, "member")
        else:
            stem = names.sanitize_name(Path(one.name).stem)[: names.MOST_LETTERS - 12] or "member"
            made += [stem] if members == 1 else names.generate_default_names(members, stem)
    return names.number_duplicate_names(made)


def _load_first_images(
    given: list[NamedFilePredictions], examples: int
) -> tuple[NDArray[np.uint8] | None, list[str]]:
    for one in given:
        if one.predictions.images is not None:
            with name_file_in_errors(one.name):
                return one.predictions.images(examples)
    return None, []
