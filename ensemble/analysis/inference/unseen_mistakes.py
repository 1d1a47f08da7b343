"""Rare mistakes that a small sample happens not to hold, and that cost the surer classifier most.

A classifier that is surer than another loses less on every example that it gets right, and far more
on one that it gets wrong. On 100 examples it may have been wrong on none: paired tests of the NLL
then call it better far too often where the two are equally good.
`python -m benchmarks.verdicts --verdict "lower NLL of the surer"` tries what is done about it.
"""

import numpy as np
from numpy.typing import NDArray

from ensemble.analysis.blocks import iterate_blocks
from ensemble.analysis.inference.image_groups import Groups, collapse_groups, grouped_mean_interval
from ensemble.analysis.quality.averaging import Floats
from ensemble.analysis.quality.proper_scores import MIN_PROBABILITY

_ADDED_MISTAKES = 0.5  # as Jeffreys' prior of a share counts half a success more


def estimate_mistake_nll(probabilities: Floats) -> float:
    """What an example costs on average where the likeliest class is wrong, in nats.

    The label is taken to be drawn from what the classifier gives the other classes.

    Args:
      probabilities: (N, C), each row a distribution.

    Returns:
      At most 87.3; 0 of one class, or of no example.
    """
    n, classes = probabilities.shape
    if classes < 2 or not n:
        return 0.0
    total = 0.0
    for rows in iterate_blocks(n, classes):
        part = probabilities[rows].astype(np.float64)
        np.put_along_axis(part, part.argmax(axis=1)[:, None], 0.0, axis=1)
        rest = part.sum(axis=1)
        losses = -np.log(np.maximum(part, MIN_PROBABILITY))
        guessed = np.einsum("nc,nc->n", part, losses) / np.maximum(rest, MIN_PROBABILITY)
        total += float(np.where(rest > MIN_PROBABILITY, guessed, -np.log(MIN_PROBABILITY)).sum())
    return total / n


def add_unseen_mistake(
    saved: NDArray[np.float64], extra: float, groups: Groups | None = None
) -> tuple[NDArray[np.float64], Groups | None]:
    """What one classifier saves of NLL on each example, with half a mistake more of the surer one.

    Nothing is added where the surer one is the worse, or where the two are equally sure.

    Args:
      saved: (N,), the NLL that the first saves against the second, in nats.
      extra: how much more a mistake of the first costs than one of the second, in nats.
      groups: (N,), which examples belong together; None where all are independent.

    Returns:
      The values (N or N + 1,), and their groups: what is added is a group of its own.

    Source: half a success is Jeffreys' prior for a share: L. D. Brown, T. T. Cai and A. DasGupta,
    "Interval estimation for a binomial proportion", Statistical Science 16 (2001), 101-133.
    """
    if not float(saved.mean()) * extra > 0:
        return saved, groups
    return _append_mistake(saved, extra, groups)


def saved_nll_interval(
    saved: NDArray[np.float64], extra: float, groups: Groups | None = None, level: float = 0.95
) -> tuple[float, float]:
    """(low, high) of the mean NLL saved, where mistakes of the surer one may be unseen.

    The end on the side to which half a mistake more moves it is the farther one of both.

    Args:
      saved: (N,), as of `add_unseen_mistake`.
      extra: likewise.
      groups: likewise.
      level: two-sided, in (0, 1).
    """
    low, high = grouped_mean_interval(saved, groups, level)
    if extra:
        more = grouped_mean_interval(*_append_mistake(saved, extra, groups), level)
        low, high = (min(low, more[0]), high) if extra > 0 else (low, max(high, more[1]))
    return low, high


def saved_nll_p_value(saved: NDArray[np.float64], extra: float, groups: Groups | None = None) -> float:
    """The two-sided p that nothing is saved, of the same test as `saved_nll_interval`."""
    from ensemble.analysis.inference.paired_intervals import mean_p_value  # which takes SciPy

    values, index = add_unseen_mistake(saved, extra, groups)
    return mean_p_value(values if index is None else collapse_groups(values, index))


def _append_mistake(
    saved: NDArray[np.float64], extra: float, groups: Groups | None
) -> tuple[NDArray[np.float64], Groups | None]:
    values = np.append(saved, -_ADDED_MISTAKES * extra)
    return values, None if groups is None else np.append(groups, groups.max() + 1)
