"""Arrays of others as pictures and labels: which numbers they may hold, and what becomes of them.

Images: what is black and white is decided by the largest number of all arrays of a dataset, as it
is in pictures (`pictures.files.levels`): uint8 as they are; floats or integers within [0, 1] times
255, rounded; those within [0, 255] rounded; those of 10 to 16 bits brought to 8. Numbers below 0
have been normalised and are refused. Of four channels the last is transparency.
"""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from ensemble.datasets.label_meanings import describe_reading_option
from ensemble.datasets.own.custom_registry import MOST_CLASSES
from ensemble.datasets.own.label_classes import choose_class_reading, list_class_readings
from ensemble.datasets.own.source import (
    VALIDATION_TESTED_NOTE,
    VALIDATION_TRAINED_NOTE,
    DatasetImageFormat,
    Pixels,
    UnreadablePicture,
    format_class_names,
    sort_class_names,
)
from ensemble.datasets.own.sources.encoded import picture_decoding
from ensemble.errors import DataError
from ensemble.files.columns import SPLIT_NAMES
from ensemble.files.labels import find_missing_labels
from ensemble.pictures.files import levels

Labels = NDArray[np.int32]
_UNLABELLED = -1
_NAN = -(2**62)  # in place of NaN among whole numbers
_MISSING_TITLES = {"-1": "−1", str(_NAN): "NaN", "": "empty"}
MOST_IMAGES = 20_000_000
MOST_PIXELS = 2**24  # of an image: one is turned into bytes as a whole


def map_class_labels(
    labels_by_split: Mapping[str, NDArray[np.generic]],
    class_names: NDArray[np.generic] | None,
    where: str,
    notes: list[str] | None = None,
    labels_as: str = "",
) -> tuple[tuple[str, ...], dict[str, Labels]]:
    """One list of classes over all splits, and each split's labels as numbers into it.

    Args:
      labels_by_split: of each split labels (N,), (N, 1) or one-hot (N, C): whole numbers or text.
      class_names: the classes' names in the order of the labels, (C,); None if labels name them.
        Labels that all stand among them are names, also where they are numbers.
      where: what they are of, for the refusal.
      notes: what was assumed is added to it.
      labels_as: one of `label_meanings.LABEL_READINGS` that somebody chose; "" for none.

    Returns:
      The classes' names, and int32 (N,) of each split: −1 for an image without a label, by `find_missing_labels`.

    Raises:
      DataError: they are no labels, or fewer than 2 classes or more than 1,000.
    """
    if (many := sum(map(len, map(np.atleast_1d, labels_by_split.values())))) > MOST_IMAGES:
        raise DataError(
            f"{where} has {many:,} labels, but at most {MOST_IMAGES:,} images are accepted: add a part of them."
        )
    flat = {split: _flatten_source_labels(labels, where) for split, labels in labels_by_split.items()}
    if len({labels.dtype.kind == "U" for labels in flat.values()}) > 1:
        flat = {split: labels.astype(str) for split, labels in flat.items()}  # 0 and "0" are one
    every: list[int | str] = list({label for labels in flat.values() for label in np.unique(labels).tolist()})
    given = [] if class_names is None else _format_given_names(class_names)
    words = find_missing_labels((label for label in every if label != _NAN), given)
    missing = [label for label in every if label == _NAN or str(label) in words]
    if missing:
        every = [label for label in every if label not in missing]
        count = sum(int(np.isin(labels, np.array(missing)).sum()) for labels in flat.values())
        listing = ", ".join(sorted(_MISSING_TITLES.get(str(label), str(label)) for label in missing))
        if notes is not None:
            notes.append(f"{count:,} images of {where} have no label ({listing}) and were left out.")
    _check_class_count(len(every) if class_names is None or not class_names.size else class_names.size, where)
    if class_names is not None and class_names.size:
        names = given
        order = _order_by_names(every, names, where, notes, labels_as)
    elif labels_as not in ("", "names"):
        raise DataError(
            f"{where} has no class_names, so that its labels are the names: leave --labels out, or give it class_names."
        )
    else:
        names = sort_class_names(map(str, every))
        are_numbers = all(isinstance(label, int) for label in every)
        order = {int(name) if are_numbers else name: place for place, name in enumerate(names)}
    places = {**order, **dict.fromkeys(missing, _UNLABELLED)}
    return format_class_names(names), {split: _index_class_labels(labels, places) for split, labels in flat.items()}


def _format_given_names(class_names: NDArray[np.generic]) -> list[str]:
    """Names as text; a whole number without a point, as labels are."""
    names = []
    for name in class_names.reshape(-1).tolist():
        if isinstance(name, float) and name.is_integer():
            name = int(name)
        names.append(name.decode("utf-8", "replace") if isinstance(name, bytes) else str(name))
    return names


