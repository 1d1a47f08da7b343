"""What is black and white in the arrays of a dataset, by all of them together."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from ensemble.datasets.own.source import format_name_list
from ensemble.datasets.own.sources.arrays import array_values
from ensemble.datasets.own.sources.encoded.picture_survey import MAX_CLEAR_PICTURES
from ensemble.errors import DataError
from ensemble.files.image_levels import (
    MAX_SMALL_LEVEL,
    LevelRange,
    describe_levels,
    describe_range_problem,
    format_level,
)
from ensemble.pictures.files.levels import STANDARD_LEVELS, PictureLevels
from ensemble.pictures.files.transparency import GroundScan

KINDS = {"u": "whole", "i": "whole", "b": "whole", "f": "fraction"}


class ArrayLevelSurvey:
    """Looks at arrays of pictures, each once, and then says how they become bytes."""

    def __init__(self) -> None:
        self._ranges = {kind: LevelRange() for kind in ("byte", "whole", "fraction")}
        self._names: dict[str, list[str]] = {kind: [] for kind in self._ranges}
        self._grounds = GroundScan()

    def add(self, name: str, blocks: Iterable[NDArray[Any]], count: int, channels: int) -> None:
        """Looks at an array, as far as its numbers can change anything.

        Args:
          name: what it is called for people.
          blocks: of `count` pictures (B, H, W, …), one after the other, all of one type.
          count: how many pictures there are.
          channels: of each.

        Raises:
          DataError: it holds NaN or infinite numbers.
        """
        step, place = max(1, -(-count // MAX_CLEAR_PICTURES)), 0
        kind = ""
        for block in blocks:
            if not kind:
                kind = "byte" if block.dtype == np.uint8 else KINDS.get(block.dtype.kind, "whole")
                self._names[kind].append(name)
            array_values.update_value_range(block, np.inf, -np.inf)
            self._ranges[kind].add(block)
            if kind == "byte" and channels == 4:
                for pixels in block[-place % step :: step]:
                    self._grounds.add(Image.fromarray(pixels))
                place += len(block)
            elif kind == "byte" and self._ranges[kind].high > MAX_SMALL_LEVEL:
                return

    def choose_levels(self, notes: list[str]) -> tuple[dict[str, float], PictureLevels]:
        """By what each array is multiplied, and what other pictures are read by.

        Args:
          notes: what was assumed is added to them.

        Raises:
          DataError: numbers are below 0, or above 16 bits.
        """
        levels = replace(STANDARD_LEVELS, ground=self._grounds.ground)
        notes += self._grounds.describe_ground()
        scales: dict[str, float] = {}
        for kind, found in self._ranges.items():
            names = self._names[kind]
            if found.high < found.low or (kind == "byte" and found.high > MAX_SMALL_LEVEL):
                continue
            if kind == "byte" and not found.high:  # nothing but black
                continue
            listing, (_, white) = format_name_list(names), found.levels
            if problem := describe_range_problem(found):
                raise DataError(f"{listing} {problem}.")
            scales |= dict.fromkeys(names, 255 / white)
            notes.append(
                f"Numbers of {listing} run from {format_level(found.low)} to "
                f"{format_level(found.high)}: {describe_levels(found.levels)}."
            )
            if found.whole and 1 < white <= MAX_SMALL_LEVEL:
                levels = replace(levels, shallow=found.levels)
            elif kind == "whole" and white > 255:
                levels = replace(levels, deep=found.levels)
        return scales, levels
