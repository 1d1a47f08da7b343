"""What images that have changed do to members and ensemble: a few figures for each change."""

from typing import Annotated, Any, TypedDict

import numpy as np

from ensemble.analysis.members.disagreement import entropy
from ensemble.analysis.quality.averaging import Floats, Ints, average, confidence, votes
from ensemble.analysis.quality.calibration import expected_error
from ensemble.analysis.quality.scores import log_loss
from ensemble.storage.records.fields import Figure, Share, Within

Shares = list[Share]


class Measured(TypedDict):
    """The figures of `measure`, as a file has them."""

    ensemble_accuracy: Share
    ensemble_nll: Figure
    ensemble_ece: Share
    member_accuracy: Shares
    member_nll: list[Figure]
    member_ece: Shares
    mean_information: Figure
    mean_predictive_entropy: Figure
    mean_member_entropy: Figure


class Step(Measured):
    """The figures of one kind of corruption at one amount."""

    kind: str
    amount: Figure


class Apart(TypedDict):
    """How well a score tells two sets of images apart."""

    auroc: Share
    fpr95: Share


class Unknown(TypedDict):
    """The figures of one set of out-of-distribution images."""

    key: str
    title: str
    images: Annotated[int, Within(1, 2**53)]
    ensemble: Apart
    information: Apart
    members: list[Apart]


def measure(probabilities: Floats, labels: Ints) -> dict[str, Any]:
    """The figures of one change, ready for JSON: numbers and lists of numbers.

    Args:
      probabilities: (M, N, C), each row of C a distribution.
      labels: (N,), class numbers in [0, C).

    Returns:
      `ensemble_accuracy`, `ensemble_nll` (nats), `ensemble_ece`; `member_accuracy`,
      `member_nll`, `member_ece`, lists of M; and, all means over examples in nats,
      `mean_predictive_entropy` (of the average), `mean_member_entropy` (aleatoric: the mean
      over members of their own) and `mean_information` (epistemic: the first less the second).

    Raises:
      ValueError: there is no example.

    Source: Y. Ovadia and others, "Can you trust your model's uncertainty? Evaluating
    predictive uncertainty under dataset shift", NeurIPS 2019.
    """
    if not len(labels):
        raise ValueError("There is no example to measure.")
    averaged = average(probabilities)
    members = [_figures(member, labels) for member in probabilities]
    within = np.mean([figures["entropy"] for figures in members])
    whole = _figures(averaged, labels)
    return {
        **{f"ensemble_{name}": whole[name] for name in ("accuracy", "nll", "ece")},
        **{
            f"member_{name}": [figures[name] for figures in members]
            for name in ("accuracy", "nll", "ece")
        },
        # Rounding can put an exact zero a little below it.
        "mean_information": max(whole["entropy"] - float(within), 0.0),
        "mean_predictive_entropy": whole["entropy"],
        "mean_member_entropy": float(within),
    }


def _figures(distributions: Floats, labels: Ints) -> dict[str, float]:
    """Accuracy, NLL, ECE and mean entropy of one classifier (N, C)."""
    right = votes(distributions) == labels
    doubles = distributions.astype(np.float64)
    return {
        "accuracy": float(right.mean()),
        "nll": float(log_loss(doubles, labels).mean()),
        "ece": expected_error(confidence(doubles), right),
        "entropy": float(entropy(doubles).mean()),
    }
