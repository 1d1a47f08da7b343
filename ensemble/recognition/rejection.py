"""Rejection of what is no digit, or none that the members know: an OOD score and its threshold."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ensemble.analysis.quality.averaging import Floats
from ensemble.analysis.quality.conformal import conformal_quantile

_TAIL_SHARE = 0.1  # the share of held-out digits with the highest values, beyond which rarity is extrapolated
MAX_TAIL_EXCESS = 20.0  # a measure off the scale adds no more than this many mean excesses


@dataclass(frozen=True, eq=False)
class Rarity:
    """How rare a value is among held-out digits: −ln of the share that is as high or higher.

    Attributes:
      sorted_values: (n,), the held-out digits' values, rising.
      tail_start: where the highest tenth of them begins.
      mean_excess: how far these lie beyond the edge on the average.
    """

    sorted_values: NDArray[np.float64]
    tail_start: float
    mean_excess: float

    @classmethod
    def from_held_out(cls, values: Floats) -> "Rarity":
        """From a measure's values of held-out digits, (n,), high for what is novel."""
        ranked = np.sort(np.asarray(values, np.float64))
        start = int((1 - _TAIL_SHARE) * len(ranked))
        edge = float(ranked[start])
        return cls(ranked, edge, max(float((ranked[start:] - edge).mean()), 1e-9))

    def __call__(self, values: Floats) -> NDArray[np.float64]:
        """−ln p of values (N,), p counted as conformal p-values are: 0 for the most ordinary.

        Counting alone would make the highest value and one far beyond it the same, so the tail
        beyond the edge is taken for exponential.

        Source: V. Vovk, A. Gammerman and G. Shafer, "Algorithmic learning in a random world",
        2005 (conformal p-values); J. Pickands, "Statistical inference using extreme order
        statistics", Annals of Statistics 3 (1975): tails beyond a high threshold.
        """
        n = len(self.sorted_values)
        as_high = n - np.searchsorted(self.sorted_values, values, side="left")
        counted = -np.log((as_high + 1) / (n + 1))
        beyond = np.minimum((values - self.tail_start) / self.mean_excess, MAX_TAIL_EXCESS)
        return np.where(np.asarray(values) > self.tail_start, beyond - np.log(_TAIL_SHARE), counted)

    def leave_one_out(self, values: Floats) -> NDArray[np.float64]:
        """−ln p of the held-out digits' own values (n,), each among the n − 1 others.

        Counted among all it would be one of those as high as itself, and pull the tail its way:
        a new digit is not, and would look rarer than it is.
        """
        n = len(self.sorted_values)
        as_high = n - np.searchsorted(self.sorted_values, values, side="left")
        further = self.sorted_values[int((1 - _TAIL_SHARE) * n) :] - self.tail_start
        apart = values - self.tail_start
        excess = np.maximum((further.sum() - apart) / max(1, len(further) - 1), 1e-9)
        beyond = np.minimum(apart / excess, MAX_TAIL_EXCESS)
        return np.where(apart > 0, beyond - np.log(_TAIL_SHARE), -np.log(as_high / n))


@dataclass(frozen=True, eq=False)
class Rejection:
    """An OOD score, and thresholds on it, from held-out digits alone.

    No non-digit has a part in it: whatever is rejected is so for being unlike digits.

    Attributes:
      rarities: one a measure of novelty.
      held_out_scores: (n,), the held-out digits' scores, each by the n − 1 others, rising.
    """

    rarities: tuple[Rarity, ...]
    held_out_scores: NDArray[np.float64]

    @classmethod
    def from_measures(cls, measures: Floats) -> "Rejection":
        """From K measures of n held-out digits, (K, n), each high for what is novel."""
        rarities = tuple(map(Rarity.from_held_out, measures))
        own = [rarity.leave_one_out(values) for rarity, values in zip(rarities, measures, strict=True)]
        return cls(rarities, np.sort(np.sum(own, axis=0)))

    @classmethod
    def accept_all(cls) -> "Rejection":
        """Without a measure and without a threshold: as long as nothing is calibrated."""
        return cls((), np.zeros(0))

    def compute_contributions(self, measures: Floats) -> NDArray[np.float64]:
        """What each measure adds to the score, (K, N), in nats: −ln p."""
        each = [rarity(values) for rarity, values in zip(self.rarities, measures, strict=True)]
        return np.stack(each) if each else np.zeros(np.shape(measures))

    def compute_scores(self, measures: Floats) -> NDArray[np.float64]:
        """The OOD scores of images, (N,): the sum over measures of −ln p.

        Source: R. A. Fisher, "Statistical methods for research workers", 1932, section 21.1.
        The measures go together, so that the sum has no χ² distribution: thresholds are
        counted on the held-out digits' own scores instead.
        """
        return self.compute_contributions(measures).sum(axis=0)

    def compute_threshold(self, refuse: float) -> float:
        """The score that a new digit exceeds with a probability of `refuse` at most.

        The ⌈(n + 1)(1 − refuse)⌉-th of the held-out digits' n scores, for the new digit is one
        of n + 1; infinite, so that nothing is rejected, where n is too small for `refuse`.

        Args:
          refuse: in (0, 1).

        Raises:
          ValueError: it is not.

        Source: V. Vovk, A. Gammerman and G. Shafer, 2005, as for `Rarity`.
        """
        if not 0 < refuse < 1:
            raise ValueError(f"A share of {refuse:g} cannot be rejected: it is in (0, 1).")
        return conformal_quantile(self.held_out_scores, refuse)

    def compute_quantiles(self, scores: Floats) -> NDArray[np.float64]:
        """The share of held-out digits with a lower score, (N,), in [0, 1]; 0 where none are."""
        count = len(self.held_out_scores)
        return np.searchsorted(self.held_out_scores, scores, side="left") / max(count, 1)


