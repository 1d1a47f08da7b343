"""Columns of (N, K) outputs of two classes: K classes of one member, or K members."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensemble.exchange.checks.label_readings import is_chance_level
from ensemble.exchange.checks.labels import has_two_classes
from ensemble.exchange.checks.limits import MOST_MEMBERS, check_free_memory
from ensemble.exchange.files.file_predictions import FilePredictions
from ensemble.storage.arrays.array_digest import CHUNK_BYTES

_SUM_TOLERANCE = 0.05  # of a row that is meant to be a distribution, however it was rounded


def turn_member_columns(file: FilePredictions, labels: NDArray[Any]) -> FilePredictions:
    """The same file with its columns as members, (M, N), where they are members of two classes.

    They are where the file says so by its names; else where read as classes they are right no more
    often than a guess, and as members more often; probabilities also where rows do not sum to 1.

    Args:
      file: what was read; any shape but (N, K) is left as it is.
      labels: (N,), numbers or text.
    """
    shape = file.shape
    if (
        len(shape) != 2
        or shape[0] != len(labels)
        or shape[0] == shape[1]
        or not 2 <= shape[1] <= MOST_MEMBERS
        or not has_two_classes(labels)
    ):
        return file
    named = None
    if file.class_names is not None and shape[1] > 2:
        named = len(file.class_names) == 2
    elif file.member_names is not None and len(file.member_names) == shape[1]:
        named = True
    if named is False:
        return file
    check_free_memory(2 * shape[0] * shape[1] * np.dtype(np.float64).itemsize)
    values = np.concatenate(list(file.blocks(shape[1]))).astype(np.float64, copy=False)
    if named is None and not _columns_are_members(file.kind, values, _number_labels(file, labels)):
        if shape[1] == 2:
            return file
        text = (
            f"`{file.kind}` {shape} was read as one member of {shape[1]} classes, of which labels "
            f"name two; if its columns are members of two classes, give {file.kind}.T."
        )
        return replace(file, notes=[*file.notes, text])
    columns = np.ascontiguousarray(values.T)

    def iterate_columns(numbers: int) -> Iterator[NDArray[Any]]:
        rows = columns.reshape(-1, numbers)
        step = max(1, CHUNK_BYTES // (numbers * rows.itemsize))
        return (rows[start : start + step] for start in range(0, len(rows), step))

    text = f"`{file.kind}` {shape} was read as {shape[1]} members of two classes, one a column."
    return replace(file, shape=shape[::-1], blocks=iterate_columns, notes=[*file.notes, text], reorder=None)


def _number_labels(file: FilePredictions, labels: NDArray[Any]) -> NDArray[np.int64]:
    """0 or 1 for each label, by the class names where these name both, else in their order."""
    values, codes = np.unique(labels, return_inverse=True)
    order = list(map(str, values.tolist()))
    if file.class_names is not None and set(order) <= set(file.class_names[:2]):
        return np.array([file.class_names.index(text) for text in order])[codes]
    return codes - max(0, len(values) - 2)  # -1 for a label that is none


def _columns_are_members(kind: str, values: NDArray[np.float64], labels: NDArray[np.int64]) -> bool:
    if not np.isfinite(values).all():
        return False  # which is refused by its place
    if kind == "probabilities":
        in_range = bool((values >= 0).all() and (values <= 1).all())
        sums = values.sum(axis=1)
        if not in_range or bool((np.abs(sums - 1) <= _SUM_TOLERANCE).all()):
            return False
        return values.shape[1] > 2 or bool((np.abs(sums - 1) > _SUM_TOLERANCE).mean() > 0.5)
    kept = labels >= 0
    values, labels = values[kept], labels[kept]
    counts = labels.astype(np.int32)
    as_classes = values.argmax(axis=1)
    positives = 1 / (1 + np.exp(-np.clip(values, -700, 700)))
    as_members = (positives.mean(axis=1) > 0.5).astype(np.int64)
    return is_chance_level(counts, as_classes, values.shape[1]) and not is_chance_level(counts, as_members, 2)
