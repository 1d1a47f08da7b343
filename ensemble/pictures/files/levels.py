"""Which numbers of a picture are black and white: one rule for a dataset, and for one picture.

Files and arrays do not say it: 12 bits lie in 16, digits run from 0 to 16, fractions from 0 to 1.
The largest number decides, of a dataset that of all its pictures together, so that a dark one among
them stays dark.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from ensemble.pictures.files.transparency import has_transparency

Levels = tuple[float, float]  # the numbers that are black and white

BYTE_LEVELS: Levels = (0.0, 255.0)
_BIT_DEPTH_MAXIMA = (255, 1023, 4095, 16383, 65535)  # of 8, 10, 12, 14 and 16 bits
_SMALL_MAXIMA = (1, 3, 7, 16)  # of marks, few grey levels, and scikit-learn's digits
MAX_SMALL_LEVEL = _SMALL_MAXIMA[-1]  # pictures of 8 bits with a larger number are as they are
MAX_LEVEL = _BIT_DEPTH_MAXIMA[-1]
_OVERSHOOT = 1.02  # fractions that were interpolated run a little over their white
_DEEP_MODES = ("I", "F")  # Pillow's, and all that begin with "I;"


@dataclass(frozen=True)
class PictureLevels:
    """What the pictures of a dataset have in common, for whoever brings another of its kind.

    Attributes:
      shallow: of pictures of 8 bits.
      deep: of whole numbers of more bits; None where the dataset has none of them.
      fraction: of fractions, likewise.
      ground: what stands behind transparent pictures: "black", "mixed" (black where nothing would
        be seen on white), "white"; "" where there are none.
    """

    shallow: Levels = BYTE_LEVELS
    deep: Levels | None = None
    fraction: Levels | None = None
    ground: str = ""


STANDARD_LEVELS = PictureLevels()


@dataclass
class LevelRange:
    """The least and largest number by now; NaN is passed over.

    Attributes:
      low, high: infinite, and low above high, where there was none.
      whole: whether all are.
      is_bounded: whether their type holds numbers from 0 to `MAX_LEVEL` alone.
    """

    low: float = np.inf
    high: float = -np.inf
    whole: bool = True
    is_bounded: bool = True

    def add(self, values: NDArray[Any]) -> None:
        """Takes numbers of any shape in."""
        self.is_bounded = self.is_bounded and values.dtype in (np.uint8, np.uint16, np.bool_)
        if values.dtype.kind == "f":
            finite = np.isfinite(values)
            values = values if finite.all() else values[finite]
            self.whole = self.whole and not (values % 1).any()
        if values.size:
            self.low = min(self.low, float(values.min()))
            self.high = max(self.high, float(values.max()))

    def join(self, other: "LevelRange") -> None:
        """Takes in what another has met."""
        self.low, self.high = min(self.low, other.low), max(self.high, other.high)
        self.whole = self.whole and other.whole
        self.is_bounded = self.is_bounded and other.is_bounded

    @property
    def is_final(self) -> bool:
        """Whether no further number of these types can change the levels."""
        return self.is_bounded and self.high > _BIT_DEPTH_MAXIMA[-2]

    @property
    def levels(self) -> Levels:
        """By `choose_levels`; (0, 1) where no number was met."""
        return choose_levels(self.low, self.high, whole=self.whole) if self.high >= self.low else (0.0, 1.0)


def choose_levels(low: float, high: float, *, whole: bool) -> Levels:
    """The numbers that are black and white in a dataset whose numbers run from `low` to `high`.

    Black is 0, and white the least of 1, 3, 7, 16 and of what 8, 10, 12, 14 and 16 bits hold that
    is not below `high`. Fractions above 1 and up to 16, and numbers below 0 or above 16 bits, are
    spread as far as they run.

    Args:
      low: the least number of all pictures of the dataset.
      high: the largest.
      whole: whether all numbers are.
    """
    if low < 0 or high > MAX_LEVEL:
        return low, high
    if whole:
        return 0.0, float(next(top for top in (*_SMALL_MAXIMA, *_BIT_DEPTH_MAXIMA) if high <= top))
    tops = (top for top in (1, *_BIT_DEPTH_MAXIMA) if high <= top * _OVERSHOOT)
    top = next(tops, MAX_LEVEL)
    return 0.0, high if top > 1 and high <= MAX_SMALL_LEVEL else float(top)


def scale_levels(values: NDArray[Any], levels: Levels) -> NDArray[np.uint8]:
    """Numbers of any shape as uint8, black 0 and white 255, what lies beyond them cut off.

    Of 16 bits the upper eight are kept. What is not a number becomes black.
    """
    low, high = levels
    if values.dtype == np.uint8 and levels == BYTE_LEVELS:
        return values
    if levels == (0, MAX_LEVEL) and values.dtype.kind in "iu":
        return (values >> 8).astype(np.uint8)
    if values.dtype in (np.uint8, np.uint16) and not low:
        numbers = np.arange(np.iinfo(values.dtype).max + 1)
        table = np.minimum(numbers * (255 / high) + 0.5, 255).astype(np.uint8)
        return np.asarray(table[values], np.uint8)
    numbers = np.nan_to_num(values.astype(np.float64), nan=low, posinf=high, neginf=low)
    share = (numbers - low) / (high - low) if high > low else np.zeros_like(numbers)
    return np.round(255 * np.clip(share, 0, 1)).astype(np.uint8)


def is_deep_image(image: Image.Image) -> bool:
    """Whether a picture has one channel of more than 8 bits, or of fractions."""
    return image.mode in _DEEP_MODES or image.mode.startswith("I;")


def expand_small_levels(image: Image.Image, levels: PictureLevels) -> Image.Image:
    """A picture whose numbers can be seen: where those of 8 bits are scaled, of L or RGB."""
    as_it_is = levels.shallow == BYTE_LEVELS or is_deep_image(image) or image.mode in ("L", "RGB")
    return image if as_it_is or has_transparency(image) else image.convert("RGB")


def select_image_levels(
    image: Image.Image, levels: PictureLevels, find_range: Callable[[Image.Image], LevelRange]
) -> Levels | None:
    """The levels of one picture; None where it is as it is.

    Those of its dataset where its numbers lie within them; else, of a deep picture, its own.

    Args:
      image: of any mode of Pillow's.
      levels: of its dataset; `STANDARD_LEVELS` where there is none.
      find_range: the range of a picture's numbers.
    """
    if not is_deep_image(image):
        if levels.shallow == BYTE_LEVELS or image.mode not in ("L", "RGB"):
            return None
        return levels.shallow if find_range(image).high <= levels.shallow[1] else None
    given = levels.fraction if image.mode == "F" else levels.deep
    found = find_range(image)
    if given and given[0] <= found.low and found.high <= given[1] * _OVERSHOOT:
        return given
    return _choose_own_levels(found, is_fraction=image.mode == "F")


def _choose_own_levels(found: LevelRange, *, is_fraction: bool) -> Levels:
    """The levels of a deep picture by itself, of which no other is known.

    White is the top of the smallest depth that holds the picture: cameras and scanners keep 10,
    12 or 14 bits in 16. Fractions run to 1, to 255, or, where they leave both, as far as they run.
    """
    if found.high < found.low:
        return 0.0, 0.0
    if found.low < 0 or found.high > MAX_LEVEL:
        return found.low, found.high
    if is_fraction and found.high <= 1:
        return 0.0, 1.0
    return 0.0, float(next(top for top in _BIT_DEPTH_MAXIMA if found.high <= top))


def describe_levels(levels: Levels) -> str:
    """What is black and white, a clause: "0 is taken as black and 4,095 (12 bits) as white"."""
    low, high = levels
    bits = f" ({_BIT_DEPTH_MAXIMA.index(int(high)) * 2 + 8} bits)" if high in _BIT_DEPTH_MAXIMA else ""
    return f"{format_level(low)} is taken as black and {format_level(high)}{bits} as white"


def format_level(number: float) -> str:
    """A number of a picture: "4,095", "0.98"."""
    return f"{number:,.0f}" if number == int(number) else f"{number:,.3g}"
