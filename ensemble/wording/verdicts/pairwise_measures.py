"""The measures of how much two members differ: what each is called, reads and says."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ensemble.analysis.members.diversity import (
    disagreement_matrix,
    double_fault,
    mean_kl_divergence,
    oracle_accuracy,
    q_statistic,
)
from ensemble.analysis.predictions import EnsemblePredictions
from ensemble.wording import formats
from ensemble.wording.formats import pluralize_noun

Matrix = NDArray[np.float64]


@dataclass(frozen=True)
class PairwiseMeasure:
    """A measure of pairs of members.

    Attributes:
      label: its name on the control.
      title: its name over the picture.
      help: what it is, in a line.
      unit: what its numbers are.
      compute: the predictions to its (M, M).
      is_share: whether it is a share of the images, to be said in images too.
      most_phrase: what the pair with the largest value is said to do.
      least_phrase: the pair with the smallest.
      blank_diagonal: whether a member with itself says nothing.
    """

    label: str
    title: str
    help: str
    unit: str
    compute: Callable[[EnsemblePredictions], Matrix]
    is_share: bool
    most_phrase: str
    least_phrase: str
    blank_diagonal: bool = True

    def format_cell(self, value: float) -> str:
        """A value as it stands in a cell; what is not known is empty."""
        if not np.isfinite(value):
            return ""
        return formats.format_percent(value, figures=2) if self.is_share else f"{value:.2g}"

    def describe_cell(self, row: int, column: int, value: float, n: int, noun: str) -> str:
        if not np.isfinite(value):
            return f"Members {row + 1} and {column + 1}: not defined, for want of mistakes"
        if self.is_share:
            counted = f"{formats.format_count(round(value * n), noun)} ({self.format_cell(value)})"
            who = f"Member {row + 1}" if row == column else f"Members {row + 1} and {column + 1}"
            verb = "is wrong on" if row == column else self.pair_verb
            return f"{who} {verb} {counted}"
        return f"Member {row + 1} and member {column + 1}: {formats.format_significant(value)}{self.unit_suffix}"

    @property
    def pair_verb(self) -> str:
        return "are both wrong on" if "fault" in self.title else "say different things of"

    @property
    def unit_suffix(self) -> str:
        return f" {self.unit}" if self.unit == "nats" else ""

    def explain_chart(self, values: Matrix, n: int, noun: str) -> str:
        """The sentence over the picture: which pairs are farthest apart and nearest."""
        apart = np.where(np.eye(len(values), dtype=bool), np.nan, values)
        if not np.isfinite(apart).any():
            return "No pair makes mistakes enough to say whether they make the same."
        high = np.unravel_index(np.nanargmax(apart), apart.shape)
        low = np.unravel_index(np.nanargmin(apart), apart.shape)
        if len(values) == 2 or np.nanmax(apart) == np.nanmin(apart):
            return f"The members {self.most_phrase}: {self.format_in_sentence(float(np.nanmax(apart)), n, noun)}."
        first, second = sorted((int(high[0]) + 1, int(high[1]) + 1))
        third, fourth = sorted((int(low[0]) + 1, int(low[1]) + 1))
        return (
            f"Members {first} and {second} {self.most_phrase} most "
            f"({self.format_in_sentence(float(apart[high]), n, noun)}), "
            f"{third} and {fourth} {self.least_phrase} ({self.format_in_sentence(float(apart[low]), n, noun)})."
        )

    def format_in_sentence(self, value: float, n: int, noun: str) -> str:
        """A value within a sentence: in images where it is a share of them."""
        counted = formats.format_count(round(value * n), noun)
        return counted if self.is_share else f"{formats.format_significant(value)}{self.unit_suffix}"


MEASURES = {
    "disagreement": PairwiseMeasure(
        label="Disagreement",
        title="Disagreement",
        help="Disagreement: the share of the test images on which two members give different answers.",
        unit="share of the images",
        compute=lambda predictions: disagreement_matrix(predictions.votes),
        is_share=True,
        most_phrase="differ",
        least_phrase="least",
    ),
    "kl": PairwiseMeasure(
        label="KL",
        title="Mean KL divergence",
        help="KL, the mean Kullback–Leibler divergence: how far the probabilities of the member in the "
        "column are from those of the member in the row, in nats; 0 is the same.",
        unit="nats",
        compute=lambda predictions: mean_kl_divergence(predictions.probabilities),
        is_share=False,
        most_phrase="differ",
        least_phrase="least",
    ),
    "q": PairwiseMeasure(
        label="Q-statistic",
        title="Q-statistic",
        help="Q-statistic: 1 if members are wrong on the same images, 0 if independently, −1 if never together.",
        unit="Q",
        compute=lambda predictions: q_statistic(predictions.votes == predictions.labels),
        is_share=False,
        most_phrase="err together",
        least_phrase="least",
    ),
    "double_fault": PairwiseMeasure(
        label="Double fault",
        title="Double fault",
        help="Double fault: the share that both get wrong, which averaging cannot correct; on the "
        "diagonal a member's own mistakes.",
        unit="share of the images",
        compute=lambda predictions: double_fault(predictions.votes == predictions.labels),
        is_share=True,
        most_phrase="are both wrong",
        least_phrase="least",
        blank_diagonal=False,
    ),
}


def compute_pairwise_matrix(predictions: EnsemblePredictions, key: str) -> Matrix:
    """(M, M) of the measure of that key."""
    return MEASURES[key].compute(predictions)


def describe_oracle_accuracy(predictions: EnsemblePredictions, noun: str) -> str:
    """What the members know together, were one to choose rightly among them; in Markdown."""
    n = len(predictions.labels)
    share = oracle_accuracy(predictions.votes, predictions.labels)
    more = round((share - predictions.right.mean()) * n)
    return (
        f"Some member is right on **{formats.format_percent(share, n)}** of the "
        f"{pluralize_noun(noun)} ({formats.format_image_difference(more, noun)}): no choice among "
        "their answers reaches more."
    )
