"""The measures of how much two members differ: what each is called, reads and says."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ensemble.analysis.members.diversity import (
    disagreement_matrix,
    double_fault,
    mean_kl,
    oracle_accuracy,
    q_statistic,
)
from ensemble.analysis.predictions import Predictions
from ensemble.wording import formats
from ensemble.wording.formats import plural

Matrix = NDArray[np.float64]


@dataclass(frozen=True)
class Measure:
    """A measure of pairs of members.

    Attributes:
      label: its name on the control.
      title: its name over the picture.
      help: what it is, in a line.
      unit: what its numbers are.
      compute: the predictions to its (M, M).
      share: whether it is a share of the images, to be said in images too.
      most: what the pair with the largest value is said to do.
      least: the pair with the smallest.
      blank_diagonal: whether a member with itself says nothing.
    """

    label: str
    title: str
    help: str
    unit: str
    compute: Callable[[Predictions], Matrix]
    share: bool
    most: str
    least: str
    blank_diagonal: bool = True

    def write(self, value: float) -> str:
        """A value as it stands in a cell; what is not known is empty."""
        if not np.isfinite(value):
            return ""
        return formats.percent(value, figures=2) if self.share else f"{value:.2g}"

    def tell(self, row: int, column: int, value: float, n: int, noun: str) -> str:
        """A cell in words."""
        if not np.isfinite(value):
            return f"Members {row + 1} and {column + 1}: not defined, for want of mistakes"
        if self.share:
            counted = f"{formats.count(round(value * n), noun)} ({self.write(value)})"
            who = f"Member {row + 1}" if row == column else f"Members {row + 1} and {column + 1}"
            verb = "is wrong on" if row == column else self.verb
            return f"{who} {verb} {counted}"
        return f"Member {row + 1} and member {column + 1}: {formats.significant(value)}{self.per}"

    @property
    def verb(self) -> str:
        """What two members do on the images that are counted."""
        return "are both wrong on" if "fault" in self.title else "say different things of"

    @property
    def per(self) -> str:
        """The unit after a number, where it has one."""
        return f" {self.unit}" if self.unit == "nats" else ""

    def sees(self, values: Matrix, n: int, noun: str) -> str:
        """The sentence over the picture: which pairs are farthest apart and nearest."""
        apart = np.where(np.eye(len(values), dtype=bool), np.nan, values)
        if not np.isfinite(apart).any():
            return "No pair makes mistakes enough to say whether they make the same."
        high = np.unravel_index(np.nanargmax(apart), apart.shape)
        low = np.unravel_index(np.nanargmin(apart), apart.shape)
        if len(values) == 2 or np.nanmax(apart) == np.nanmin(apart):
            return f"The members {self.most}: {self.said(float(np.nanmax(apart)), n, noun)}."
        first, second = sorted((int(high[0]) + 1, int(high[1]) + 1))
        third, fourth = sorted((int(low[0]) + 1, int(low[1]) + 1))
        return (
            f"Members {first} and {second} {self.most} most "
            f"({self.said(float(apart[high]), n, noun)}), {third} and {fourth} {self.least} "
            f"({self.said(float(apart[low]), n, noun)})."
        )

    def said(self, value: float, n: int, noun: str) -> str:
        """A value within a sentence: in images where it is a share of them."""
        counted = formats.count(round(value * n), noun)
        return counted if self.share else f"{formats.significant(value)}{self.per}"


MEASURES = {
    "disagreement": Measure(
        "Disagreement",
        "Disagreement",
        "Disagreement: the share of the test images that two members say different things of.",
        "share of the images",
        lambda made: disagreement_matrix(made.votes),
        True,
        "differ",
        "least",
    ),
    "kl": Measure(
        "KL",
        "Mean KL divergence",
        "KL, the mean Kullback–Leibler divergence: how far the probabilities of the member in the "
        "column are from those of the member in the row, in nats; 0 is the same.",
        "nats",
        lambda made: mean_kl(made.probabilities),
        False,
        "differ",
        "least",
    ),
    "q": Measure(
        "Q-statistic",
        "Q-statistic",
        "Q-statistic: 1 where members err on the same images, 0 where independently, −1 never "
        "together.",
        "Q",
        lambda made: q_statistic(made.votes == made.labels),
        False,
        "err together",
        "least",
    ),
    "double_fault": Measure(
        "Double fault",
        "Double fault",
        "Double fault: the share that both have wrong, which averaging cannot mend; on the "
        "diagonal a member's own mistakes.",
        "share of the images",
        lambda made: double_fault(made.votes == made.labels),
        True,
        "are both wrong",
        "least",
        blank_diagonal=False,
    ),
}


def matrix(made: Predictions, key: str) -> Matrix:
    """(M, M) of the measure of that key."""
    return MEASURES[key].compute(made)


def oracle(made: Predictions, noun: str) -> str:
    """What the members know together, were one to choose rightly among them; in Markdown."""
    n = len(made.labels)
    share = oracle_accuracy(made.votes, made.labels)
    missing = round((1 - share) * n)
    left = (
        f"{formats.count(missing, noun)} no member gets right"
        if missing
        else (f"there is no {noun} that all members miss")
    )
    more = round((share - made.right.mean()) * n)
    return (
        f"At least one member is right on **{formats.percent(share, n)}** of the "
        f"{plural(noun)}, {formats.digits(more, noun)} over the ensemble; {left}."
    )
