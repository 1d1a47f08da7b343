"""Which columns of a table are pixels, which one is the label: by their names, else by a rule.

Forms: `label,pixel0,pixel1,…` as on Kaggle, the label anywhere; the same without names, the label
first; and FER2013's, whose pixels are numbers within one column.
"""

import dataclasses
import functools
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from ensemble.datasets.own.request import sanitize_text
from ensemble.errors import DataError
from ensemble.files.columns import SPLIT_NAMES, list_unused_notes

_LABEL_NAMES = (
    *("label", "labels", "class", "target", "emotion", "category", "digit", "y", "class_label"),
    *("symbol", "letter", "character", "ground_truth"),
)
# Columns that number the images, or name their files.
_INDEX_NAMES = {"", "id", "imageid", "image_id", "index", "unnamed: 0", "file", "filename", "path"}
_SPLIT_COLUMNS = {"usage", "split", "subset", "set", "partition"}
_JOINED_PIXELS = {"pixels", "pixel"}
# FER2013's words for its two sets of test images beside those of `SPLIT_NAMES`.
_SPLIT_WORDS = {**SPLIT_NAMES, "publictest": "val", "privatetest": "test"}
_PIXEL_PATTERN = re.compile(r"([a-z]*?)[_ .\-]?((?:\d+)(?:[x_,.\- ]\d+){0,2})[_ .\-]?([a-z]*)")
_CHANNELS = {"r": 0, "red": 0, "g": 1, "green": 1, "b": 2, "blue": 2}
_LEAST_PIXELS = 16
_LEAST_SURE_PIXELS = {False: 64, True: 36}  # fewer may be features: with names, and without
# 28x28, pixel_3, r0, img7; digits alone, or no name, say nothing.
_PIXEL_NAME = re.compile(
    r"(p|pix|px|pixels?|image|img|gr[ae]y|r|g|b|red|green|blue)[_ .\-]?\d.*|.*\d([x_,.\- ]\d|[_ .\-]?[rgb]).*"
)
NUMBER = re.compile(r"\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*")


@dataclass(frozen=True)
class PixelColumns:
    """The columns of a table of pixels, by their places from 0.

    Attributes:
      pixels: of the pixels in the order of the picture; one place where all are in one column.
      joined: whether all are in one column, with spaces between them.
      label: of the label; None where there is none.
      split: of the word for training or test; None where there is none.
      header: whether the first row names the columns.
      count: how many columns there are.
      notes: what was assumed or left out, a sentence each.
      label_name: what the label's column is called, in small letters; "" where it has no name.
      pixel_name: likewise of the first pixel.
    """

    pixels: tuple[int, ...]
    joined: bool
    label: int | None
    split: int | None
    header: bool
    count: int
    notes: tuple[str, ...] = ()
    label_name: str = ""
    pixel_name: str = ""

    @functools.cached_property
    def contiguous(self) -> bool:
        """Whether the pixels stand side by side in their order."""
        return self.pixels == tuple(range(self.pixels[0], self.pixels[0] + len(self.pixels)))


def find_pixel_columns(rows: Sequence[Sequence[str]]) -> PixelColumns | None:
    """The columns of a table of pixels; None where it is no such table."""
    first = [field.strip() for field in rows[0]] if rows else []
    if len(first) > _LEAST_PIXELS and all(NUMBER.fullmatch(field) for field in first):
        return _find_unnamed(rows)
    names = [name.lower().strip("\"' ") for name in first]
    joined = [place for place, name in enumerate(names) if name in _JOINED_PIXELS]
    if len(joined) == 1 and len(names) <= _LEAST_PIXELS:
        return _build_named(first, names, tuple(joined), joined=True)
    pixels, moved, channels = _order_pixel_names(names)
    if len(pixels) < _LEAST_PIXELS:
        return None
    columns = _build_named(first, names, pixels, joined=False)
    notes = list(columns.notes)
    if moved:
        notes.append("The columns of the pixels are read in the order of their numbers.")
    if not channels and _is_colour(len(pixels)):
        notes.append(_COLOUR_NOTE)
    return dataclasses.replace(columns, notes=tuple(notes))


_COLOUR_NOTE = (
    "The pixels are taken row by row, with red, green and blue of each side by side: look at the "
    "pictures, for a table does not say whether its colours follow one another as planes."
)


