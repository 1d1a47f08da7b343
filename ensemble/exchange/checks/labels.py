"""What each example is: numbers of classes from what people have under `labels`."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensemble.datasets.label_meanings import describe_reading_option, write_number
from ensemble.errors import PredictionsError
from ensemble.exchange.checks.label_readings import Labels
from ensemble.exchange.checks.names import sanitize_name
from ensemble.files.labels import find_missing_labels

_LABEL_HINT = "give (N,) whole numbers from 0"
BOOLEAN_LABELS = {"false": 0, "true": 1}  # of two classes
SIGNS = [-1, 1]  # what two classes are called where a label is a sign
UNLABELLED = "-1"


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
        return _decode_one_hot(labels), ["`labels` was one-hot: each example's class is where its 1 is."]
    if labels.ndim != 1 or not labels.size:
        raise PredictionsError(f"`labels` has the shape {labels.shape}: {_LABEL_HINT}.")
    return labels, []


def _decode_one_hot(labels: NDArray[Any]) -> NDArray[Any]:
    """The classes of rows that have one 1 and else 0; PredictionsError where one is otherwise."""
    fine = ((labels == 0) | (labels == 1)).all(axis=1) & (labels.sum(axis=1) == 1)
    if not fine.all():
        raise PredictionsError(
            f"`labels` has the shape {labels.shape} and its row {int(np.argmin(fine))} is not one 1 and otherwise 0: "
            f"{_LABEL_HINT}, such as labels.argmax(axis=1) if that is what is meant."
        )
    return labels.argmax(axis=1)


def check_labels_are_classes(labels: NDArray[Any]) -> None:
    """Refuse labels (N,) most of which are no whole numbers; PredictionsError."""
    values = labels
    if labels.dtype.kind == "U":
        try:
            values = labels.astype(np.float64)
        except ValueError:
            return
    if values.dtype.kind == "f":
        broken = np.isfinite(values) & (np.floor(values) != values)
        if 2 * broken.sum() > len(values) and len(np.unique(values)) > 2:
            place = int(np.argmax(broken))
            raise PredictionsError(
                f"`labels[{place}]` is {values[place]:g}, as most are no whole numbers: these "
                "look like numbers to predict (regression), not classes. Judge them with ensemble.judge_numbers, "
                "or give each example the number or name of its class."
            )


def find_unlabelled(labels: NDArray[Any], classes: int, names: tuple[str, ...] | None) -> NDArray[np.bool_]:
    """Which examples (N,) have no label, by `files.labels.find_missing_labels`.

    Args:
      labels: (N,), numbers or text.
      classes: C: of two, −1 and 1 are the classes.
      names: of the classes, or None.
    """
    values, codes = np.unique(labels, return_inverse=True)
    texts = list(map(sanitize_name, values.tolist()))
    words = find_missing_labels(texts, names or ())
    whole = _parse_whole_labels(values, texts)
    if whole is not None and sorted(whole) == SIGNS and classes != len(SIGNS):
        words = {text for text in texts if text == UNLABELLED}
    return np.array([text in words for text in texts])[codes]


def list_label_readings(
    labels: NDArray[Any], classes: int, names: tuple[str, ...] | None
) -> tuple[dict[str, Labels], list[str]]:
    """Every way to read labels as classes, by its name in `label_meanings.LABEL_READINGS`.

    Args:
      labels: (N,), whole numbers or text, all of them labels; see `find_unlabelled`.
      classes: C.
      names: of the classes, or None: text needs them.

    Returns:
      int32 (N,) for each reading that fits, at least one; and what is to be said.

    Raises:
      PredictionsError: one is no class, named with its example.
    """
    values, codes = np.unique(labels, return_inverse=True)
    texts = list(map(sanitize_name, values.tolist()))
    readings, notes = dict[str, Labels](), list[str]()
    named, whole = _match_names(texts, classes, names), _parse_whole_labels(values, texts)
    if named is not None:
        readings["names"] = named[codes]
    if whole is not None:
        if classes == 2 and sorted(whole) == SIGNS and named is None:
            whole = (whole + 1) // 2
            notes.append("Labels of −1 and 1 were read as classes 0 and 1.")
        for name, first in ("positions", 0), ("from-1", 1):
            if whole.min() >= first and whole.max() < classes + first:
                readings[name] = (whole - first).astype(np.int32)[codes]
        if named is not None and "positions" not in readings and names is not None:
            notes.append("Labels that are numbers were read as names of classes.")
    if not readings:
        raise PredictionsError(_describe_unfit_labels(labels, classes, names, whole))
    return readings, notes


def describe_labels_from_1(labels: NDArray[np.integer], classes: int) -> str:
    """What to do about labels (N,) of which the last class is only there if they count from 1."""
    return (
        f"`labels` begins at 1 (it goes to {int(labels.max()) + 1}, of {classes} classes): "
        f"subtract 1, or have that done ({describe_reading_option('from-1')})."
    )


def has_two_classes(labels: NDArray[Any] | None) -> bool:
    """Whether all labels (N,) are 0 or 1 (or −1), or of two names."""
    if labels is None:
        return False
    values = np.unique(labels)
    if labels.dtype.kind == "U":
        return len(values[values != UNLABELLED]) <= 2
    return bool(np.isin(values, (-1, 0, 1)).all()) or values.tolist() == [1, 2]


def _match_names(texts: list[str], classes: int, names: tuple[str, ...] | None) -> Labels | None:
    """The class of each text by its name; None where one is none."""
    class_numbers = {name: number for number, name in enumerate(names or ())}
    if (
        classes == 2
        and all(text.lower() in BOOLEAN_LABELS for text in texts)
        and not (BOOLEAN_LABELS.keys() & {name.lower() for name in class_numbers})
    ):
        class_numbers = {text: BOOLEAN_LABELS[text.lower()] for text in texts}
    if not all(text in class_numbers for text in texts):  # "01" and "1.0" are the number 1
        class_numbers = {write_number(name): place for name, place in class_numbers.items()}
        texts = list(map(write_number, texts))
    if len(class_numbers) < len(names or ()) or not all(text in class_numbers for text in texts):
        return None
    return np.array([class_numbers[text] for text in texts], np.int32)


def _parse_whole_labels(values: NDArray[Any], texts: list[str]) -> NDArray[np.int64] | None:
    """Distinct labels as whole numbers, in their order; None where one is none."""
    if values.dtype.kind == "U":
        try:
            values = np.array(texts).astype(np.float64)
        except ValueError:
            return None
    wide = values.astype(np.float64)
    if not (np.isfinite(wide) & (np.floor(wide) == wide) & (np.abs(wide) < 2**53)).all():
        return None
    return wide.astype(np.int64)


def _describe_unfit_labels(
    labels: NDArray[Any], classes: int, names: tuple[str, ...] | None, whole: NDArray[np.int64] | None
) -> str:
    try:
        values = labels.astype(np.float64)
    except ValueError:
        place, text = _find_unknown_label(labels, names or ())
        if names is None:
            return (
                f"`labels[{place}]` is “{text}”, but the classes have no names: give "
                "`class_names` in the order of the probabilities, or numbers from 0."
            )
        return (
            f"`labels[{place}]` is “{text}”, which is not one of the {classes} class names: "
            "use those names, or give numbers from 0."
        )
    if whole is None:
        place = int(np.argmin(np.isfinite(values) & (np.floor(values) == values)))
        return f"`labels[{place}]` is {values[place]:g}: {_LABEL_HINT}."
    place = int(np.argmax((values < 0) | (values >= classes)))
    return (
        f"`labels[{place}]` is {int(values[place])}, but there are {classes} classes: {_LABEL_HINT} to {classes - 1}."
    )


def _find_unknown_label(labels: NDArray[Any], names: tuple[str, ...]) -> tuple[int, str]:
    for place, text in enumerate(map(sanitize_name, labels.tolist())):
        if text not in names and not text.lstrip("-").isdigit():
            return place, f"{text:.60}"
    return 0, f"{labels[0]:.60}"
