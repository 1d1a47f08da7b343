"""How good probabilities are: accuracy, proper scores and calibration in one value."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ensemble.analysis.inference.image_groups import grouped_share_interval
from ensemble.analysis.inference.proportion_interval import wilson_interval
from ensemble.analysis.predictions import EnsemblePredictions
from ensemble.analysis.quality.averaging import Floats, Ints
from ensemble.analysis.quality.metrics import METRICS, ClassifierAnswers, Metric


@dataclass(frozen=True)
class Quality:
    """The metrics of one classifier on N labelled examples; `quality["nll"]` is one by its name.

    Attributes:
      n: N.
      low: the lower end of Wilson's 95 % interval of the accuracy.
      high: the upper end.
      values: by the names of `METRICS`, in their order.
    """

    n: int
    low: float
    high: float
    values: Mapping[str, float]

    def __getitem__(self, name: str) -> float:
        return self.values[name]

    @property
    def accuracy(self) -> float:
        """The share that is right, in [0, 1]."""
        return self["accuracy"]

    @property
    def nll(self) -> float:
        """The mean negative log-likelihood in nats, at least 0."""
        return self["nll"]

    @property
    def brier(self) -> float:
        """The mean Brier score, in [0, 2]."""
        return self["brier"]

    @property
    def ece(self) -> float:
        """The expected calibration error, in [0, 1]."""
        return self["ece"]

    @property
    def adaptive_ece(self) -> float:
        return self["adaptive_ece"]

    @property
    def mce(self) -> float:
        """The maximum calibration error, in [0, 1]."""
        return self["mce"]

    def as_row(self) -> dict[str, float]:
        """All of it by stable names, the interval beside the accuracy, as in files."""
        interval = {"accuracy": self.accuracy, "low": self.low, "high": self.high}
        return {"n": self.n, **interval, **self.values}


@dataclass(frozen=True)
class EnsembleQualities:
    """The quality of the ensemble, of each of its M members, and the mean of the members'."""

    ensemble: Quality
    members: tuple[Quality, ...]
    mean: Quality


def measure_quality(probabilities: Floats, labels: Ints, groups: Ints | None = None) -> Quality:
    """All figures of one classifier; a probability below `MIN_PROBABILITY` counts as that in NLL.

    Args:
      probabilities: (N, C), each row a distribution.
      labels: (N,), class numbers in [0, C).
      groups: (N,), which examples belong together; None where all are independent.

    Raises:
      ValueError: there is no example.
    """
    answers = ClassifierAnswers.from_probabilities(probabilities, labels)
    return measure_answer_quality(answers, groups)


def measure_answer_quality(
    answers: ClassifierAnswers, groups: Ints | None = None, metrics: Sequence[Metric] = METRICS
) -> Quality:
    """As `measure_quality`, of answers that need not be the likeliest class, or some of its metrics.

    Raises:
      ValueError: there is no example.
    """
    n = len(answers.labels)
    low, high = grouped_share_interval(answers.right, groups)
    return Quality(n, low, high, {metric.name: metric.measure(answers) for metric in metrics})


def mean_quality(members: Sequence[Quality]) -> Quality:
    """The mean of each figure, and Wilson's interval of the mean accuracy.

    That interval is as wide as one member's: it tells how well N examples know an accuracy
    like this, not how much members differ.

    Args:
      members: at least one, all on the same N examples.

    Raises:
      ValueError: there is none, or they are of different examples.
    """
    n = {member.n for member in members}
    if len(n) != 1:
        raise ValueError("The mean is of at least one, all on the same examples.")
    (examples,) = n

    values = {metric.name: float(np.mean([member[metric.name] for member in members])) for metric in METRICS}
    low, high = wilson_interval(values["accuracy"] * examples, examples)
    return Quality(examples, low, high, values)


def measure_qualities(predictions: EnsemblePredictions) -> EnsembleQualities:
    """The quality of the ensemble, of each member, and the members' mean."""
    labels, groups = predictions.labels, predictions.groups
    confidence = (sure.astype(np.float64) for sure in predictions.member_confidence)
    each = zip(predictions.probabilities, confidence, predictions.votes, strict=True)
    members = tuple(
        measure_answer_quality(ClassifierAnswers(member, labels, sure, votes == labels), groups)
        for member, sure, votes in each
    )
    mean = mean_quality(members)
    if predictions.groups is not None:  # as wide as a member's there
        ends = np.mean([(member.low, member.high) for member in members], axis=0)
        mean = replace(mean, low=float(ends[0]), high=float(ends[1]))
    ensemble = measure_quality(predictions.averaged, predictions.labels, predictions.groups)
    return EnsembleQualities(ensemble, members, mean)
