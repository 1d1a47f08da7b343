"""How many members are enough: the sizes of committee that are not inferior to the whole.

A committee keeps the margin where it loses less than that against the whole ensemble. A size is
enough where it is shown that a share of its committees keep it, and so do those of every larger
size. To be better is enough too. What a test set is too small to show is said to be undecided.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ensemble.analysis.inference.paired_intervals import DifferenceMoments, difference_interval, moments_interval
from ensemble.analysis.members.committees import CommitteeEvaluation

Doubles = NDArray[np.float64]
Outcome = Literal["enough", "loses", "undecided"]

# The loss that is accepted unless another is chosen: a share, nats, a Brier score. Of ECE there
# is none: it is no mean over examples, so no paired interval of it is known to hold.
DEFAULT_MARGINS = {"accuracy": 0.001, "nll": 0.005, "brier": 0.002}
REQUIRED_SHARE = 0.95  # of the committees of a size, that have to keep it
ALPHA = 0.05  # how often "enough" may be wrong, and so "loses"
_POWER = 0.8  # how often a test set as large as is asked for would settle it


@dataclass(frozen=True)
class SizeVerdict:
    """What the test set shows of the committees of one size.

    Attributes:
      size: how many members are in each.
      outcome: "enough": shown that at least `required` keep the margin; "loses": shown that fewer
        do; "undecided": neither.
      committees: how many were judged.
      required: how many of them have to keep the margin.
      kept: how many are shown to, each at the error that this takes.
      lost: how many are shown not to, likewise.
      loss: the mean loss of all of them against the whole.
      bound: what the losses of `required` of them are shown to be below.
      examples: how many examples would settle it if nothing is really lost; None where it is
        settled, or where as many as there are would, were the loss not so near the margin.
    """

    size: int
    outcome: Outcome
    committees: int
    required: int
    kept: int
    lost: int
    loss: float
    bound: float
    examples: int | None


@dataclass(frozen=True)
class SufficientSize:
    """How many members are enough.

    Attributes:
      metric: by which figure: "accuracy", "nll" or "brier".
      margin: the loss that is accepted, in its unit.
      share: of the committees of a size, that have to keep it.
      members: M.
      n: N, the examples.
      exact: whether all committees of each size were judged, else those that were drawn.
      sizes: M − 1 and the smaller ones that were judged, down to 1 or the first that is not enough.
      groups: as how many groups the examples count; None where each counts by itself.
    """

    metric: str
    margin: float
    share: float
    members: int
    n: int
    exact: bool
    sizes: tuple[SizeVerdict, ...]
    groups: int | None = None

    @property
    def smallest_sufficient(self) -> SizeVerdict | None:
        """The smallest size that is enough; None where none below M is."""
        return next((verdict for verdict in reversed(self.sizes) if verdict.outcome == "enough"), None)

    @property
    def first_insufficient(self) -> SizeVerdict | None:
        """The next smaller size, which is not shown to be enough; None where one member is."""
        return next((verdict for verdict in self.sizes if verdict.outcome != "enough"), None)

    @property
    def size(self) -> int:
        """How many members are enough: M where no fewer are shown to be."""
        return self.smallest_sufficient.size if self.smallest_sufficient else self.members


def find_sufficient_size(
    judged: CommitteeEvaluation, figure: str = "accuracy", margin: float | None = None, share: float = REQUIRED_SHARE
) -> SufficientSize:
    """The smallest size of which a share of the committees lose less than a margin.

    Sizes are tested from M − 1 downwards, each at ALPHA, until one fails: so the claim of all
    of them together is wrong at most that often. Of C committees of a size u = ⌈share · C⌉ have
    to keep the margin. If fewer do, at least C − u + 1 of the tests have a true null hypothesis;
    each is done at ALPHA / (C − u + 1), and u of them have to succeed. That at least C − u + 1
    lose more takes that many successes, each at ALPHA / u.

    Args:
      judged: the committees.
      figure: by which loss: "accuracy", "nll" or "brier".
      margin: the loss that is accepted, above 0; None for that of `DEFAULT_MARGINS`.
      share: in (0, 1].

    Raises:
      ValueError: there is no margin of that figure, or it or the share is out of its range.

    Source: W. Maurer, L. A. Hothorn and W. Lehmacher, "Multiple comparisons in drug clinical
    trials and preclinical assays: a-priori ordered hypotheses", in "Biometrie in der
    chemisch-pharmazeutischen Industrie" 6 (1995), 3-18 (a fixed sequence); Y. Benjamini and
    R. Heller, "Screening for partial conjunction hypotheses", Biometrics 64 (2008), 1215-1222
    (u of C, in the form of Bonferroni).
    """
    if figure not in DEFAULT_MARGINS:
        raise ValueError(f"{figure!r} is none of {', '.join(DEFAULT_MARGINS)}: only they have a margin.")
    margin = DEFAULT_MARGINS[figure] if margin is None else margin
    if not 0 < margin < math.inf or not 0 < share <= 1:
        raise ValueError(
            f"A margin of {margin:g} kept by a share of {share:g}: choose a margin "
            "above 0 and a share above 0, up to 1."
        )
    sizes: list[SizeVerdict] = []
    for size in np.unique(judged.size)[-2::-1].tolist():
        sizes.append(_test_size(judged, figure, margin, share, size))
        if sizes[-1].outcome != "enough":
            break
    return SufficientSize(
        metric=figure,
        margin=margin,
        share=share,
        members=judged.members,
        n=judged.n,
        exact=judged.exact,
        sizes=tuple(sizes),
        groups=judged.groups,
    )


def find_settling_margin(
    judged: CommitteeEvaluation, figure: str, margins: Sequence[float], share: float = REQUIRED_SHARE
) -> float | None:
    """Return the smallest of some margins at which fewer than all members are shown to be enough; None if none is.

    Args:
      judged: the committees, of two members or more.
      figure: by which loss: "accuracy", "nll" or "brier".
      margins: losses to accept, each above 0.
      share: as in `find_sufficient_size`.
    """
    fewer = judged.members - 1
    return next(
        (margin for margin in sorted(margins) if _test_size(judged, figure, margin, share, fewer).outcome == "enough"),
        None,
    )


def _test_size(judged: CommitteeEvaluation, figure: str, margin: float, share: float, size: int) -> SizeVerdict:
    rows = np.flatnonzero(judged.size == size)
    C = len(rows)
    u = max(1, math.ceil(share * C - 1e-9))
    alpha = ALPHA / (C - u + 1)
    upper = _committee_loss_interval(judged, figure, rows, alpha)[1]
    lower = _committee_loss_interval(judged, figure, rows, ALPHA / u)[0]
    kept, lost = int((upper < margin).sum()), int((lower > margin).sum())
    outcome: Outcome = "enough" if kept >= u else "loses" if lost > C - u else "undecided"
    loss = _committee_loss(judged, figure)[rows]
    wanted = None
    if outcome == "undecided":
        z = -NormalDist().inv_cdf(alpha)
        spread = _committee_loss_variance(judged, figure, rows, alpha)
        each = 1.0 if judged.groups is None else judged.n / judged.groups  # examples a draw
        examples = each * (z + NormalDist().inv_cdf(_POWER)) ** 2 * spread / margin**2
        wanted = math.ceil(np.partition(examples, u - 1)[u - 1])
    return SizeVerdict(
        size=size,
        outcome=outcome,
        committees=C,
        required=u,
        kept=kept,
        lost=lost,
        loss=float(loss.mean()),
        bound=float(np.partition(upper, u - 1)[u - 1]),
        examples=wanted if wanted is not None and wanted > judged.n else None,
    )


def _committee_loss(judged: CommitteeEvaluation, figure: str) -> Doubles:
    """(S,), what each committee loses against the whole: positive is worse."""
    values: Doubles = getattr(judged, figure)
    return values[-1] - values if figure == "accuracy" else values - values[-1]


def _committee_moments(judged: CommitteeEvaluation, figure: str, rows: NDArray[np.intp]) -> DifferenceMoments:
    difference_moments = {"accuracy": judged.accuracy_loss, "nll": judged.nll_loss, "brier": judged.brier_loss}[figure]
    assert difference_moments is not None, "independent examples are counted"
    each = (difference_moments.mean, difference_moments.variance, difference_moments.third, difference_moments.largest)
    return DifferenceMoments(
        difference_moments.n, *(np.broadcast_to(moment, judged.size.shape)[rows] for moment in each)
    )


def _committee_loss_interval(
    judged: CommitteeEvaluation, figure: str, rows: NDArray[np.intp], alpha: float
) -> tuple[Any, Any]:
    """Both ends of the losses of some committees, each wrong with probability `alpha`."""
    if figure == "accuracy" and judged.groups is None:
        lost, won = judged.lost[rows], judged.won[rows]
        return difference_interval(lost, won, judged.n, 1 - 2 * alpha)
    return moments_interval(_committee_moments(judged, figure, rows), alpha, bounded=_is_loss_bounded(judged, figure))


def _is_loss_bounded(judged: CommitteeEvaluation, figure: str) -> bool:
    """Whether a draw's loss has a bound: a Brier score has one, an NLL or a group's sum none."""
    return figure == "brier" and judged.groups is None


def _committee_loss_variance(judged: CommitteeEvaluation, figure: str, rows: NDArray[np.intp], alpha: float) -> Doubles:
    """How much the loss varies from draw to draw, unseen ones counted as intervals do.

    A draw is an example, or a group.
    """
    if figure == "accuracy" and judged.groups is None:
        differ = (judged.won + judged.lost)[rows]
        spread: Doubles = (differ + 2) / judged.n - _committee_loss(judged, figure)[rows] ** 2
        return spread
    moments = _committee_moments(judged, figure, rows)
    _, high = moments_interval(moments, alpha, bounded=_is_loss_bounded(judged, figure))
    half: Doubles = (high - moments.mean) / NormalDist().inv_cdf(1 - alpha)
    return moments.n * half * half
