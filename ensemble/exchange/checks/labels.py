"""What each example is: numbers of classes from what people have under `labels`."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensemble.errors import PredictionsError
from ensemble.exchange.checks.names import sanitize_name

LABEL_HINT = "give (N,) whole numbers from 0"
BOOLEAN_LABELS = {"false": 0, "true": 1}  # of two classes


def flatten_labels(labels: NDArray[Any]) -> tuple[NDArray[Any], list[str]]:
    """Labels (N,), still numbers or text, and what is to be said of it.

    Args:
      labels: (N,), (N, 1), or exactly one-hot (N, C).

    Raises:
      PredictionsError: another shape, or shares of several classes.
    """
    if labels.ndim == 2 and 1 in labels.shape and labels.size:
        return labels.reshape(-1), []
    if labels.ndim == 2 and labels.dtype.kind in "biuf" and labels.size:
        return decode_one_hot(labels), [
            "`labels` was one-hot: each example's class is where its 1 is."
        ]
    if labels.ndim != 1 or not labels.size:
        raise PredictionsError(f"`labels` has the shape {labels.shape}: {LABEL_HINT}.")
    return labels, []


def decode_one_hot(labels: NDArray[Any]) -> NDArray[Any]:
    """The classes of rows that have one 1 and else 0; PredictionsError where one is otherwise."""
    fine = ((labels == 0) | (labels == 1)).all(axis=1) & (labels.sum(axis=1) == 1)
    if not fine.all():
        raise PredictionsError(
            f"`labels` has the shape {labels.shape} and its row {int(np.argmin(fine))} is not "
            f"one 1 and otherwise 0: {LABEL_HINT}, such as labels.argmax(axis=1) if that is "
            "what is meant."
        )
    return labels.argmax(axis=1)


def parse_class_numbers(
    labels: NDArray[Any], classes: int, names: tuple[str, ...] | None
) -> NDArray[np.int32]:
    """The class number of each example.

    Args:
      labels: (N,), whole numbers in [0, C), or text among the names.
      classes: C.
      names: of the classes, or None: text needs them.

    Returns:
      int32 (N,).

    Raises:
      PredictionsError: one is no class, named with its example; or all are one too high.
    """
    if labels.dtype.kind == "U":
        return _parse_named_labels(labels, classes, names)
    if labels.dtype.kind == "f":
        whole = np.isfinite(labels) & (np.floor(labels) == labels)
        if not whole.all():
            place = int(np.argmin(whole))
            raise PredictionsError(f"`labels[{place}]` is {labels[place]:g}: {LABEL_HINT}.")
    least, most = labels.min(), labels.max()
    if least >= 1 and most == classes:
        raise PredictionsError(
            f"`labels` begins at 1 (it goes to {int(most)}, of {classes} classes): subtract 1."
        )
    if least < 0 or most >= classes:
        place = int(np.argmax((labels < 0) | (labels >= classes)))
        raise PredictionsError(
            f"`labels[{place}]` is {int(labels[place])}, but there are {classes} classes: "
            f"{LABEL_HINT} to {classes - 1}."
        )
    return labels.astype(np.int32)


def _parse_named_labels(
    labels: NDArray[Any], classes: int, names: tuple[str, ...] | None
) -> NDArray[np.int32]:
    distinct_labels, codes = np.unique(np.char.strip(labels), return_inverse=True)
    texts = np.array([sanitize_name(label) for label in distinct_labels.tolist()])
    class_numbers = {name: number for number, name in enumerate(names or ())}
    if (
        classes == 2
        and all(text.lower() in BOOLEAN_LABELS for text in texts)
        and not (BOOLEAN_LABELS.keys() & {name.lower() for name in class_numbers})
    ):
        class_numbers = {text: BOOLEAN_LABELS[text.lower()] for text in texts}
    if all(text in class_numbers for text in texts):
        return np.array([class_numbers[text] for text in texts], np.int32)[codes]
    try:
        values = texts.astype(np.float64)
    except ValueError:
        place, text = _find_unknown_label(labels, class_numbers)
        if names is None:
            raise PredictionsError(
                f"`labels[{place}]` is “{text}”, but the classes have no names: give "
                "`class_names` in the order of the probabilities, or numbers from 0."
            ) from None
        raise PredictionsError(
            f"`labels[{place}]` is “{text}”, which is not one of the {classes} class names: "
            "use those names, or give numbers from 0."
        ) from None
    return parse_class_numbers(values[codes], classes, None)


def _find_unknown_label(labels: NDArray[Any], class_numbers: dict[str, int]) -> tuple[int, str]:
    for place, text in enumerate(map(sanitize_name, labels.tolist())):
        if text not in class_numbers and not text.lstrip("-").isdigit():
            return place, f"{text:.60}"
    return 0, f"{labels[0]:.60}"


def has_two_classes(labels: NDArray[Any] | None) -> bool:
    """Whether all labels (N,) are 0 or 1, or of two names."""
    if labels is None:
        return False
    if labels.dtype.kind == "U":
        return len(np.unique(labels)) <= 2
    return bool(((labels == 0) | (labels == 1)).all())
