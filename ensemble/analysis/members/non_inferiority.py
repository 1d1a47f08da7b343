"""Whether one classifier loses less than a margin against another, on the same examples."""

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import Literal

from ensemble.analysis.members.gain import LEVEL, PairedGain

Outcome = Literal["kept", "loses", "undecided"]

_POWER = 0.8  # how often as many examples as are asked for would settle it


@dataclass(frozen=True)
class NonInferiority:
    """What the examples show of one figure. Losses are positive where ours is worse.

    Attributes:
      metric: "accuracy" or "nll".
      margin: the loss that is accepted, in its unit: a share, nats.
      n: N, the examples.
      loss: what ours loses, a mean over examples.
      low: the lower end of its 95 % interval.
      high: the upper end.
    """

    metric: str
    margin: float
    n: int
    loss: float
    low: float
    high: float

    @property
    def outcome(self) -> Outcome:
        """ "kept": shown to lose less than the margin; "loses": shown to lose more; or neither."""
        if self.high < self.margin:
            return "kept"
        return "loses" if self.low > self.margin else "undecided"

    @property
    def examples(self) -> int | None:
        """How many examples would settle it if nothing is really lost, in 4 of 5 cases.

        None where it is settled, or where as many as there are would.
        """
        if self.outcome != "undecided":
            return None
        z = NormalDist().inv_cdf((1 + LEVEL) / 2)
        error = (self.high - self.loss) / z * math.sqrt(self.n)
        wanted = math.ceil(((z + NormalDist().inv_cdf(_POWER)) * error / self.margin) ** 2)
        return wanted if wanted > self.n else None


def judge_non_inferiority(gain: PairedGain, metric: str, margin: float) -> NonInferiority:
    """Whether less than a margin is lost, by the 95 % interval of the paired difference.

    Each end is wrong 2.5 % of the time, so that "kept", and "loses", of accuracy and of NLL
    together are wrong at most 5 % of the time (Bonferroni).

    Args:
      gain: what ours is better by.
      metric: "accuracy" or "nll".
      margin: the loss that is accepted, above 0: a share, or nats.

    Raises:
      ValueError: another metric, or a margin that is not above 0.

    Source: D. J. Schuirmann, "A comparison of the two one-sided tests procedure and the power
    approach for assessing the equivalence of average bioavailability", Journal of
    Pharmacokinetics and Biopharmaceutics 15 (1987), 657-680: non-inferiority is one of the two.
    """
    if metric not in ("accuracy", "nll") or not 0 < margin < math.inf:
        raise ValueError(f"{metric!r} with a margin of {margin:g}: choose accuracy or nll, above 0.")
    if metric == "nll":
        return NonInferiority(
            metric=metric, margin=margin, n=gain.n, loss=-gain.nll, low=-gain.nll_high, high=-gain.nll_low
        )
    n = gain.n
    return NonInferiority(
        metric=metric, margin=margin, n=n, loss=-gain.digits / n, low=-gain.digits_high / n, high=-gain.digits_low / n
    )
