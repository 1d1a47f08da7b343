"""Predictions that are arrays in memory already, taken by the same rules as those in a file."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ensemble.datasets.example_details import NO_DETAILS, ExampleDetails, clean_details
from ensemble.errors import PredictionsError
from ensemble.exchange.array_conversion import (
    convert_numbers,
    convert_to_array,
    get_mask,
    list_column_names,
    refuse_mask,
)
from ensemble.exchange.checks import names
from ensemble.exchange.checks.images import convert_images_to_uint8
from ensemble.exchange.checks.labels import flatten_labels
from ensemble.exchange.files.file_predictions import FilePredictions, NamedFilePredictions
from ensemble.exchange.member_outputs import MemberOutputs
from ensemble.exchange.prediction_merge import merge_predictions

BLOCK = 2**20  # numbers that are looked at together
_ARRAYS_LABEL = "The arrays"  # what stands for a file's name, until it is taken off again


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
    labels_as: str = "",
    example_names: Sequence[str] | None = None,
    noun: str = "",
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
      labels_as: "names", "positions" or "from-1", where labels could be read several ways; "" for
        what names and predictions say.
      example_names: N of them, what the examples are called.
      noun: what one example is, in the singular; "" where nothing says it.

    Raises:
      PredictionsError: they cannot be taken; the entry and what to do are named.
    """
    kind = "logits" if logits else "probabilities"
    if class_names is None:
        class_names = list_column_names(values)
    number_array = convert_numbers(kind, values)
    label_array = convert_to_array("labels", labels)
    flat_labels, notes = flatten_labels(np.asarray(label_array))
    pictures = None if images is None else refuse_mask("images", convert_numbers("images", images))

    def iterate_row_blocks(columns: int) -> Iterator[NDArray[Any]]:
        rows = plain_numbers.reshape(-1, columns)
        each = max(1, BLOCK // columns)
        return (rows[start : start + each] for start in range(0, len(rows), each))

    plain_numbers, unlabelled = _fill_masked_examples(number_array, label_array, len(flat_labels))
    part = FilePredictions(
        kind,
        number_array.shape,
        iterate_row_blocks,
        flat_labels,
        class_names=_convert_array_names("class_names", class_names),
        member_names=_convert_array_names("member_names", member_names),
        split=names.parse_split_label(np.array(split)),
        noun=names.check_noun(noun) if noun.strip() else "",
        notes=notes,
        groups=None if groups is None else refuse_mask("groups", convert_to_array("groups", groups)),
        images=None if pictures is None else lambda n: _convert_array_images(pictures, n),
        image_bytes=0 if pictures is None else pictures.size,
        details=_convert_example_names(example_names, len(flat_labels)),
        unlabelled=unlabelled,
    )
    try:
        return merge_predictions([NamedFilePredictions(_ARRAYS_LABEL, part)], labels_as=labels_as)
    except PredictionsError as error:
        message = str(error).removeprefix(f"{_ARRAYS_LABEL}: ")
        raise PredictionsError(message[:1].upper() + message[1:]) from error


def _convert_array_images(array: NDArray[Any], examples: int) -> tuple[NDArray[np.uint8], list[str]]:
    return convert_images_to_uint8(array.shape, lambda: iter([array.reshape(-1)]), examples)


def _fill_masked_examples(
    numbers: NDArray[Any], labels: NDArray[Any], examples: int
) -> tuple[NDArray[Any], NDArray[np.bool_] | None]:
    """Numbers without a mask, and which examples (N,) have a masked label or number.

    In place of a masked number stands one that is taken: its example is left out.
    """
    left_out = np.zeros(examples, np.bool_)
    label_mask, mask = get_mask(labels), get_mask(numbers)
    if label_mask is not None:
        left_out |= label_mask.reshape(examples, -1).any(axis=1)
    if mask is None:
        return np.asarray(numbers), left_out if label_mask is not None else None
    axis = numbers.ndim - 2 if examples in numbers.shape[-2:-1] else numbers.ndim - 1
    if numbers.shape[axis] == examples:
        left_out |= mask.any(axis=tuple(at for at in range(numbers.ndim) if at != axis))
    classes = numbers.shape[-1] if axis == numbers.ndim - 2 else 2
    filled = np.array(np.ma.getdata(numbers))
    place = tuple(left_out if at == axis else slice(None) for at in range(numbers.ndim))
    if numbers.shape[axis] == examples:
        filled[place] = 1 / classes
    return filled, left_out


def _convert_example_names(values: ArrayLike | None, examples: int) -> ExampleDetails:
    if values is None:
        return NO_DETAILS
    texts = convert_to_array("example_names", values).astype(str)
    if texts.shape != (examples,):
        raise PredictionsError(
            f"`example_names` has the shape {texts.shape}, and there are {examples:,} examples: give one name for each."
        )
    return clean_details(texts.tolist(), {})[0]


def _convert_array_names(field: str, name_list: Sequence[str] | None) -> tuple[str, ...] | None:
    return None if name_list is None else names.parse_name_array(field, convert_to_array(field, list(name_list)))
