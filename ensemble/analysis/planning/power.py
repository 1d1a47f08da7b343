"""What it would take to tell two plans apart: how many examples, or how many members."""

import math
from dataclasses import dataclass
from statistics import NormalDist

from ensemble.analysis.planning.plan_losses import PlanLoss

ALPHA = 0.05  # two-sided
POWER = 0.8  # how often a difference as large as this one would then be shown
_MAX_SAMPLE_SIZE = 10**9  # of either: beyond it the difference is rounding


@dataclass(frozen=True)
class RequiredSampleSize:
    """What it would take to show a difference, if it is as large as it looks.

    Attributes:
      examples: how many examples in all, with the members as they are; None where no number
        of them would do, for the draw of the members hides it.
      members: how many members in all, with the examples as they are; None likewise.
      times: how many times as many of both together; None where there is no difference.
    """

    examples: int | None
    members: int | None
    times: float | None


def required_sample_size(loss: PlanLoss, n: int, members: int) -> RequiredSampleSize:
    """What would show a loss of this size with probability POWER at a level of ALPHA.

    A mean whose standard error is s is shown to differ from 0 with that probability where it is
    (z(1 − α/2) + z(power)) · s. Of the variance one part falls with the number of examples, the
    other with that of members; which of them there will be is again a draw.

    Args:
      loss: as it was measured.
      n: on how many examples.
      members: of how many members the plans were drawn.

    Source: J. M. Lachin, "Introduction to sample size determination and power analysis for
    clinical trials", Controlled Clinical Trials 2 (1981), 93-113.
    """
    z = NormalDist().inv_cdf(1 - ALPHA / 2) + NormalDist().inv_cdf(POWER)
    allowed = (loss.mean / z) ** 2  # variance
    if not allowed:
        return RequiredSampleSize(None, None, None)
    return RequiredSampleSize(
        _count_needed_draws(loss.by_examples * n, allowed - loss.by_members),
        _count_needed_draws(loss.by_members * members, allowed - loss.by_examples),
        max(1.0, (loss.by_examples + loss.by_members) / allowed),
    )


def _count_needed_draws(variance: float, allowed: float) -> int | None:
    if allowed <= 0 or variance > _MAX_SAMPLE_SIZE * allowed:
        return None
    return max(1, math.ceil(variance / allowed))
