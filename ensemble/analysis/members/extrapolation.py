"""What more members than were trained would be expected to bring: an extrapolation, no measure.

The mean over all committees of a size is fitted as a + b · k^(−c) in the size k. Of the Brier
score that is exact, with c = 1; of NLL it is what ensembles are seen to do.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm, t

from ensemble.analysis.members.committees import CommitteeEvaluation, average_by_size, committee_curve
from ensemble.analysis.members.subsets import MAX_MEMBERS_ALL_SIZES, membership_matrix

Doubles = NDArray[np.float64]

_EXTRAPOLATED_METRICS = ("nll", "brier")  # accuracy and ECE follow no such law closely enough
_MIN_MEMBERS = 3  # members, and
_MIN_MEMBERS_FREE_POWER = 4  # for a power of its own
_MIN_EXAMPLES = 100  # fewer do not say how much hangs on them
_POWER_RANGE = (0.25, 3.0)
LEVEL = 0.95
HALVINGS = 40  # of the interval of powers, each by the golden section


@dataclass(frozen=True, eq=False)
class Extrapolation:
    """A figure expected of more members than there are.

    Attributes:
      metric: "nll" or "brier".
      size: (K,), from M + 1 to 2M.
      mean: (K,), what the fitted law says.
      low: (K,), the lower end of the 95 % interval.
      high: (K,), the upper end.
      power: c.
      limit: a, what endlessly many members would come to.
    """

    metric: str
    size: NDArray[np.int64]
    mean: Doubles
    low: Doubles
    high: Doubles
    power: float
    limit: float


def extrapolate_committee_curve(judged: CommitteeEvaluation, figure: str) -> Extrapolation | None:
    """What is expected of up to twice as many members; None where nothing can be said.

    Only `_EXTRAPOLATED_METRICS` are extrapolated, from at least `_MIN_MEMBERS` members and `_MIN_EXAMPLES`
    examples, up to the 64 members of which all sizes are judged. With fewer than `_MIN_MEMBERS_FREE_POWER`
    members c is 1.

    The interval is of the change from M to k members, with the figure of the M as it is on these
    examples. Four parts are added as variances: the jackknife of that change over the members,
    with the quantile of Student's t for M − 1 degrees of freedom; that over blocks of examples;
    how far the change is from that with c = 1, to which many members come in the end; and what the
    k − M new members may turn out to be: of the jackknife's variance over the members of the M's
    own figure the share 1 − M / k.

    Source: E. Lobacheva, N. Chirkova, M. Kodryan and D. Vetrov, "On power laws in deep
    ensembles", NeurIPS 2020 (the law); B. Efron and C. Stein, "The jackknife estimate of
    variance", Annals of Statistics 9 (1981), 586-596.
    """
    M = judged.members
    size = np.arange(M + 1, 2 * M + 1)
    if (
        figure not in _EXTRAPOLATED_METRICS
        or not _MIN_MEMBERS <= M <= MAX_MEMBERS_ALL_SIZES
        or judged.n < _MIN_EXAMPLES
    ):
        return None
    free = figure == "nll" and M >= _MIN_MEMBERS_FREE_POWER
    measured = committee_curve(judged, figure).mean
    at = np.arange(M, size[-1] + 1)
    values, powers, limits = _fit_power_law(measured[None], size, free)
    members = _fit_power_law(_leave_out_members(judged, figure), at, free)[0]
    blocks = _fit_power_law(_leave_out_blocks(judged, figure), at, free)[0]
    new = _jackknife_error(members[:, :1]) * np.sqrt(1 - M / size)
    change = _jackknife_error(members[:, 1:] - members[:, :1])
    straight = _fit_power_law(measured[None], at, False)[0][0]
    law = (values[0] - measured[-1]) - (straight[1:] - straight[0])
    by_members = t.ppf((1 + LEVEL) / 2, M - 1) * np.hypot(change, new)
    by_images = norm.ppf((1 + LEVEL) / 2) * _jackknife_error(blocks[:, 1:] - blocks[:, :1])
    half = np.sqrt(by_members**2 + by_images**2 + law**2)
    return Extrapolation(
        metric=figure,
        size=size,
        mean=values[0],
        low=np.maximum(values[0] - half, 0),
        high=values[0] + half,
        power=float(powers[0]),
        limit=float(limits[0]),
    )


def _leave_out_members(judged: CommitteeEvaluation, figure: str) -> Doubles:
    """(M, M − 1), the curve of the committees that each member is not in; NaN where none is."""
    values = getattr(judged, figure)
    out = (~membership_matrix(judged.masks, judged.members)).astype(float)
    sums = average_by_size(np.column_stack([out * values[:, None], out]), judged.size)[:-1]
    with np.errstate(invalid="ignore"):
        left_out_curves: Doubles = (sums[:, : judged.members] / sums[:, judged.members :]).T
    return left_out_curves


def _leave_out_blocks(judged: CommitteeEvaluation, figure: str) -> Doubles:
    """(B, M), the curve on all examples but those of each block."""
    each = judged.by_block[figure] * judged.block
    left_out_curves: Doubles = ((each.sum(axis=1, keepdims=True) - each) / (judged.n - judged.block)).T
    return left_out_curves


def _jackknife_error(left_out: Doubles) -> Doubles:
    """(K,), the standard error, of what comes of leaving each of R out, (R, K)."""
    R = len(left_out)
    apart = left_out - left_out.mean(axis=0)
    error: Doubles = np.sqrt((R - 1) / R * (apart * apart).sum(axis=0))
    return error


def _fit_power_law(curves: Doubles, size: NDArray[np.int64], free: bool) -> tuple[Doubles, Doubles, Doubles]:
    """Fit a + b · k^(−c) by least squares to each of R curves (R, L) over the sizes 1 to L.

    Returns:
      (R, K) what it says of other sizes, (R,) c, and (R,) a.
    """
    low, high = (np.full(len(curves), math.log(power)) for power in _POWER_RANGE)
    golden = (math.sqrt(5) - 1) / 2
    for _ in range(HALVINGS if free else 0):
        left, right = high - golden * (high - low), low + golden * (high - low)
        better = _fit_line(curves, np.exp(left))[2] < _fit_line(curves, np.exp(right))[2]
        low, high = np.where(better, low, left), np.where(better, right, high)
    power = np.exp((low + high) / 2) if free else np.ones(len(curves))
    a, b, _ = _fit_line(curves, power)
    return a[:, None] + b[:, None] * size ** -power[:, None], power, a


def _fit_line(curves: Doubles, power: Doubles) -> tuple[Doubles, Doubles, Doubles]:
    """(a, b, what is left), each (R,), of the line through each curve over k^(−c)."""
    known = np.isfinite(curves)
    x = np.arange(1, curves.shape[1] + 1) ** -power[:, None]
    y = np.where(known, curves, 0.0)
    count = known.sum(axis=1)
    mean_x = np.where(known, x, 0.0).sum(axis=1) / count
    mean_y = y.sum(axis=1) / count
    dx = np.where(known, x - mean_x[:, None], 0.0)
    dy = np.where(known, y - mean_y[:, None], 0.0)
    slope = (dx * dy).sum(axis=1) / (dx * dx).sum(axis=1)
    rest = ((dy - slope[:, None] * dx) ** 2).sum(axis=1)
    return mean_y - slope * mean_x, slope, rest
