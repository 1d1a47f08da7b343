"""Which rows of a table are learnt from, chosen by and tested on: drawn by the seed alone.

The words of NumPy's bit generators never change, its shuffles may: rows are ordered by words.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ensemble.analysis.inference.image_groups import Groups, select_groups
from ensemble.errors import ConfigError
from ensemble.files.columns import SPLIT_NAMES

_SPLIT_STREAM = 0x7AB1E  # tells these draws from any other by the same seed
_PARTS = ("train", "val", "test")  # as `SPLIT_NAMES` has them
_FEWEST_TEST_ROWS, FEWEST_VALIDATION_ROWS, _FEWEST_TRAINING_ROWS = 2, 4, 4


@dataclass(frozen=True, eq=False)
class TableSplit:
    """The numbers of rows in each part, rising, from 0; no row is in two.

    Attributes:
      train: learnt from.
      validation: chosen by; empty where the share is 0.
      test: reported on.
    """

    train: NDArray[np.int64]
    validation: NDArray[np.int64]
    test: NDArray[np.int64]


def parse_split_words(words: Sequence[str]) -> TableSplit | str:
    """The parts that a column `split` names; else why it is not followed, "" if it is a column as any other.

    Args:
      words: the column's cells, "" where one is empty.
    """
    parts = np.array([SPLIT_NAMES.get(word.strip().casefold(), word) for word in words])
    names = set(parts.tolist())
    if names <= {"0", "1"}:
        return "0 and 1 do not say which part is which: write train, validation and test"
    if not names <= {*_PARTS, ""}:
        return ""
    if "" in names:
        return "it is empty in some rows: fill it, and it is followed"
    train, held, test = (np.flatnonzero(parts == name) for name in _PARTS)
    enough = len(train) >= _FEWEST_TRAINING_ROWS and len(test) >= _FEWEST_TEST_ROWS
    if not enough or 0 < len(held) < FEWEST_VALIDATION_ROWS:
        return (
            f"to be followed it needs {_FEWEST_TRAINING_ROWS} rows to train or more, {_FEWEST_TEST_ROWS} to test, and "
            f"{FEWEST_VALIDATION_ROWS} or none for validation"
        )
    return TableSplit(train, held, test)


def draw_validation_rows(split: TableSplit, seed: int, share: float, groups: Groups | None) -> TableSplit:
    """A split whose validation part is a share of its training rows, if it has none and they are enough.

    Args:
      split: the parts of N rows.
      seed: of the draw.
      share: in [0, 1).
      groups: (N,), of `split_table_rows`.

    Raises:
      ConfigError: the training rows are one group.
    """
    if len(split.validation) or int(share * len(split.train) + 0.5) < FEWEST_VALIDATION_ROWS:
        return split
    drawn = split_table_rows(len(split.train), seed, share, 0.0, select_groups(groups, split.train))
    return TableSplit(split.train[drawn.train], split.train[drawn.test], split.test)


def split_table_rows(
    rows: int,
    seed: int,
    test_share: float,
    validation_share: float,
    groups: Groups | None = None,
    *,
    in_time_order: bool = False,
) -> TableSplit:
    """Divide rows into a test part of all rows and a validation part of the others.

    Args:
      rows: how many there are.
      seed: of the draw.
      test_share: in (0, 1).
      validation_share: of the rows outside the test part, in [0, 1). A part of fewer than
        `FEWEST_VALIDATION_ROWS` chooses an epoch by chance, so none is held out then.
      groups: (rows,), the group of each row, from 0: a group lies in one part as a whole, so that
        parts are as large as whole groups allow. None if rows are independent.
      in_time_order: whether to test on the last rows, and hold out those before them.

    Raises:
      ConfigError: a part would have too few rows.
    """
    test = int(test_share * rows + 0.5)
    held = int(validation_share * (rows - test) + 0.5)
    if test < _FEWEST_TEST_ROWS:
        raise ConfigError(
            f"test is {test_share:g}, which is {test} of {rows:,} rows: choose a share that holds "
            f"{_FEWEST_TEST_ROWS} rows or more."
        )
    if held < FEWEST_VALIDATION_ROWS:
        held = 0
    index = np.arange(rows) if groups is None else groups
    words = np.random.PCG64([_SPLIT_STREAM, seed]).random_raw(int(index.max()) + 1)
    order = np.arange(rows)[::-1] if in_time_order else np.argsort(words[index], kind="stable")
    # Parts end where a group ends, and at least one group is in each.
    ends = np.append(np.flatnonzero(np.diff(index[order])) + 1, rows)
    needed = 3 if held else 2
    if len(ends) < needed:
        raise ConfigError(
            f"the rows form {len(ends)} groups, and {needed} are needed to have one in each part: "
            "give more groups, or set validation to 0."
        )
    first = min(int(np.abs(ends - test).argmin()), len(ends) - needed)
    if held:
        second = int(np.abs(ends - test - held).argmin())
        held = int(ends[min(max(second, first + 1), len(ends) - 2)] - ends[first])
    test = int(ends[first])
    if rows - test - held < _FEWEST_TRAINING_ROWS:
        raise ConfigError(
            f"only {rows - test - held} of {rows:,} rows are left to learn from: choose smaller "
            "shares for test and validation, or give more rows."
        )
    return TableSplit(np.sort(order[test + held :]), np.sort(order[test : test + held]), np.sort(order[:test]))