def _order_by_names(
    labels: Sequence[int | str], names: list[str], where: str, notes: list[str] | None, labels_as: str
) -> Mapping[int | str, int]:
    """The class of each label: by its name where all are names, else by its position.

    Raises:
      DataError: one is neither, or not what was chosen.
    """
    readings = list_class_readings(labels, names)
    if readings and (labels_as or list(readings) != ["from-1"]):
        order, said = choose_class_reading(readings, names, where, labels_as)
        if notes is not None:
            notes += said
        return order
    if readings:
        raise DataError(
            f"{where} has labels from 1 to {len(names):,}: subtract 1, so that they number its "
            f"class_names from 0, or have that done ({describe_reading_option('from-1')})."
        )
    raise DataError(
        f"{where} has labels outside its {len(names):,} class_names: number labels from 0 to {len(names) - 1:,}."
    )


def _check_class_count(classes: int, where: str) -> None:
    if not 2 <= classes <= MOST_CLASSES:
        raise DataError(f"{where} has {classes:,} classes: it has to have 2 to {MOST_CLASSES:,}.")


def update_value_range(block: NDArray[np.generic], low: float, high: float) -> tuple[float, float]:
    """The least and largest number by now; DataError where one is not a number."""
    if not block.size:
        return low, high
    least, most = float(block.min()), float(block.max())
    if not (np.isfinite(least) and np.isfinite(most)):
        raise DataError("The images hold NaN or infinite numbers: correct these first.")
    return min(low, least), max(high, most)


def parse_image_layout(shape: tuple[int, ...], name: str) -> tuple[int, int, int, int]:
    """The (N, H, W, channels) that an array of this shape has; DataError where it is no images'."""
    if len(shape) == 3:
        shape = (*shape, 1)
    if len(shape) == 4 and shape[3] in (1, 3, 4) and all(shape[1:]):
        if shape[1] * shape[2] > MOST_PIXELS:
            raise DataError(
                f"{name} has images of {shape[2]:,}×{shape[1]:,} pixels, but at most "
                f"{MOST_PIXELS:,} are accepted: save smaller ones."
            )
        return shape[0], shape[1], shape[2], shape[3]
    first = shape[1] in (1, 3, 4) if len(shape) == 4 else False
    hint = " (move the channels last: images.transpose(0, 2, 3, 1))" if first else ""
    raise DataError(
        f"{name} has shape {shape}: images are (N, H, W) or (N, H, W, channels) with 1, 3 or 4 channels{hint}."
    )


def fit_array_to_format(pixels: Pixels, form: DatasetImageFormat, ground: str = "") -> Pixels | UnreadablePicture:
    """A picture (H, W, 1, 3 or 4) in the form of all, on the ground of all."""
    if pixels.shape == form.shape:
        return pixels
    image = Image.fromarray(pixels[:, :, 0] if pixels.shape[2] == 1 else pixels)
    try:
        opaque = picture_decoding.normalize_picture(image, levels.PictureLevels(ground=ground))
        return picture_decoding.fit_image_to_format(picture_decoding.convert_to_channels(opaque, form.channels), form)
    except picture_decoding.UnreadablePictureError as error:
        return UnreadablePicture("an image of the arrays", str(error))


def parse_split_name(word: str) -> str | None:
    """Which split a word stands for; None if for none."""
    return SPLIT_NAMES.get(word.lower())


def assign_validation_split(splits: set[str], notes: list[str]) -> str:
    """Where the images for validation go: to the training images, else they are the test set."""
    into = "train" if "test" in splits else "test"
    notes.append(VALIDATION_TRAINED_NOTE if into == "train" else VALIDATION_TESTED_NOTE)
    return into


def _flatten_source_labels(labels: NDArray[np.generic], where: str) -> NDArray[np.generic]:
    """Labels (N,) as whole numbers or text."""
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = labels[:, 0]
    if labels.ndim == 2 and labels.dtype.kind in "biuf":  # one-hot
        hot = (np.isin(labels, (0, 1))).all() and (labels.sum(axis=1) == 1).all()
        if not hot:
            raise DataError(
                f"{where} has labels of shape {labels.shape} that are not one-hot: give each image one label, (N,)."
            )
        return labels.argmax(axis=1)
    if labels.ndim != 1 or labels.dtype.kind not in "biufU":
        raise DataError(f"{where} has labels of shape {labels.shape}: they have to be (N,).")
    if labels.dtype.kind == "f":
        labels = np.where(np.isnan(labels), _NAN, labels)
        if not (np.isfinite(labels) & (labels % 1 == 0)).all():
            raise DataError(f"{where} has labels that are not whole numbers: give each image the number of its class.")
    if labels.dtype.kind in "uf" and (abs(labels) >= 2.0**63).any():
        raise DataError(f"{where} has labels of 2⁶³ and more: number the classes from 0.")
    return labels if labels.dtype.kind == "U" else labels.astype(np.int64)


def _index_class_labels(labels: NDArray[np.generic], places: Mapping[int | str, int]) -> Labels:
    values, inverse = np.unique(labels, return_inverse=True)
    return np.array([places[value] for value in values.tolist()], np.int32)[inverse].astype(np.int32)
