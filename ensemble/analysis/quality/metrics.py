"""The metrics of a classifier, each listed once: names, direction, what it is, how to get it.

Tables of members, Compare, summaries, reports, files and the terms of the trade take them from
`METRICS`. To add one, write its function beside its kind (proper_scores.py, calibration.py) and
enter it here.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from ensemble.analysis.quality.averaging import Floats, Ints, most_likely_classes, prediction_confidence
from ensemble.analysis.quality.calibration import (
    adaptive_calibration_error,
    expected_calibration_error,
    maximum_calibration_error,
)
from ensemble.analysis.quality.proper_scores import brier_score, log_loss
from ensemble.analysis.quality.smooth_ece import smooth_calibration_error


@dataclass(frozen=True, eq=False)
class ClassifierAnswers:
    """What a classifier says of N labelled examples.

    Attributes:
      probabilities: (N, C), each row a distribution.
      labels: (N,), class numbers in [0, C).
      confidence: (N,), how sure it is of what it says, in [0, 1].
      right: (N,), where what it says is the label.
    """

    probabilities: Floats
    labels: Ints
    confidence: NDArray[np.float64]
    right: NDArray[np.bool_]

    @classmethod
    def from_probabilities(cls, probabilities: Floats, labels: Ints) -> Self:
        """Those of a classifier that says the likeliest class, the lower of two equal ones."""
        sure = prediction_confidence(probabilities).astype(np.float64)
        return cls(probabilities, labels, sure, most_likely_classes(probabilities) == labels)


@dataclass(frozen=True, kw_only=True)
class Metric:
    """A figure by which classifiers or runs are judged.

    Attributes:
      name: stable, for files and addresses: "adaptive_ece".
      title: for people, where it stands alone: "Brier score".
      unit: "share", "nats", "images", "s", "img·member/s" or "".
      better: 1 where more is better, −1 where less is.
      least: the least that it can be.
      most: the most that it can be.
      term: as engineers know it, within a sentence, over a column and in CSV files: "Brier".
      plain: what stands in the term's place where terms are hidden.
      gloss: what it means, in a sentence.
      detail: what else to know where there is room for it.
      view: the view of Inspect that shows it.
      is_main: whether summaries and comparisons name it; tables of one run name all.
      example_function: of each example alone, (N,), of which the metric is the mean; or
      overall_function: of all examples at once. Neither of a figure that is none of a single
        classifier.
    """

    name: str
    title: str
    unit: str
    better: int
    least: float = 0.0
    most: float = np.inf
    term: str = ""
    plain: str = ""
    gloss: str = ""
    detail: str = ""
    view: str = ""
    is_main: bool = True
    example_function: Callable[[ClassifierAnswers], NDArray[np.float64] | NDArray[np.bool_]] | None = None
    overall_function: Callable[[ClassifierAnswers], float] | None = None

    @property
    def capitalized_term(self) -> str:
        """The term as a word that begins a line: "Accuracy", "Brier"."""
        return self.term[:1].upper() + self.term[1:]

    @property
    def axis_title(self) -> str:
        """What stands at an axis: "accuracy", "NLL (nats)", "Brier score"."""
        if self.unit == "share":
            return self.term
        return f"{self.title} ({self.unit})" if self.unit else self.title

    def measure(self, answers: ClassifierAnswers) -> float:
        """The metric of a classifier's answers.

        Raises:
          ValueError: it is no metric of a single classifier.
        """
        if self.overall_function:
            return self.overall_function(answers)
        if self.example_function:
            return float(self.example_function(answers).mean())
        raise ValueError(f"{self.name} is no metric of a single classifier.")


METRICS = (
    Metric(
        name="accuracy",
        title="Accuracy",
        unit="share",
        better=1,
        most=1.0,
        term="accuracy",
        plain="share right",
        gloss="How many of the test images are right, of all.",
        detail="With its 95 % Wilson interval in percentage points: ± half of it, or both ends "
        "where it is not symmetric.",
        view="members",
        example_function=lambda answers: answers.right,
    ),
    Metric(
        name="nll",
        title="NLL",
        unit="nats",
        better=-1,
        term="NLL",
        plain="price of being sure but wrong",
        gloss="Negative log-likelihood: the mean of −ln of the probability given to what it is, in "
        "nats. Sure and wrong costs most; lower is better.",
        view="combining",
        example_function=lambda answers: log_loss(answers.probabilities, answers.labels),
    ),
    Metric(
        name="brier",
        title="Brier score",
        unit="",
        better=-1,
        most=2.0,
        term="Brier",
        plain="distance from the truth",
        gloss="The mean squared distance of the probabilities from the truth, from 0 to 2.",
        detail="Lower is better.",
        view="combining",
        example_function=lambda answers: brier_score(answers.probabilities, answers.labels),
    ),
    Metric(
        name="ece",
        title="ECE",
        unit="",
        better=-1,
        most=1.0,
        term="ECE",
        plain="sureness off by",
        gloss="Expected calibration error: how far confidence is from accuracy.",
        detail="It is taken over 15 bins of equal width. 0.01 is one percentage point.",
        view="calibration",
        overall_function=lambda answers: expected_calibration_error(answers.confidence, answers.right),
    ),
    Metric(
        name="adaptive_ece",
        title="Adaptive ECE",
        unit="",
        better=-1,
        most=1.0,
        term="adaptive ECE",
        plain="sureness off by, equal groups",
        gloss="ECE over groups that hold equally many images.",
        view="calibration",
        is_main=False,
        overall_function=lambda answers: adaptive_calibration_error(answers.confidence, answers.right),
    ),
    Metric(
        name="smooth_ece",
        title="SmoothECE",
        unit="",
        better=-1,
        most=1.0,
        term="SmoothECE",
        plain="sureness off by, without groups",
        gloss="ECE without groups: smoothed by a kernel as wide as the error itself.",
        view="calibration",
        is_main=False,
        overall_function=lambda answers: smooth_calibration_error(answers.confidence, answers.right),
    ),
    Metric(
        name="mce",
        title="MCE",
        unit="",
        better=-1,
        most=1.0,
        term="MCE",
        plain="sureness off by at most",
        gloss="Maximum calibration error: the group that is farthest off.",
        view="calibration",
        is_main=False,
        overall_function=lambda answers: maximum_calibration_error(answers.confidence, answers.right),
    ),
)
MAIN_METRICS = tuple(metric for metric in METRICS if metric.is_main)
METRICS_BY_NAME = {metric.name: metric for metric in METRICS}
