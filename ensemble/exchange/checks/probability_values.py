"""Somebody's probabilities or logits, checked row by row and brought to float32 probabilities.

A block at a time, so that nothing but the result is ever there as a whole.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensemble.errors import PredictionsError
from ensemble.exchange.checks.limits import ROW_SUM_TOLERANCE
from ensemble.exchange.checks.rounding import RoundingDetector
from ensemble.exchange.member_outputs import UNCHANGED_NOTE

_LOGARITHM_NOTE = "The values are logarithms of probabilities and were read as such."
# What float16 rounds to 0 is below half of its least number above 0.
_FLOAT16_ZERO = float(np.finfo(np.float16).smallest_subnormal) / 2
_FLOAT16_NOTE = (
    f"The probabilities are float16, whose 0 is anything below {_FLOAT16_ZERO:.0e}: that is taken "
    f"in its place, so that no example costs more than {-np.log(_FLOAT16_ZERO):.1f} nats."
)
_ROUNDED_TOLERANCE = 0.05  # of rows that are distributions, however they were rounded
_ROWS_AT_ONCE = 2**14
_ZERO_BASED_NOTE = "(all counted from 0)"


@dataclass
class _WorstRowSum:
    """The row whose sum is furthest from 1, and how many are off by more than is tolerated."""

    deviation: float = 0.0
    sum: float = 1.0
    row: int = 0
    count: int = 0

    def update(self, sums: NDArray[np.float64], start: int) -> None:
        """Look at more rows, of which the first has the number `start`."""
        apart = np.abs(sums - 1)
        place = int(apart.argmax())
        self.count += int((apart > ROW_SUM_TOLERANCE).sum())
        if apart[place] > self.deviation:
            self.deviation, self.sum = float(apart[place]), float(sums[place])
            self.row = start + place


class ProbabilityConverter:
    """Takes blocks of outputs in and leaves float32 probabilities, once all are as they should."""

    def __init__(self, kind: str, members: int, examples: int) -> None:
        """`kind` is "probabilities" or "logits" of M members and N examples, for sentences."""
        self.kind, self._members, self._examples = kind, members, examples
        self._logarithms = False
        self._row = 0  # of the next block: they are numbered over epochs, members, examples
        self._worst, self._clipped, self._raised = _WorstRowSum(), False, False
        self._rounding, self._divided = RoundingDetector(), ""
        self._probabilities_all_along = True

    def convert_blocks(self, targets: Sequence[NDArray[np.float32]], blocks: Iterable[NDArray[Any]]) -> None:
        """Put the blocks' rows into the targets.

        Args:
          targets: one an epoch, float32 (M · N, C) each.
          blocks: (R, C), or (R, 1) of two classes, of any numbers, together as many rows.

        Raises:
          PredictionsError: an entry is not a number, or a row no distribution.
        """
        epoch = at = 0
        for block in blocks:
            done = 0
            while done < len(block):
                rows = targets[epoch][at : at + len(block) - done]
                self._convert_block(block[done : done + len(rows)], rows)
                done, at, self._row = done + len(rows), at + len(rows), self._row + len(rows)
                if at == len(targets[epoch]):
                    epoch, at = epoch + 1, 0
        self._check_row_sums(targets[0].shape[1])
        if self._divided:
            for target in targets:
                _divide_by_sums(target)

    def notes(self) -> list[str]:
        """What is to be said of what was taken in."""
        sentences = [_LOGARITHM_NOTE] if self._logarithms else []
        if self._clipped:
            sentences.append(f"Probabilities below 0 by at most {ROW_SUM_TOLERANCE:g} were set to 0.")
        if self._raised:
            sentences.append(_FLOAT16_NOTE)
        if self._divided:
            sentences.append(
                f"Probabilities are {self._divided}: rows sum to 1 within "
                f"{self._worst.deviation:.1g} and were divided by their sums."
            )
        elif self._worst.deviation > 1e-5:
            sentences.append(f"Rows sum to 1 within {self._worst.deviation:.1g} {UNCHANGED_NOTE}")
        return sentences

    @np.errstate(invalid="ignore", over="ignore")  # what is not finite is refused by its place
    def _convert_block(self, block: NDArray[Any], rows: NDArray[np.float32]) -> None:
        if self._row == 0 and self.kind == "probabilities":
            self._logarithms = _are_logarithms(block)
        if self.kind == "logits" or self._logarithms:
            self._convert_logits(block, rows)
        elif block.shape[1] < rows.shape[1]:
            positives = block[:, 0].astype(np.float64)
            self._convert_probabilities(np.stack([1 - positives, positives], axis=1), rows)
        else:
            self._convert_probabilities(block, rows)

    def _convert_probabilities(self, block: NDArray[Any], rows: NDArray[np.float32]) -> None:
        sums = block.sum(axis=1, dtype=np.float64)
        least = block.min(initial=0)
        if not np.isfinite(sums).all():
            self._raise_for_first(block, ~np.isfinite(block))
        if least < -ROW_SUM_TOLERANCE:
            self._raise_for_first(block, block < -ROW_SUM_TOLERANCE)
        if block.max(initial=0) > 1 + ROW_SUM_TOLERANCE and not abs(sums.mean() - 100) < 1:
            self._raise_for_first(block, block > 1 + ROW_SUM_TOLERANCE)
        self._worst.update(sums, self._row)
        self._rounding.update(block)
        rows[:] = block
        if least < 0:
            self._clipped = True
            np.maximum(rows, 0, out=rows)
        if block.dtype == np.float16 and (rows < _FLOAT16_ZERO).any():
            self._raised = True
            np.maximum(rows, _FLOAT16_ZERO, out=rows)

    def _convert_logits(self, block: NDArray[Any], rows: NDArray[np.float32]) -> None:
        wide = block.astype(np.float64)
        if wide.shape[1] < rows.shape[1]:
            self._probabilities_all_along = False  # one number tells no sum
            wide = np.concatenate([np.zeros_like(wide), wide], axis=1)
        else:
            self._probabilities_all_along &= _are_probabilities(wide)
        top = wide.max(axis=1, keepdims=True)  # NaN where one is
        if not np.isfinite(top).all():  # a class may be ruled out (-inf), not all of them
            self._raise_for_first(block, np.isnan(block) | (block == np.inf) | (top == -np.inf))
        wide -= top
        np.exp(wide, out=wide)
        wide /= wide.sum(axis=1, keepdims=True)
        rows[:] = wide

    def _check_row_sums(self, classes: int) -> None:
        if self.kind == "logits":
            if self._probabilities_all_along:
                raise PredictionsError(
                    "`logits` are already probabilities (each row sums to 1): save them as `probabilities`."
                )
            return
        if self._worst.count and self._worst.deviation <= (self._rounding.compute_tolerance(classes) + 1e-6):
            self._divided = self._rounding.describe(classes)
        elif self._worst.count:
            raise PredictionsError(self._describe_wrong_sum())

    def _describe_wrong_sum(self) -> str:
        worst = self._worst
        text = f"`probabilities` of {self._describe_row(worst.row)} {_ZERO_BASED_NOTE} sum to {worst.sum:.6g}"
        if abs(worst.sum - 100) < 1:
            return f"{text}: they are percentages, divide them by 100."
        return (
            f"{text}, furthest from 1 of {worst.count:,} rows that are off by more than "
            f"{ROW_SUM_TOLERANCE:g}: give each example's probabilities of all classes, or `logits`."
        )

    def _raise_for_first(self, block: NDArray[Any], bad: NDArray[np.bool_]) -> None:
        """Name the first entry that is bad; `bad` is (R, C) or can be spread to it."""
        row, column = np.argwhere(np.broadcast_to(bad, block.shape))[0]
        value = float(block[row, column])
        text = f"`{self.kind}` of {self._describe_row(self._row + int(row))}, class {column} {_ZERO_BASED_NOTE} is "
        if np.isfinite(value):
            raise PredictionsError(
                f"{text}{value:.4g}, which is not a probability: save them as `logits` if that is what they are."
            )
        raise PredictionsError(f"{text}{value}: give a finite number, or leave that example or member out.")

    def _describe_row(self, row: int) -> str:
        member, example = divmod(row % (self._members * self._examples), self._examples)
        epoch = row // (self._members * self._examples)
        text = f"member {member}, example {example}"
        return f"epoch {epoch}, {text}" if epoch else text


def _divide_by_sums(rows: NDArray[np.float32]) -> None:
    """Make each row (…, C) sum to 1, some rows at a time."""
    for start in range(0, len(rows), _ROWS_AT_ONCE):
        part = rows[start : start + _ROWS_AT_ONCE]
        part /= part.sum(axis=1, dtype=np.float64, keepdims=True)


def _are_logarithms(block: NDArray[Any]) -> bool:
    """Whether rows (R, C) are the logarithms of distributions."""
    if block.shape[1] < 2 or block.dtype.kind != "f" or not block.max() <= 0:
        return False
    sums = np.exp(block.astype(np.float64)).sum(axis=1)
    return bool((np.abs(sums - 1) <= ROW_SUM_TOLERANCE).all())


def _are_probabilities(block: NDArray[np.float64]) -> bool:
    """Whether rows (R, C) are distributions as they stand."""
    return bool(block.min() >= 0 and (np.abs(block.sum(axis=1) - 1) <= _ROUNDED_TOLERANCE).all())
