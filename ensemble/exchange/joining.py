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
from ensemble.exchange.checks.axes import Axes, understood
from ensemble.exchange.checks.labels import numbers, two_classes
from ensemble.exchange.checks.limits import (
    Shape,
    check_counts,
    check_memory,
    needed,
    room_for,
)
from ensemble.exchange.checks.values import Filling
from ensemble.exchange.files.parts import Part
from ensemble.exchange.outputs import MemberOutputs


@dataclass(frozen=True, eq=False)
class Given:
    """A file by its name, and what it holds."""

    name: str
    part: Part


@contextmanager
def naming(name: str) -> Iterator[None]:
    """Gives a refusal the name of the file that it is of."""
    try:
        yield
    except PredictionsError as error:
        raise PredictionsError(f"{name}: {error}") from error


def joined(given: list[Given], most_bytes: int | None = None) -> MemberOutputs:
    """The members of all files, in the files' order, with one set of labels.

    Args:
      given: the files.
      most_bytes: of memory that may be taken; None for as much as there is.

    Raises:
      PredictionsError: they do not fit together, or what one holds is not as it has to be.
    """
    first, labels = _agreed_labels(given)
    axes = [_axes(one, labels) for one in given]
    shape = _joined_shape(given, axes)
    with naming(given[0].name):
        check_counts(shape)
        nbytes = needed(shape, max(one.part.image_bytes for one in given))
        check_memory(nbytes, most_bytes)
        probabilities = room_for(shape)
    class_names = _class_names(given, shape[3])
    with naming(first):
        known = numbers(labels, shape[3], class_names)
    notes = [*_filled(given, axes, probabilities), *_ruled_out(probabilities[-1], known)]
    images, said = _images(given, len(labels))
    return MemberOutputs(
        probabilities=probabilities,
        labels=known,
        class_names=class_names or names.numbered(shape[3]),
        member_names=_member_names(given, axes),
        images=images,
        split=next((one.part.split for one in given if one.part.split), "test"),
        notes=tuple(dict.fromkeys([*(n for one in given for n in one.part.notes), *notes, *said])),
    )


def _agreed_labels(given: list[Given]) -> tuple[str, NDArray[Any]]:
    """Whose labels stand for all, and these: all files that have any say the same."""
    having = [(one, one.part.labels) for one in given if one.part.labels is not None]
    if not having:
        raise PredictionsError(
            f"{given[0].name}: it has no labels, and without them no answer is right or wrong: "
            "save them beside, one an example, as `labels`; in a table as a column `label`."
        )
    first, labels = having[0]
    for other, its in having[1:]:
        with naming(other.name):
            _compare(first.name, labels, its)
    for one in given:
        if one.part.examples not in (None, first.part.examples):
            raise PredictionsError(
                f"{one.name}: its examples are not called what they are in {first.name}: give "
                "every file the same examples."
            )
    return first.name, labels


def _compare(first: str, here: NDArray[Any], there: NDArray[Any]) -> None:
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


def _axes(one: Given, labels: NDArray[Any]) -> Axes:
    with naming(one.name):
        return understood(one.part.kind, one.part.shape, len(labels), two_classes(labels))


def _joined_shape(given: list[Given], axes: list[Axes]) -> Shape:
    epochs, _, examples, classes = axes[0].shape
    for one, its in zip(given, axes, strict=True):
        for noun, place in ("epochs", 0), ("classes", 3):
            if its.shape[place] != axes[0].shape[place]:
                raise PredictionsError(
                    f"{one.name}: it has {its.shape[place]:,} {noun}, and {given[0].name} "
                    f"{axes[0].shape[place]:,}: give every file as many."
                )
    return epochs, sum(its.shape[1] for its in axes), examples, classes


def _filled(given: list[Given], axes: list[Axes], probabilities: NDArray[np.float32]) -> list[str]:
    """Put all files' probabilities into (E, M, N, C); what is to be said of them."""
    notes, first, shape = list[str](), 0, probabilities.shape
    for one, its in zip(given, axes, strict=True):
        members = its.shape[1]
        own = probabilities[:, first : first + members]
        filling = Filling(one.part.kind, members, shape[2])
        with naming(one.name):
            filling.fill(
                [epoch.reshape(-1, shape[3]) for epoch in own], one.part.blocks(its.columns)
            )
            its.check_turned(one.part.kind, one.part.shape, own)
        notes += [*its.note(one.part.kind), *filling.notes()]
        first += members
    return notes


def _ruled_out(probabilities: NDArray[np.float32], labels: NDArray[np.int32]) -> list[str]:
    """What is to be said where members (M, N, C) rule out what an example is."""
    zero = int((probabilities[:, np.arange(len(labels)), labels] == 0).sum())
    if not zero:
        return []
    one = f"of {probabilities.shape[0] * len(labels):,} times a member gives an example's own class"
    return [
        f"{zero:,} {one} a probability of 0: each costs 87 nats of its NLL, which else were "
        "infinite."
    ]


def _class_names(given: list[Given], classes: int) -> tuple[str, ...] | None:
    """What the files call their classes, all the same; None where none of them says."""
    first, found = "", None
    for one in given:
        if one.part.class_names is None:
            continue
        with naming(one.name):
            said = names.expected("class_names", one.part.class_names, classes, "classes")
        if found not in (None, said):
            raise PredictionsError(
                f"{one.name}: its classes are not called, or ordered, as in {first}: give every "
                "file the same."
            )
        first, found = one.name, said
    return found


def _member_names(given: list[Given], axes: list[Axes]) -> tuple[str, ...]:
    made: list[str] = []
    for one, its in zip(given, axes, strict=True):
        members, said = its.shape[1], one.part.member_names
        if said:
            with naming(one.name):
                made += names.expected("member_names", said, members, "members")
        elif len(given) == 1:
            made += names.numbered(members, "member")
        else:
            stem = names.shown(Path(one.name).stem)[: names.MOST_LETTERS - 12] or "member"
            made += [stem] if members == 1 else names.numbered(members, stem)
    return names.told_apart(made)


def _images(given: list[Given], examples: int) -> tuple[NDArray[np.uint8] | None, list[str]]:
    for one in given:
        if one.part.images is not None:
            with naming(one.name):
                return one.part.images(examples)
    return None, []
