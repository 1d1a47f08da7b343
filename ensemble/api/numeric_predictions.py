"""An ensemble that predicts numbers, judged from arrays."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ensemble.analysis.numeric.numeric_evaluation import NumericEvaluation, evaluate_numbers
from ensemble.errors import PredictionsError
from ensemble.exchange.numeric_files import (
    NumericPredictions,
    build_numeric_predictions,
    build_quantile_predictions,
)
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
    quantiles: Any = None,
    levels: Any = None,
    member_names: Sequence[str] | None = None,
) -> NumericJudgement:
    """Judges members that predict a number: with its spread, by quantiles, or the number alone.

    Args:
      mean: (M, N), of each member for each example, in any unit; None with quantiles.
      targets: (N,), in that unit.
      std: (M, N), the standard deviations; or
      variance: (M, N), their squares. Without either, members give no spread.
      quantiles: (M, L, N), in place of mean and spread.
      levels: (L,), of the quantiles, in (0, 1).
      member_names: M names.

    Raises:
      PredictionsError: the arrays do not fit, or are no finite numbers; says what to do.
    """
    numbers = _build_predictions(mean, targets, std, variance, quantiles, levels, member_names)
    evaluation = evaluate_numbers(numbers.mixture, numbers.targets, numbers.member_names)
    return NumericJudgement(evaluation, tuple(list_numeric_sentences(evaluation)), numbers.notes)


def _build_predictions(
    mean: Any,
    targets: Any,
    std: Any,
    variance: Any,
    quantiles: Any,
    levels: Any,
    member_names: Sequence[str] | None,
) -> NumericPredictions:
    if quantiles is not None or levels is not None:
        if quantiles is None or levels is None or mean is not None:
            raise PredictionsError("Give quantiles with levels, and None for mean.")
        return build_quantile_predictions(quantiles, levels, targets, member_names=member_names)
    if std is not None and variance is not None:
        raise PredictionsError("Give std or variance, not both.")
    return build_numeric_predictions(
        mean,
        variance if std is None else std,
        targets,
        is_variance=std is None and variance is not None,
        member_names=member_names,
    )
