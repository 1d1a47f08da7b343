"""Which numbers of images are black and white: one rule for files and arrays, here and in exported programs.

The largest number of all images decides: fractions run from 0 to 1, whole numbers as far as 8, 10, 12, 14 or 16 bits
hold, or to 1, 3, 7 or 16. What has been standardized, or would be nearly all black, is refused.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

Levels = tuple[float, float]  # the numbers that are black and white

BYTE_LEVELS: Levels = (0.0, 255.0)
BIT_DEPTH_MAXIMA = (255, 1023, 4095, 16383, 65535)  # of 8, 10, 12, 14 and 16 bits
_SMALL_MAXIMA = (1, 3, 7, 16)  # of marks, few grey levels, and scikit-learn's digits
MAX_SMALL_LEVEL = _SMALL_MAXIMA[-1]  # pictures of 8 bits with a larger number are as they are
MAX_LEVEL = BIT_DEPTH_MAXIMA[-1]
OVERSHOOT = 1.02  # fractions that were interpolated run a little over their white
_SAMPLED, _MOST_SAMPLES = 4096, 256  # numbers of a block that tell how much would be black, and blocks
_BLACK, _MOST_BLACK = 0.01, 0.9  # of white, and of the numbers above 0


@dataclass
class LevelRange:
    """The least and largest number by now; NaN is passed over.

    Attributes:
      low, high: infinite, and low above high, where there was none.
      whole: whether all are.
      is_bounded: whether their type holds numbers from 0 to `MAX_LEVEL` alone.
      samples: some of the numbers.
    """

    low: float = np.inf
    high: float = -np.inf
    whole: bool = True
    is_bounded: bool = True
    samples: list[NDArray[Any]] = field(default_factory=list)

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
            if len(self.samples) < _MOST_SAMPLES:
                flat = values.reshape(-1)
                self.samples.append(flat[:: max(1, flat.size // _SAMPLED)].astype(np.float64))

    def join(self, other: "LevelRange") -> None:
        """Takes in what another has met."""
        self.low, self.high = min(self.low, other.low), max(self.high, other.high)
        self.whole = self.whole and other.whole
        self.is_bounded = self.is_bounded and other.is_bounded

    @property
    def is_final(self) -> bool:
        """Whether no further number of these types can change the levels."""
        return self.is_bounded and self.high > BIT_DEPTH_MAXIMA[-2]

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
    if not whole and 1 - OVERSHOOT <= low < 0 and high <= OVERSHOOT:
        low = 0.0
    if low < 0 or high > MAX_LEVEL:
        return low, high
    if whole:
        return 0.0, float(next(top for top in (*_SMALL_MAXIMA, *BIT_DEPTH_MAXIMA) if high <= top))
    tops = (top for top in (1, *BIT_DEPTH_MAXIMA) if high <= top * OVERSHOOT)
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


def describe_levels(levels: Levels) -> str:
    """What is black and white, a clause: "0 is taken as black and 4,095 (12 bits) as white"."""
    low, high = levels
    bits = f" ({BIT_DEPTH_MAXIMA.index(int(high)) * 2 + 8} bits)" if high in BIT_DEPTH_MAXIMA else ""
    return f"{format_level(low)} is taken as black and {format_level(high)}{bits} as white"


def format_level(number: float) -> str:
    """A number of a picture: "4,095", "0.98"."""
    return f"{number:,.0f}" if number == int(number) else f"{number:,.3g}"


def describe_range_problem(found: LevelRange) -> str:
    """Why numbers cannot be those of images, and what to do, a clause; "" if they can."""
    if found.high < found.low:
        return ""
    run = f"has numbers from {found.low:.3g} to {found.high:.3g}"
    black, white = found.levels
    if black < 0 or white > MAX_LEVEL:
        return f"{run}: give the images before they are standardized, from 0 to 255 or from 0 to 1"
    sample = np.concatenate(found.samples) if found.samples else np.zeros(0)
    above = sample[sample > 0]
    share = float((above < _BLACK * white).mean()) if above.size else 0.0
    if share > _MOST_BLACK:
        return (
            f"{run}, and {100 * share:.0f} % of those above 0 would be nearly black: correct the few that "
            "are far larger, or give the images from 0 to 255 or from 0 to 1"
        )
    return ""


def scale_to_bytes(block: NDArray[Any], times: float | None) -> NDArray[np.uint8]:
    """Numbers as uint8: 255 divided by the number that is white is `times`; None leaves them as they are."""
    if times is None:
        return np.asarray(block, np.uint8)
    if block.dtype.kind in "iu" and times < 1:
        return scale_levels(block, (0.0, float(round(255 / times))))
    return np.clip(np.rint(np.asarray(block, np.float64) * times), 0, 255).astype(np.uint8)