def has_too_many_rejected_marks(rejected: NDArray[np.bool_], sizes: Floats) -> bool:
    """Whether a picture of several marks is to be taken for something else than digits.

    A rejected mark much smaller than those that are read (their median) is dirt and does not
    count; one that is read, but tiny beside those rejected, is a chance likeness and does not
    count either. Of what counts, two marks and three in ten have to be rejected: so many real
    digits are hardly ever rejected by chance, and in a page of text or a photograph only a few
    marks pass.

    Args:
      rejected: (N,).
      sizes: (N,), each mark's longer side, in any unit.
    """
    usual_read, usual_rejected = (
        float(np.median(sizes[which])) if which.any() else 0.0 for which in (~rejected, rejected)
    )
    against = int((rejected & (sizes >= _DIRT_SIZE_RATIO * usual_read)).sum())
    read = int((~rejected & (sizes >= _CHANCE_SIZE_RATIO * usual_rejected)).sum())
    return against >= 2 and against >= _MIN_REJECTED_SHARE * (against + read)


_DIRT_SIZE_RATIO, _CHANCE_SIZE_RATIO, _MIN_REJECTED_SHARE = 0.45, 0.15, 0.3
_MAX_DIGIT_LOOPS, _EXTRA_LOOP_SCORE = 2, 6.4
_BARE_GROUND_SHARE, _GROUND_TAIL_SCALE = (
    0.15,
    0.03,
)  # of what is around ink: hardly a rendered digit has less bare paper


def score_missing_paper(ground: Floats) -> NDArray[np.float64]:
    """What is added to the scores of marks for lying on no paper, (N,), in nats.

    A run's own digits lie on nothing, so that no threshold could be set on them: it is nothing up
    to what the dirtiest papers show, and beyond that grows as the tails of `Rarity` do.

    Args:
      ground: (N,), how much around each is neither ink nor bare paper, in [0, 1].
    """
    return np.minimum(np.maximum(np.asarray(ground) - _BARE_GROUND_SHARE, 0) / _GROUND_TAIL_SCALE, MAX_TAIL_EXCESS)


def score_extra_loops(loops: NDArray[np.int64]) -> NDArray[np.float64]:
    """What is added to the scores of marks for having more loops than an 8, (N,), in nats.

    In 28×28 pixels small loops run full, so that it is told by the ink as large as it was: of
    1,208 rendered digits two have three loops, −ln 2/1208 = 6.4; each more is as rare again.

    Args:
      loops: (N,).
    """
    return np.minimum(_EXTRA_LOOP_SCORE * np.maximum(np.asarray(loops) - _MAX_DIGIT_LOOPS, 0), MAX_TAIL_EXCESS)


def find_judging_marks(scores: Floats, pieces: NDArray[np.int64]) -> NDArray[np.int64]:
    """By which mark each one is judged, (N,): by itself, or by the strangest of its piece of ink.

    A piece of ink is cut where digits touch. If one of its parts is no digit it was no number, and
    what the others look like is chance: an H has an I in it, a bicycle a 0.

    Args:
      scores: (N,).
      pieces: (N,), the number of the piece that each was cut from; -1: of its own.
    """
    judged = np.arange(len(scores))
    for piece in np.unique(pieces[pieces >= 0]):
        own = np.flatnonzero(pieces == piece)
        judged[own] = own[np.argmax(scores[own])]
    return judged


def find_enclosing_marks(boxes: NDArray[np.int64], rejected: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Which marks have a rejected one within their box (N, 4): a face's outline is no 0."""
    left, top, right, bottom = boxes.T
    within = (left > left[:, None]) & (right < right[:, None])
    within &= (top > top[:, None]) & (bottom < bottom[:, None])
    return (within & rejected).any(axis=1)
