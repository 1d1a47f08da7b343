"""An ensemble that predicts numbers, judged from arrays."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ensemble.analysis.numeric.numeric_evaluation import NumericEvaluation
from ensemble.errors import PredictionsError
from ensemble.exchange.numeric_files import (
    NumericPredictions,
    add_groups,
    build_numeric_predictions,
    build_quantile_predictions,
)
from ensemble.exchange.numeric_import import import_numbers
from ensemble.views.numeric.evaluated_numbers import EvaluatedNumbers
from ensemble.views.registry import NUMERIC_VIEWS, find_view
from ensemble.views.summary import summarize_view
from ensemble.wording.numeric_predictions import list_numeric_sentences

if TYPE_CHECKING:
    from ensemble.api.view import EvaluatedView


@dataclass(frozen=True)
class NumericJudgement:
    """What is said of an ensemble that predicts numbers.

    Attributes:
      evaluation: the figures.
      sentences: what they say, in words.
      notes: what was assumed of the arrays.
      numbers: the predictions and targets themselves.
    """

    evaluation: NumericEvaluation
    sentences: tuple[str, ...]
    notes: tuple[str, ...]
    numbers: EvaluatedNumbers

    def __str__(self) -> str:
        """The sentences, a line each."""
        return "\n".join((*self.sentences, *self.notes))

    def view(self, name: str, **choices: object) -> "EvaluatedView":
        """What one of the views of the page Numbers says; the last line of a cell shows it.

        Args:
          name: "answer", "calibration", "spread", "predicted", "committee", "members" or "worst".
          choices: what the view's controls would say: `worst="surprise"`.

        Raises:
          ConfigError: there is no such view, no such choice of it, or no such word of that.
        """
        from ensemble.api.view import EvaluatedView  # here: figures take a while to import

        words = {choice: str(word) for choice, word in choices.items()}
        return EvaluatedView(summarize_view(find_view(name, NUMERIC_VIEWS), self.numbers, words))

    def save(self, name: str = "", target: str = "", unit: str = "") -> str:
        """Keeps it as a run, for the page Numbers, `ensemble inspect` and `open_numbers`.

        Args:
          name: for people, at most 80 characters.
          target: what is predicted: "price".
          unit: of the targets: "EUR".

        Returns:
          The run's id.

        Raises:
          RunError: the name is too long, or the folder of runs cannot be written.
        """
        numbers = self.numbers
        predictions = NumericPredictions(
            mixture=numbers.predicted,
            targets=numbers.targets,
            member_names=tuple(numbers.member_names),
            notes=self.notes,
            example_names=tuple(numbers.named_examples),
            groups=numbers.group_column,
        )
        return import_numbers(predictions, name, target_name=target, unit=unit).id


def judge_numbers(
    mean: Any,
    targets: Any,
    *,
    std: Any = None,
    variance: Any = None,
    quantiles: Any = None,
    levels: Any = None,
    member_names: Sequence[str] | None = None,
    groups: Any = None,
    in_time_order: bool = False,
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
      groups: (N,), names or numbers: examples of one group belong together, such as the
        measurements of one patient.
      in_time_order: whether the examples are in time order: conformal intervals then adapt.

    Raises:
      PredictionsError: the arrays do not fit, or are no finite numbers; says what to do.
    """
    numbers = _build_predictions(
        mean, targets, std=std, variance=variance, quantiles=quantiles, levels=levels, member_names=member_names
    )
    if groups is not None:
        numbers = add_groups(numbers, groups, "`groups`")
    evaluated = EvaluatedNumbers(
        numbers.mixture, numbers.targets, numbers.member_names, group_column=numbers.groups, in_time_order=in_time_order
    )
    return build_judgement(evaluated, numbers.notes)


def build_judgement(numbers: EvaluatedNumbers, notes: tuple[str, ...] = ()) -> NumericJudgement:
    """Judge predictions that were read already."""
    evaluation = numbers.evaluation
    return NumericJudgement(evaluation, tuple(list_numeric_sentences(evaluation)), notes, numbers)


def _build_predictions(
    mean: Any, targets: Any, std: Any, variance: Any, quantiles: Any, levels: Any, member_names: Sequence[str] | None
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
