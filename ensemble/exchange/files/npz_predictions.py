"""The predictions in an .npz: its arrays by their names, and by those that people also use."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensemble.errors import PredictionsError
from ensemble.exchange.checks.images import convert_images_to_uint8
from ensemble.exchange.checks.labels import flatten_labels
from ensemble.exchange.checks.limits import MOST_CLASSES, MOST_EXAMPLES, MOST_SIDE
from ensemble.exchange.checks.names import (
    MOST_BYTES,
    MOST_LETTERS,
    parse_name_array,
    parse_split_label,
)
from ensemble.exchange.files.file_predictions import FilePredictions
from ensemble.exchange.files.npz_archive import NpzArchive

# The name that is documented, and others that stand for nothing else.
COLUMN_PREFIX = "example_"  # of an array that says one thing of each example
ARRAY_NAMES = {
    "probabilities": ("probabilities", "probs", "proba", "y_proba", "y_prob"),
    "logits": ("logits",),
    "labels": ("labels", "label", "y_true", "targets"),
    "images": ("images",),
    "class_names": ("class_names", "classes"),
    "member_names": ("member_names",),
    "split": ("split",),
    "groups": ("groups", "group"),
}
MOST_LABEL_BYTES = MOST_EXAMPLES * MOST_CLASSES * 8  # one-hot in float64
MAX_TEXT_LENGTH = (
    250  # letters of the longest text of an array, which each of its texts takes room for
)
MOST_IMAGE_NUMBERS = MOST_EXAMPLES * MOST_SIDE * MOST_SIDE * 3


def read_npz_predictions(archive: NpzArchive) -> FilePredictions:
    """What an .npz holds, its outputs and images not read yet: `archive` stays open for them.

    Raises:
      PredictionsError: it has no outputs, or an array is not what its name says.
    """
    array_names, notes = _match_array_names(archive.array_names)
    kind = _find_output_kind(array_names, archive.array_names)
    aside = set(archive.array_names) - set(array_names.values())
    if "probabilities" in array_names and "logits" in array_names:
        aside.add(array_names["logits"])
    if aside:
        listing = ", ".join(f"`{name:.40}`" for name in sorted(aside)[:5])
        notes.append(f"Arrays that were ignored: {listing}.")
    header = archive.array_header(array_names[kind])
    if header.dtype.kind == "U":
        raise PredictionsError(f"`{kind}` holds text: save it as numbers, .astype('float32').")
    labels = None
    if "labels" in array_names:
        labels, more = flatten_labels(
            _load_small_array(archive, array_names["labels"], MOST_LABEL_BYTES)
        )
        notes += more
    return FilePredictions(
        kind,
        header.shape,
        lambda columns: archive.iterate_blocks(array_names[kind], columns),
        labels,
        class_names=_read_npz_names(archive, array_names, "class_names"),
        member_names=_read_npz_names(archive, array_names, "member_names"),
        split=parse_split_label(_load_small_array(archive, array_names["split"]))
        if "split" in array_names
        else "",
        notes=notes,
        groups=_load_small_array(archive, array_names["groups"])
        if "groups" in array_names
        else None,
        **_prepare_npz_images(archive, array_names),
    )


def _match_array_names(names: list[str]) -> tuple[dict[str, str], list[str]]:
    """The array that stands for each name, and a sentence for each other name."""
    array_names, notes = {}, []
    for wanted, aliases in ARRAY_NAMES.items():
        if there := [alias for alias in aliases if alias in names]:
            array_names[wanted] = there[0]
            if there[0] != wanted:
                notes.append(f"`{there[0]}` was read as `{wanted}`.")
    return array_names, notes


def _find_output_kind(array_names: dict[str, str], names: list[str]) -> str:
    for kind in ("probabilities", "logits"):
        if kind in array_names:
            return kind
    listing = ", ".join(f"`{name:.40}`" for name in names[:8])
    raise PredictionsError(
        f"it has neither `probabilities` nor `logits`, only {listing}: save them under one of "
        "these names, np.savez(file, probabilities=…, labels=…)."
    )


def _read_npz_names(
    archive: NpzArchive, array_names: dict[str, str], field: str
) -> tuple[str, ...] | None:
    return (
        parse_name_array(field, _load_small_array(archive, array_names[field]))
        if field in array_names
        else None
    )


def _load_small_array(archive: NpzArchive, name: str, most: int = MOST_BYTES) -> NDArray[Any]:
    header = archive.array_header(name)
    if header.dtype.kind == "U" and header.dtype.itemsize > 4 * MAX_TEXT_LENGTH:
        raise PredictionsError(
            f"`{name}` holds a text of {header.dtype.itemsize // 4:,} characters: shorten it, "
            f"to {MOST_LETTERS} at most if it is a name."
        )
    if header.nbytes > most or max(header.shape, default=0) > MOST_EXAMPLES:
        raise PredictionsError(
            f"`{name}` has the shape {header.shape}, more than a file may have: give one entry "
            f"for each example, class or member, and at most {MOST_EXAMPLES:,} examples."
        )
    return archive.load_array(name)


def _prepare_npz_images(archive: NpzArchive, array_names: dict[str, str]) -> dict[str, Any]:
    if "images" not in array_names:
        return {}
    name = array_names["images"]
    header = archive.array_header(name)
    count = int(np.prod(header.shape, dtype=np.float64))
    if header.dtype.kind == "U" or count > MOST_IMAGE_NUMBERS:
        raise PredictionsError(
            f"`images` has the shape {header.shape} of {header.dtype}: give numbers, and smaller "
            "images, or leave `images` out."
        )

    def iterate_pieces() -> Iterator[NDArray[Any]]:
        return (block.reshape(-1) for block in archive.iterate_blocks(name, 1))

    def read_images(examples: int) -> tuple[NDArray[np.uint8], list[str]]:
        return convert_images_to_uint8(header.shape, iterate_pieces, examples)

    return {"images": read_images, "image_bytes": count}