def choose_pixel_shape(count: int, name: str) -> tuple[int, ...]:
    """The (H, W) or (H, W, 3) of so many pixels; DataError where they make no square."""
    if (side := math.isqrt(count)) ** 2 == count and count >= _LEAST_PIXELS:
        return side, side
    if _is_colour(count):
        side = math.isqrt(count // 3)
        return side, side, 3
    raise DataError(
        f"{name} has {count:,} pixels in each row, which is neither a square (784 = 28×28, grey) "
        "nor three squares (3,072 = 3×32×32, colour): save the images as .npz."
    )


def check_features(columns: PixelColumns, rows: Sequence[Sequence[str]], name: str) -> None:
    """Raise DataError if columns that are not called pixels look like features of a table.

    Args:
      columns: of the table.
      rows: the first of them, below the header.
      name: of the file.
    """
    if columns.joined or _PIXEL_NAME.fullmatch(columns.pixel_name):
        return
    count = len(columns.pixels)
    cells = [row[place] for row in rows for place in columns.pixels if place < len(row)]
    numbers = [float(cell) for cell in cells if NUMBER.fullmatch(cell)]
    is_bytes = all(0 <= number <= 255 and number.is_integer() for number in numbers)
    if count >= _LEAST_SURE_PIXELS[columns.pixel_name.isdigit() or not columns.pixel_name] and (
        is_bytes or all(0 <= number <= 1 for number in numbers)
    ):
        return
    raise DataError(
        f"{name} has {count:,} columns of numbers that may be features, or pixels of images. If they are pixels, name "
        "the columns pixel0, pixel1 and so on. From features a column of numbers can be predicted: `ensemble train "
        f"--task regression --table {name} --target COLUMN`; classes are learned from images only."
    )


def parse_split_word(word: str) -> str:
    """The split that a word in a table stands for; "" for none."""
    return _SPLIT_WORDS.get(re.sub(r"[\s_\-]", "", word.lower()), "")


def _is_colour(count: int) -> bool:
    return count % 3 == 0 and math.isqrt(count // 3) ** 2 == count // 3


def _find_unnamed(rows: Sequence[Sequence[str]]) -> PixelColumns:
    """Numbers without names: the label is the first column, unless that is the same throughout."""
    count = len(rows[0])
    # A header of numbers, as of a table made of an array.
    header = [field.strip() for field in rows[0]] == list(map(str, range(count)))
    rows = rows[header:]
    if _makes_square(count) and not _makes_square(count - 1):
        return PixelColumns(
            pixels=tuple(range(count)), joined=False, label=None, split=None, header=header, count=count
        )
    distinct = [{row[place].strip() for row in rows if len(row) == count} for place in (0, -1)]
    last = len(distinct[0]) == 1 and len(distinct[1]) > 1
    pixels = range(count - 1) if last else range(1, count)
    notes = [
        f"The table does not name its columns: the {'last' if last else 'first'} is taken as the "
        "label, the others as pixels."
    ]
    if _is_colour(count - 1):
        notes.append(_COLOUR_NOTE)
    label = count - 1 if last else 0
    return PixelColumns(
        pixels=tuple(pixels), joined=False, label=label, split=None, header=header, count=count, notes=tuple(notes)
    )


def _makes_square(count: int) -> bool:
    return math.isqrt(count) ** 2 == count or _is_colour(count)


def _build_named(shown: Sequence[str], names: Sequence[str], pixels: tuple[int, ...], joined: bool) -> PixelColumns:
    others = sorted({*range(len(names))} - {*pixels})
    splits = [place for place in others if names[place] in _SPLIT_COLUMNS]
    split = next(iter(splits), None)
    label = _choose_label(names, [place for place in others if place != split])
    left = [shown[place] or "(no name)" for place in others if place not in (label, split)]
    notes = list_unused_notes(left)
    if label is not None and names[label] not in _LABEL_NAMES:
        notes.append(f"The column {sanitize_text(shown[label]):.80} is taken as the label.")
    return PixelColumns(
        *(pixels, joined, label, split, True, len(names), tuple(notes)),
        label_name="" if label is None else names[label],
        pixel_name=names[pixels[0]],
    )


def _choose_label(names: Sequence[str], places: Sequence[int]) -> int | None:
    """The column of the label: one that is called so, else the only one that is no index."""
    called = [place for place in places if names[place] in _LABEL_NAMES]
    if called:
        return min(called, key=lambda place: _LABEL_NAMES.index(names[place]))
    left = [place for place in places if names[place] not in _INDEX_NAMES]
    return left[0] if len(left) == 1 else None


def _order_pixel_names(names: Sequence[str]) -> tuple[tuple[int, ...], bool, bool]:
    """The places of columns called as pixels are, in the order of the numbers in their names.

    Returns:
      The places, whether they are another order than the table's, and whether the names tell
      red, green and blue.
    """
    groups: dict[str, list[tuple[tuple[int, ...], int, int]]] = {}
    for place, name in enumerate(names):
        match = _PIXEL_PATTERN.fullmatch(name)
        if not match:
            continue
        before, numbers, behind = match.groups()
        colour = next((word for word in (behind, before) if word in _CHANNELS), None)
        group = "" if colour else before + behind
        key = tuple(map(int, re.findall(r"\d+", numbers)))
        groups.setdefault(f"{len(key)}{group}", []).append((key, _CHANNELS[colour] if colour else 0, place))
    if not groups:
        return (), False, False
    found = max(groups.values(), key=len)
    ordered = tuple(place for *_, place in sorted(found))
    channels = len({channel for _, channel, _ in found}) == 3
    return ordered, ordered != tuple(sorted(ordered)), channels
