"""Predictions that are arrays in memory already, taken by the same rules as those in a file."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ensemble.errors import PredictionsError
from ensemble.exchange.checks import names
from ensemble.exchange.checks.images import convert_images_to_uint8
from ensemble.exchange.checks.labels import flatten_labels
from ensemble.exchange.files.file_predictions import FilePredictions
from ensemble.exchange.member_outputs import MemberOutputs
from ensemble.exchange.prediction_merge import NamedFilePredictions, merge_predictions

BLOCK = 2**20  # numbers that are looked at together
ARRAYS_LABEL = "The arrays"  # what stands for a file's name, until it is taken off again


def convert_arrays_to_outputs(
    values: ArrayLike,
    labels: ArrayLike,
    *,
    logits: bool = False,
    images: ArrayLike | None = None,
    class_names: Sequence[str] | None = None,
    member_names: Sequence[str] | None = None,
    split: str = "test",
    groups: ArrayLike | None = None,
) -> MemberOutputs:
    """Members' outputs of arrays, or of whatever NumPy makes an array of; they are copied.

    Args:
      values: probabilities (M, N, C), (E, M, N, C) or (N, C) of one member; see `checks.axes`.
      labels: (N,) class numbers, (N, C) one-hot, or text among the class names.
      logits: the values are logits.
      images: (N, H, W), or with 1 or 3 channels last or before; None if there are none.
      class_names: C of them; by default their numbers.
      member_names: M of them; by default "member 1" and so on.
      split: what the examples are of.
      groups: (N,), names or numbers of the writer, patient or video that each is of: those of one
        count together. None where all are independent.

    Raises:
      PredictionsError: they cannot be taken; the entry and what to do are named.
    """
    kind = "logits" if logits else "probabilities"
    number_array = _check_number_array(kind, values)
    flat_labels, notes = flatten_labels(_convert_to_array("labels", labels))
    pictures = None if images is None else _check_number_array("images", images)

    def iterate_row_blocks(columns: int) -> Iterator[NDArray[Any]]:
        rows = number_array.reshape(-1, columns)
        each = max(1, BLOCK // columns)
        return (rows[start : start + each] for start in range(0, len(rows), each))

    part = FilePredictions(
        kind,
        number_array.shape,
        iterate_row_blocks,
        flat_labels,
        class_names=_convert_array_names("class_names", class_names),
        member_names=_convert_array_names("member_names", member_names),
        split=names.parse_split_label(np.array(split)),
        notes=notes,
        groups=None if groups is None else _convert_to_array("groups", groups),
        images=None if pictures is None else lambda n: _convert_array_images(pictures, n),
        image_bytes=0 if pictures is None else pictures.size,
    )
    try:
        return merge_predictions([NamedFilePredictions(ARRAYS_LABEL, part)])
    except PredictionsError as error:
        message = str(error).removeprefix(f"{ARRAYS_LABEL}: ")
        raise PredictionsError(message[:1].upper() + message[1:]) from error


def _convert_array_images(
    array: NDArray[Any], examples: int
) -> tuple[NDArray[np.uint8], list[str]]:
    return convert_images_to_uint8(array.shape, lambda: iter([array.reshape(-1)]), examples)


def _check_number_array(field: str, values: ArrayLike) -> NDArray[Any]:
    array = _convert_to_array(field, values)
    if array.dtype.kind not in "biuf":
        raise PredictionsError(f"`{field}` are of type {array.dtype}: give real numbers.")
    return array


def _convert_to_array(field: str, values: ArrayLike) -> NDArray[Any]:
    try:
        array = np.asarray(values)
    except (ValueError, TypeError) as error:
        raise PredictionsError(
            f"`{field}` has parts of different lengths ({error!s:.120}): give one array."
        ) from error
    if array.dtype.kind in "OS":  # such as pandas' text
        array = array.astype(str)
    return array


def _convert_array_names(field: str, name_list: Sequence[str] | None) -> tuple[str, ...] | None:
    return (
        None
        if name_list is None
        else names.parse_name_array(field, _convert_to_array(field, list(name_list)))
    )
