"""How much an ensemble of other members of the same kind would differ: the jackknife over members.

Each member is a training of its own, so that one run can tell what further trainings would do. That
holds only where members have nothing in common but their settings: members that see the images in
one order, as in Flax's HOWTO, move together from seed to seed. Of 15 runs of four such members on
MNIST the standard deviation of the NLL was 1.9 times what the jackknife says
(`python -m benchmarks.verdicts` prints it).
"""

import numpy as np

from ensemble.analysis.inference.crossed_means import RunVariance
from ensemble.analysis.quality.averaging import Floats, Ints, most_likely_classes
from ensemble.analysis.quality.proper_scores import log_loss


def estimate_member_variances(probabilities: Floats, labels: Ints) -> dict[str, RunVariance]:
    """The variance of the ensemble's accuracy and mean NLL over draws of its M members.

    (M − 1) / M · Σ (θ₍₋ₘ₎ − θ̄)², where θ₍₋ₘ₎ is the figure of all members but m and θ̄ the mean of
    these; its degrees of freedom are taken to be M − 1. On average it is no less than the variance
    of an ensemble of M − 1 members.

    Args:
      probabilities: (M, N, C), each row of C a distribution.
      labels: (N,), class numbers in [0, C).

    Returns:
      By the names "accuracy" (as a share) and "nll" (in nats); {} of fewer than two members.

    Source: B. Efron and C. Stein, "The jackknife estimate of variance", Annals of Statistics 9
    (1981), 586-596.
    """
    members = len(probabilities)
    if members < 2:
        return {}
    total = np.sum(probabilities, axis=0, dtype=np.float64)
    figures = np.empty((members, 2))
    for m, own in enumerate(probabilities):
        others = (total - own).clip(0.0) / (members - 1)
        figures[m] = ((most_likely_classes(others) == labels).mean(), log_loss(others, labels).mean())
    variances = (members - 1) * figures.var(axis=0)
    return {
        name: RunVariance(float(variance), members - 1)
        for name, variance in zip(("accuracy", "nll"), variances, strict=True)
    }
