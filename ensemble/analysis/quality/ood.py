"""Whether an ensemble notices what it was never shown: scores, and how well they tell it."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ensemble.analysis.members.disagreement import entropy, expected_entropy
from ensemble.analysis.quality.averaging import Floats, average_probabilities, prediction_confidence


@dataclass(frozen=True)
class OodSeparation:
    """How well a score tells unknown examples from known ones.

    Attributes:
      auroc: the probability that an unknown example scores higher than a known one, a tie
        counting half: 1 where all do, 0.5 where the score says nothing.
      fpr95: the share of the unknown that is taken for known when at least 95 % of the known
        are: 0 where all unknown are noticed. The limit is a quantile of these known themselves.
      aupr: the area under precision over recall, with the unknown to be found: the average
        precision. It depends on how many there are of each.
      aupr_chance: what a score that says nothing gets: the share of the unknown.
    """

    auroc: float
    fpr95: float
    aupr: float
    aupr_chance: float


def ood_separation(known_scores: Floats, unknown: Floats) -> OodSeparation:
    """How well a score that is high for the unknown tells it from the known.

    Args:
      known_scores: (N,), scores of examples like those of training.
      unknown: (K,), scores of others.

    Raises:
      ValueError: one of the two is empty.

    Source: D. Hendrycks and K. Gimpel, "A baseline for detecting misclassified and
    out-of-distribution examples in neural networks", ICLR 2017 (AUROC); S. Liang, Y. Li and
    R. Srikant, "Enhancing the reliability of out-of-distribution image detection in neural
    networks", ICLR 2018 (FPR at 95 % TPR, where the known are the positives); J. Davis and M.
    Goadrich, "The relationship between precision-recall and ROC curves", ICML 2006 (no line is
    drawn between the points of precision and recall).
    """
    if not len(known_scores) or not len(unknown):
        raise ValueError(
            f"{len(known_scores)} known and {len(unknown)} unknown: both need an example."
        )
    ranked = np.sort(known_scores)
    below = np.searchsorted(ranked, unknown, side="left")
    up_to = np.searchsorted(ranked, unknown, side="right")
    auroc = (below + up_to).sum() / (2 * len(known_scores) * len(unknown))
    limit = ranked[-(-19 * len(known_scores) // 20) - 1]  # In whole numbers: 0.95 is not a double.
    return OodSeparation(
        float(auroc),
        float(np.mean(unknown <= limit)),
        _compute_average_precision(ranked, np.sort(unknown)),
        len(unknown) / (len(unknown) + len(known_scores)),
    )


def _compute_average_precision(known: Floats, unknown: Floats) -> float:
    """The mean precision at each unknown example, all that score as high or higher being taken.

    Args:
      known: (N,), rising.
      unknown: (K,), rising.
    """
    found = len(unknown) - np.searchsorted(unknown, unknown, side="left")
    mistaken = len(known) - np.searchsorted(known, unknown, side="left")
    return float(np.mean(found / (found + mistaken)))


def ood_scores(probabilities: Floats) -> dict[str, NDArray[np.float64]]:
    """Scores that are high where an ensemble is at a loss, one number an example.

    Args:
      probabilities: (M, N, C), each row of C a distribution.

    Returns:
      (N,) each: `entropy` of the average, in nats; `information`, what of it is the members'
      disagreement; `doubt`, 1 − confidence; `mean_member_entropy`, the mean of the members'
      own entropies: what one member alone has to go by.

    Source: B. Lakshminarayanan, A. Pritzel and C. Blundell, "Simple and scalable predictive
    uncertainty estimation using deep ensembles", NeurIPS 2017.
    """
    averaged = average_probabilities(probabilities)
    total = entropy(averaged)
    within = expected_entropy(probabilities)
    return {
        "entropy": total,
        # Rounding can put an exact zero a little below it.
        "information": np.maximum(total - within, 0.0),
        "doubt": 1.0 - prediction_confidence(averaged),
        "mean_member_entropy": within,
    }
