"""Every plan at once: so many members for so many epochs, and what it comes to on N examples."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ensemble.analysis.inference.image_groups import Groups
from ensemble.analysis.planning.committee_scores import MAX_MEMBERS_EXACT_PLANS, CommitteeScores

Doubles = NDArray[np.float64]

PLAN_METRICS = ("nll", "accuracy")
LOWER_IS_BETTER = {"nll": True, "accuracy": False}


class EnsemblePlan(NamedTuple):
    """So many members, trained for so many epochs."""

    members: int
    epochs: int

    @property
    def cost(self) -> int:
        """Passes of one member over the training images."""
        return self.members * self.epochs


@dataclass(frozen=True, eq=False)
class PlanGrid:
    """What K sizes of committee come to after each of E epochs. Treat it as read-only.

    Attributes:
      members: M.
      epochs: (E,), rising.
      sizes: (K,), rising, from 1 to M.
      scores: of "nll" (nats) and "accuracy" (shares), float32 (E, K, N): the mean over the
        committees of a size, of every example.
      member_scores: of both, (E, K, M): the mean over the committees that each member is in, and
        over all examples.
      groups: (N,), numbers from 0, of examples that belong together; None where all are
        independent.
    """

    members: int
    epochs: NDArray[np.int64]
    sizes: NDArray[np.int64]
    scores: dict[str, NDArray[np.float32]]
    member_scores: dict[str, Doubles]
    groups: Groups | None = None

    @property
    def n(self) -> int:
        """N, the examples."""
        return int(self.scores["nll"].shape[2])

    @property
    def exact(self) -> bool:
        """Whether all committees of each size were averaged, else those that were drawn."""
        return self.members <= MAX_MEMBERS_EXACT_PLANS

    @cached_property
    def means(self) -> dict[str, Doubles]:
        """Of "nll" and "accuracy", (E, K): the mean over the examples."""
        return {name: each.mean(axis=2, dtype=np.float64) for name, each in self.scores.items()}

    @property
    def plans(self) -> list[EnsemblePlan]:
        """All E · K plans, the cheapest first, of equal ones that with fewer members."""
        ensemble_plans = [EnsemblePlan(int(m), int(e)) for m in self.sizes for e in self.epochs]
        return sorted(ensemble_plans, key=lambda plan: (plan.cost, plan.members))

    def locate(self, plan: EnsemblePlan) -> tuple[int, int]:
        """Where a plan stands, (epoch, size) in the arrays.

        Raises:
          ValueError: it is none of `plans`.
        """
        rows = (np.flatnonzero(self.epochs == plan.epochs), np.flatnonzero(self.sizes == plan.members))
        if not len(rows[0]) or not len(rows[1]):
            raise ValueError(f"{plan.members} members for {plan.epochs} epochs are not in the map.")
        return int(rows[0][0]), int(rows[1][0])

    def mean(self, plan: EnsemblePlan, figure: str) -> float:
        """What a plan comes to."""
        return float(self.means[figure][self.locate(plan)])

    def example_scores(self, plan: EnsemblePlan, figure: str) -> Doubles:
        """What a plan comes to on each example, (N,)."""
        return self.scores[figure][self.locate(plan)].astype(np.float64)

    def member_influence(self, plan: EnsemblePlan, figure: str) -> Doubles:
        """What each member of M makes of a plan's figure, (M,), around their mean of 0.

        The first-order term of the mean over all committees of m members: m times what a
        committee differs by, on average, for having the member. The variance of that mean over
        draws of the M members is about that of these M numbers, divided by M. Where m is M no
        committee lacks a member: then it is that of the committees of the size below, as in the
        jackknife. Zeros for one member, of which nothing of the kind is known.

        Source: W. Hoeffding, "A class of statistics with asymptotically normal distribution",
        Annals of Mathematical Statistics 19 (1948), 293-325; B. Efron and C. Stein, "The
        jackknife estimate of variance", Annals of Statistics 9 (1981), 586-596.
        """
        M, (epoch, row) = self.members, self.locate(plan)
        if M == 1:
            return np.zeros(1)
        if plan.members == M:
            row -= 1
        m = int(self.sizes[row])
        held = self.member_scores[figure][epoch, row]
        apart: Doubles = m * (M - 1) / (M - m) * (held - held.mean())
        return apart


def build_plan_grid(epochs: Sequence[int], scores: Sequence[CommitteeScores], groups: Groups | None = None) -> PlanGrid:
    """The map of the same members after several epochs, judged on the same examples.

    Args:
      epochs: (E,), rising.
      scores: of each of them.
      groups: (N,), numbers from 0, of examples that belong together.

    Raises:
      ValueError: there is none, or they are not of the same members and examples.
    """
    if not scores or len(scores) != len(epochs):
        raise ValueError("A map takes the scores of each of its epochs, of one at least.")
    if len({(score.members, score.right.shape) for score in scores}) > 1:
        raise ValueError("The epochs of a map are of the same members and examples.")
    return PlanGrid(
        members=scores[0].members,
        epochs=np.array(epochs, np.int64),
        sizes=scores[0].sizes,
        scores={
            "nll": np.stack([score.nll for score in scores]),
            "accuracy": np.stack([score.right for score in scores]),
        },
        member_scores={
            "nll": np.stack([score.member_nll for score in scores]),
            "accuracy": np.stack([score.member_right for score in scores]),
        },
        groups=groups,
    )
