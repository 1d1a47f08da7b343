"""What labels mean: names of classes, their positions, or numbers that count from 1.

Names go before positions. Where both fit, the accuracy of the predictions tells them apart, and
what was taken is said together with the other reading.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ensemble.datasets.label_meanings import LABEL_READINGS, describe_reading_option, describe_unfit_reading
from ensemble.errors import PredictionsError

_CHANCE_DEVIATIONS = 2.33  # standard deviations above which 1 % of guesses come by chance

Labels = NDArray[np.int32]


class LabelReadingError(PredictionsError):
    """Labels fit only in a way that is not taken unasked; `options` are those to choose from."""

    def __init__(self, message: str, options: tuple[str, ...]) -> None:
        super().__init__(message)
        self.options = options


@dataclass(frozen=True, eq=False)
class LabelReading:
    """How labels were read.

    Attributes:
      name: one of `LABEL_READINGS`; "" where there is but one way, and nothing to be said.
      labels: int32 (N,), class numbers in [0, C).
      options: the readings that fit and differ, in the order of `LABEL_READINGS`.
      notes: what is to be said, a sentence each.
    """

    name: str
    labels: Labels
    options: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def choose_label_reading(
    readings: Mapping[str, Labels], predicted: NDArray[np.integer], classes: int, wanted: str = ""
) -> LabelReading:
    """The reading that is meant, by what the ensemble predicts.

    Names are taken before positions, unless the names are right no more often than by chance and
    the positions more often. That labels count from 1 is never taken unasked, but offered where
    it is what the predictions say.

    Args:
      readings: those that fit, by their names; at least one.
      predicted: (N,), the ensemble's class of each example.
      classes: C.
      wanted: one of `LABEL_READINGS` that somebody chose; "" for none.

    Raises:
      PredictionsError: the labels cannot be read as is wanted.
    """
    if wanted and wanted not in readings:
        raise PredictionsError(describe_unfit_reading(wanted, readings))
    rights = {name: float((labels == predicted).mean()) for name, labels in readings.items()}
    guessed = {name: is_chance_level(labels, predicted, classes) for name, labels in readings.items()}
    options = _list_distinct_readings(readings)
    usual, other = next(name for name in LABEL_READINGS if name in readings), "positions"
    if other in options and guessed[usual] and rights[other] > rights[usual]:
        usual, other = other, usual
    taken = wanted or usual
    notes = list[str]()
    if wanted or ({usual, other} <= set(options) and usual != other):
        rest = next((name for name in options if name not in (taken, "from-1")), "")
        notes.append(_describe_choice(taken, rest, rights))
    if not wanted and "from-1" in options and guessed[taken] and not guessed["from-1"]:
        notes.append(_describe_offered_shift(taken, rights))
    return LabelReading(taken if len(options) > 1 else "", readings[taken], tuple(options), tuple(notes))


def is_chance_level(labels: Labels, predicted: NDArray[np.integer], classes: int) -> bool:
    """Whether predictions (N,) are right about labels (N,) no more often than a guess would be.

    A guess is right with the probability that label and prediction agree when they are drawn
    independently of each other, and at least 1 in C; above it is what happens to 1 % of guesses.
    """
    n = len(labels)
    shares = [np.bincount(numbers, minlength=classes) / n for numbers in (labels, predicted)]
    chance = min(1.0, max(float(shares[0] @ shares[1]), 1 / classes))
    limit = chance + _CHANCE_DEVIATIONS * np.sqrt(chance * (1 - chance) / n)
    return float((labels == predicted).mean()) <= limit


def _list_distinct_readings(readings: Mapping[str, Labels]) -> list[str]:
    options = list[str]()
    for name in LABEL_READINGS:
        if name in readings and not any(np.array_equal(readings[name], readings[option]) for option in options):
            options.append(name)
    return options


def _describe_choice(taken: str, rest: str, rights: Mapping[str, float]) -> str:
    text = f"Labels were read as {LABEL_READINGS[taken]}: {_format_share(rights[taken])} of the answers are right"
    if not rest:
        return f"{text}."
    return (
        f"{text}; as {LABEL_READINGS[rest]} {_format_share(rights[rest])} would be ({describe_reading_option(rest)})."
    )


def _describe_offered_shift(taken: str, rights: Mapping[str, float]) -> str:
    return (
        f"Labels seem to count from 1: as they stand {_format_share(rights[taken])} of the answers "
        f"are right, once 1 is subtracted {_format_share(rights['from-1'])} "
        f"({describe_reading_option('from-1')})."
    )


def _format_share(share: float) -> str:
    return f"{100 * share:.3g} %"
