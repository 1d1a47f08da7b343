"""Predictions that are arrays in memory already, taken by the same rules as those in a file."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ensemble.errors import PredictionsError
from ensemble.exchange.checks import names
from ensemble.exchange.checks.images import uint8_images
from ensemble.exchange.checks.labels import flattened
from ensemble.exchange.files.parts import Part
from ensemble.exchange.joining import Given, joined
from ensemble.exchange.outputs import MemberOutputs

BLOCK = 2**20  # numbers that are looked at together
HERE = "The arrays"  # what stands for a file's name, until it is taken off again


def outputs_of(
    values: ArrayLike,
    labels: ArrayLike,
    *,
    logits: bool = False,
    images: ArrayLike | None = None,
    class_names: Sequence[str] | None = None,
    member_names: Sequence[str] | None = None,
    split: str = "test",
) -> MemberOutputs:
    """Members' outputs of arrays, or of whatever NumPy makes an array of; they are copied.

    Args:
      values: probabilities (M, N, C), (E, M, N, C) or (N, C) of one member; see `checks.axes`.
      labels: (N,) class numbers, (N, C) one-hot, or text among the class names.
      logits: the values are logits.
      images: (N, H, W), or with 1 or 3 channels last or before; None where there are none.
      class_names: C of them; by default their numbers.
      member_names: M of them; by default "member 1" and so on.
      split: what the examples are of.

    Raises:
      PredictionsError: they cannot be taken; the entry and what to do are named.
    """
    kind = "logits" if logits else "probabilities"
    found = _numbers(kind, values)
    known, notes = flattened(_array("labels", labels))
    pictures = None if images is None else _numbers("images", images)

    def blocks(columns: int) -> Iterator[NDArray[Any]]:
        rows = found.reshape(-1, columns)
        each = max(1, BLOCK // columns)
        return (rows[start : start + each] for start in range(0, len(rows), each))

    part = Part(
        kind,
        found.shape,
        blocks,
        known,
        class_names=_names("class_names", class_names),
        member_names=_names("member_names", member_names),
        split=names.split_of(np.array(split)),
        notes=notes,
        images=None if pictures is None else lambda n: _images(pictures, n),
        image_bytes=0 if pictures is None else pictures.size,
    )
    try:
        return joined([Given(HERE, part)])
    except PredictionsError as error:
        said = str(error).removeprefix(f"{HERE}: ")
        raise PredictionsError(said[:1].upper() + said[1:]) from error


def _images(found: NDArray[Any], examples: int) -> tuple[NDArray[np.uint8], list[str]]:
    return uint8_images(found.shape, lambda: iter([found.reshape(-1)]), examples)


def _numbers(field: str, given: ArrayLike) -> NDArray[Any]:
    found = _array(field, given)
    if found.dtype.kind not in "biuf":
        raise PredictionsError(f"`{field}` are of type {found.dtype}: give real numbers.")
    return found


def _array(field: str, given: ArrayLike) -> NDArray[Any]:
    try:
        found = np.asarray(given)
    except (ValueError, TypeError) as error:
        raise PredictionsError(
            f"`{field}` has parts of different lengths ({error!s:.120}): give one array."
        ) from error
    if found.dtype.kind in "OS":  # such as pandas' text
        found = found.astype(str)
    return found


def _names(field: str, given: Sequence[str] | None) -> tuple[str, ...] | None:
    return None if given is None else names.names_of(field, _array(field, list(given)))
