"""The predictions in an .npz: its arrays by their names, and by those that people also use."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensemble.datasets.example_details import ExampleDetails, clean_details
from ensemble.errors import PredictionsError
from ensemble.exchange.checks.images import convert_images_to_uint8
from ensemble.exchange.checks.labels import flatten_labels
from ensemble.exchange.checks.limits import MOST_CLASSES, MOST_EXAMPLES, MOST_SIDE
from ensemble.exchange.checks.names import MOST_BYTES, MOST_LETTERS, parse_name_array, parse_noun, parse_split_label
from ensemble.exchange.files.file_predictions import FilePredictions
from ensemble.exchange.files.npz_archive import NpzArchive
from ensemble.files.columns import list_unused_notes
from ensemble.storage.arrays.npy import BFLOAT16

# The name that is documented, and others that stand for nothing else.
COLUMN_PREFIX = "example_"  # of an array that says one thing of each example
ARRAY_NAMES = {
    "probabilities": ("probabilities", "probs", "proba", "y_proba", "y_prob", "predict_proba"),
    "logits": ("logits",),
    "labels": (
        *("labels", "label", "label_ids", "y_true", "targets", "target", "y_test", "y"),
        *("ground_truth", "true_labels", "test_labels"),
    ),
    "images": ("images",),
    "class_names": ("class_names", "classes", "classes_", "label_names"),
    "member_names": ("member_names",),
    "example_names": ("example_names", "example_ids", "ids", "filenames", "file_names"),
    "split": ("split",),
    "noun": ("noun",),
    "groups": ("groups", "group"),
}
# Names of probabilities as well as of logits, which their numbers tell apart.
OUTPUT_NAMES = ("predictions", "preds", "y_pred", "outputs", "y_score", "scores")
_MOST_LABEL_BYTES = MOST_EXAMPLES * MOST_CLASSES * 8  # one-hot in float64
_MAX_TEXT_LENGTH = 250  # letters of the longest text of an array, which each of its texts takes room for
_MOST_IMAGE_NUMBERS = MOST_EXAMPLES * MOST_SIDE * MOST_SIDE * 3


def read_npz_predictions(archive: NpzArchive) -> FilePredictions:
    """What an .npz holds, its outputs and images not read yet: `archive` stays open for them.

    Raises:
      PredictionsError: it has no outputs, or an array is not what its name says.
    """
    array_names, notes = _match_array_names(archive.array_names)
    kind = _find_output_kind(archive, array_names, notes)
    columns = {
        name.removeprefix(COLUMN_PREFIX): name
        for name in archive.array_names
        if name.startswith(COLUMN_PREFIX)
        and name not in array_names.values()
        and len(archive.array_header(name).shape) == 1
    }
    aside = set(archive.array_names) - {*array_names.values(), *columns.values()}
    if "probabilities" in array_names and "logits" in array_names:
        aside.add(array_names["logits"])
    notes += list_unused_notes(sorted(aside), "array")
    header = archive.array_header(array_names[kind])
    if header.dtype.kind == "U":
        raise PredictionsError(f"`{kind}` holds text: save it as numbers, .astype('float32').")
    if header.dtype == BFLOAT16:
        notes.append(f"`{array_names[kind]:.40}` was read as bfloat16.")
    labels = None
    if "labels" in array_names:
        labels, more = flatten_labels(_load_small_array(archive, array_names["labels"], _MOST_LABEL_BYTES))
        notes += more
    return FilePredictions(
        kind,
        header.shape,
        lambda columns: archive.iterate_blocks(array_names[kind], columns),
        labels,
        class_names=_read_npz_names(archive, array_names, "class_names"),
        member_names=_read_npz_names(archive, array_names, "member_names"),
        split=parse_split_label(_load_small_array(archive, array_names["split"])) if "split" in array_names else "",
        noun=parse_noun(_load_small_array(archive, array_names["noun"])) if "noun" in array_names else "",
        notes=notes,
        groups=_load_small_array(archive, array_names["groups"]) if "groups" in array_names else None,
        details=_read_npz_details(archive, array_names.get("example_names"), columns),
        **_prepare_npz_images(archive, array_names),
    )


def _match_array_names(names: list[str]) -> tuple[dict[str, str], list[str]]:
    array_names, notes = {}, []
    for wanted, aliases in ARRAY_NAMES.items():
        if there := [alias for alias in aliases if alias in names]:
            array_names[wanted] = there[0]
            if there[0] != wanted:
                notes.append(f"`{there[0]}` was read as `{wanted}`.")
    return array_names, notes


def _find_output_kind(archive: NpzArchive, array_names: dict[str, str], notes: list[str]) -> str:
    for kind in ("probabilities", "logits"):
        if kind in array_names:
            return kind
    name = next((name for name in OUTPUT_NAMES if name in archive.array_names), None)
    if name is None:
        listing = ", ".join(f"`{name:.40}`" for name in archive.array_names[:8])
        raise PredictionsError(
            f"it has neither `probabilities` nor `logits`, only {listing}: save them under one of "
            "these names, np.savez(file, probabilities=…, labels=…)."
        )
    kind = "probabilities" if look_like_probabilities(archive, name) else "logits"
    if kind == "logits" and _are_all_shares(archive, name):
        raise PredictionsError(
            f"all numbers of `{name}` lie between 0 and 1 and its rows do not sum to 1, as sigmoids of classes that do "
            "not exclude each other: save `probabilities` that sum to 1, or the numbers before the sigmoid as `logits`."
        )
    array_names[kind] = name
    notes.append(f"`{name}` was read as `{kind}`, which its numbers are.")
    return kind


def look_like_probabilities(archive: NpzArchive, name: str) -> bool:
    """Return whether the first rows of an array are distributions, also in percent."""
    header = archive.array_header(name)
    if header.dtype.kind == "U" or not header.shape or 0 in header.shape:
        return True  # which is refused by its shape or type
    block = next(archive.iterate_blocks(name, header.shape[-1])).astype(np.float64)
    if len(header.shape) == 1 and (np.floor(block) == block).all() and len(np.unique(block)) > 1:
        raise PredictionsError(
            f"`{name}` holds the predicted classes alone: save the probabilities of all classes as "
            "`probabilities`, (members, examples, classes)."
        )
    if len(header.shape) == 1 or header.shape[-1] == 1:
        return bool((block >= 0).all() and (block <= 1).all())
    sums = block.sum(axis=1)
    near = (np.abs(sums - 1) <= 0.05) | (np.abs(sums - 100) <= 5)
    return bool((block >= 0).all() and near.mean() > 0.5)


def _are_all_shares(archive: NpzArchive, name: str) -> bool:
    shape = archive.array_header(name).shape
    blocks = archive.iterate_blocks(name, shape[-1])
    return all(bool(((block >= 0) & (block <= 1)).all()) for block in blocks)


def _read_npz_details(archive: NpzArchive, names: str | None, columns: dict[str, str]) -> ExampleDetails:
    texts = {column: _load_text_list(archive, name) for column, name in columns.items()}
    return clean_details([] if names is None else _load_text_list(archive, names), texts)[0]


def _load_text_list(archive: NpzArchive, name: str) -> list[str]:
    values = _load_small_array(archive, name, MOST_EXAMPLES * _MAX_TEXT_LENGTH * 4).reshape(-1)
    return [str(value) for value in values.tolist()]


def _read_npz_names(archive: NpzArchive, array_names: dict[str, str], field: str) -> tuple[str, ...] | None:
    return parse_name_array(field, _load_small_array(archive, array_names[field])) if field in array_names else None


def _load_small_array(archive: NpzArchive, name: str, most: int = MOST_BYTES) -> NDArray[Any]:
    header = archive.array_header(name)
    if header.dtype.kind == "U" and header.dtype.itemsize > 4 * _MAX_TEXT_LENGTH:
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
    if header.dtype.kind == "U" or count > _MOST_IMAGE_NUMBERS:
        raise PredictionsError(
            f"`images` has the shape {header.shape} of {header.dtype}: give numbers, and smaller "
            "images, or leave `images` out."
        )

    def iterate_pieces() -> Iterator[NDArray[Any]]:
        return (block.reshape(-1) for block in archive.iterate_blocks(name, 1))

    def read_images(examples: int) -> tuple[NDArray[np.uint8], list[str]]:
        return convert_images_to_uint8(header.shape, iterate_pieces, examples)

    return {"images": read_images, "image_bytes": count}
