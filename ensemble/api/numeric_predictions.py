"""An ensemble that predicts numbers, judged from arrays."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ensemble.analysis.numeric.numeric_evaluation import NumericEvaluation, evaluate_numbers
from ensemble.errors import PredictionsError
from ensemble.exchange.numeric_files import build_numeric_predictions
from ensemble.wording.numeric_predictions import list_numeric_sentences


@dataclass(frozen=True)
class NumericJudgement:
    """What is said of an ensemble that predicts numbers.

    Attributes:
      evaluation: the figures.
      sentences: what they say, in words.
      notes: what was assumed of the arrays.
    """

    evaluation: NumericEvaluation
    sentences: tuple[str, ...]
    notes: tuple[str, ...]

    def __str__(self) -> str:
        """The sentences, a line each."""
        return "\n".join((*self.sentences, *self.notes))


def judge_numbers(
    mean: Any,
    targets: Any,
    *,
    std: Any = None,
    variance: Any = None,
    member_names: Sequence[str] | None = None,
) -> NumericJudgement:
    """Judges members that predict a number with its spread, as the mixture of normal distributions.

    Args:
      mean: (M, N), of each member for each example, in any unit.
      targets: (N,), in that unit.
      std: (M, N), the standard deviations; or
      variance: (M, N), their squares. One of the two is given.
      member_names: M names.

    Raises:
      PredictionsError: the arrays do not fit, or are no finite numbers; says what to do.
    """
    if (std is None) == (variance is None):
        raise PredictionsError("Give std or variance, one of the two, of the shape of mean.")
    numbers = build_numeric_predictions(
        mean,
        variance if std is None else std,
        targets,
        is_variance=std is None,
        member_names=member_names,
    )
    evaluation = evaluate_numbers(numbers.mixture, numbers.targets, numbers.member_names)
    return NumericJudgement(evaluation, tuple(list_numeric_sentences(evaluation)), numbers.notes)
