"""Predicted numbers with their targets: what the views of numbers look at."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from ensemble.analysis.inference.image_groups import (
    Groups,
    find_row_copies,
    grouped_mean_interval,
    join_groups,
    select_groups,
)
from ensemble.analysis.numeric.conformal_intervals import compute_conformal_interval, fit_conformal_factor
from ensemble.analysis.numeric.normal_mixture import Doubles, NormalMixture
from ensemble.analysis.numeric.numeric_diagnosis import (
    ErrorRatio,
    Ints,
    LeftOutMember,
    compare_with_mean_member,
    compute_target_scores,
    estimate_rmse,
    find_suspect_targets,
    leave_out_members,
)
from ensemble.analysis.numeric.numeric_ensemble import NumericEnsemble, get_ensemble_arrays
from ensemble.analysis.numeric.numeric_evaluation import (
    MAIN_LEVEL,
    MIN_CONFORMAL_EXAMPLES,
    NumericEvaluation,
    evaluate_numbers,
)
from ensemble.analysis.numeric.point_ensemble import PointEnsemble
from ensemble.errors import RunError
from ensemble.runs.history import list_prediction_epochs
from ensemble.runs.numeric.numeric_predictions import (
    NumericCurve,
    read_numeric_curve,
    read_numeric_predictions,
    read_numeric_targets,
    select_numeric_epoch,
)
from ensemble.runs.store import Run, list_regression_member_names
from ensemble.runs.training_predictions import (
    RowPredictions,
    explain_missing_predictions,
    has_training_predictions,
    load_row_predictions,
)
from ensemble.tables.prepared_table import read_prepared_table, read_table_description
from ensemble.wording.run_names import format_run_name
from ensemble.wording.verdicts.ensemble_gain import describe_judges


@dataclass(frozen=True, eq=False)
class EvaluatedNumbers:
    """One epoch of an ensemble that predicts numbers, with what is computed of it once.

    Attributes:
      predicted: what the members predict, of N examples.
      targets: (N,), what is true.
      member_names: of the members that are there, M of them.
      run: whose it is; None of arrays that were given.
      epoch: which, from 1.
      epochs: those that are kept.
      unit: of the targets; "" where it is not known.
      target_name: what is predicted; "" where it is not known.
      named_examples: N names; () where they have none.
      group_column: (N,), the group of each example as the file or table has it; None without one.
      in_time_order: whether the examples are in time order.
    """

    noun: ClassVar[str] = "example"

    predicted: NumericEnsemble
    targets: Doubles
    member_names: Sequence[str]
    run: Run | None = None
    epoch: int = 1
    epochs: Sequence[int] = (1,)
    unit: str = ""
    target_name: str = ""
    named_examples: Sequence[str] = ()
    group_column: Groups | None = None
    in_time_order: bool = False

    @property
    def members(self) -> int:
        return self.predicted.members

    @property
    def n(self) -> int:
        return self.predicted.examples

    @property
    def source(self) -> str:
        name = format_run_name(self.run) if self.run else ""
        target = self.target_name if self.target_name not in name else ""
        epoch = f"epoch {self.epoch}" if len(self.epochs) > 1 else ""
        return " · ".join(filter(None, (name, target, epoch))) or "numbers"

    @cached_property
    def example_names(self) -> list[str]:
        """N: by the names that they came with, else by number from 0."""
        return list(self.named_examples) or [f"example {number:,}" for number in range(self.n)]

    @cached_property
    def groups(self) -> Groups | None:
        """(N,) which examples belong together: by their column, and exact copies; None if none."""
        arrays = get_ensemble_arrays(self.predicted).values()
        flat = [np.moveaxis(array, -1, 0).reshape(self.n, -1) for array in arrays]
        return join_groups(self.group_column, find_row_copies(np.hstack([*flat, self.targets[:, None]])))

    @cached_property
    def evaluation(self) -> NumericEvaluation:
        return evaluate_numbers(
            self.predicted, self.targets, self.member_names, self.groups, in_time_order=self.in_time_order
        )

    @cached_property
    def ratio(self) -> ErrorRatio | None:
        """The ensemble's RMSE as a share of a member's; None of one member."""
        if self.members == 1:
            return None
        return compare_with_mean_member(self.predicted, self.targets, self.groups)

    @cached_property
    def left_out(self) -> list[LeftOutMember]:
        return leave_out_members(self.predicted, self.targets, self.groups)

    @cached_property
    def suspects(self) -> Ints:
        return find_suspect_targets(compute_target_scores(self.predicted, self.targets), self.groups)

    @cached_property
    def curve(self) -> NumericCurve | None:
        """What members predict along the one input of the run's table; None for several inputs."""
        return read_numeric_curve(self.run, self.epoch) if self.run else None

    @cached_property
    def training_rows(self) -> "_TrainingRows":
        """The training rows of a run, predicted by members that left them out.

        Raises:
          RunError: the run has no folds or is not over, or the predictions cannot be read.
          DataError: the table cannot be read.
        """
        assert self.run
        if not has_training_predictions(self.run):
            raise RunError(explain_missing_predictions(self.run))
        table = read_prepared_table(self.run.path)
        stored = load_row_predictions(self.run, table.split.train)
        numbers = EvaluatedNumbers(
            predicted=NormalMixture(stored.mean[None], stored.spread[None] ** 2),
            targets=table.targets[stored.numbers],
            member_names=["members that left it out"],
            run=self.run,
            epoch=stored.epoch,
            epochs=self.epochs,
            unit=self.unit,
            target_name=self.target_name,
            named_examples=[f"row {number}" for number in table.row_numbers[stored.numbers]],
            group_column=select_groups(table.train_groups, np.searchsorted(table.split.train, stored.numbers)),
            in_time_order=table.in_time_order,
        )
        return _TrainingRows(
            numbers, stored, f"{describe_judges(stored.judges, self.run.config.members, stored.epoch)}."
        )

    @cached_property
    def main_interval(self) -> tuple[float, tuple[Doubles, Doubles]] | None:
        """The level that sentences are about, and the ends of that interval of every example.

        Of members without intervals the conformal one, of a margin for all; None of too few.
        """
        if not isinstance(self.predicted, PointEnsemble):
            coverage = self.evaluation.main_coverage
            if coverage is None:
                return None
            return coverage.level, self.predicted.compute_interval(coverage.level)
        if self.n < MIN_CONFORMAL_EXAMPLES:
            return None
        factor = fit_conformal_factor(self.predicted, self.targets, MAIN_LEVEL)
        return MAIN_LEVEL, compute_conformal_interval(self.predicted, factor)


@dataclass(frozen=True, eq=False)
class _TrainingRows:
    """Training rows of a run with folds, each predicted by the members that left it out.

    Attributes:
      numbers: the rows, as if the mixture of those members were one member.
      stored: their predictions.
      judges: a sentence on those members.
    """

    numbers: EvaluatedNumbers
    stored: RowPredictions
    judges: str

    @property
    def rmse(self) -> tuple[float, float, float]:
        """The cross-validated RMSE with its 95 % interval, in the targets' unit."""
        return estimate_rmse(self.numbers.targets - self.stored.mean, self.numbers.groups)

    @property
    def nll(self) -> tuple[float, float, float]:
        """The cross-validated NLL of those members' mixtures with its 95 % interval, in nats."""
        nll = self.stored.nll
        return (float(nll.mean()), *grouped_mean_interval(nll, self.numbers.groups))


def evaluate_numeric_run(run: Run, epoch: int | None = None) -> EvaluatedNumbers:
    """The run after an epoch, by default that of `select_numeric_epoch`.

    Raises:
      RunError: it has no predictions, none of that epoch, or they cannot be read.
    """
    epoch = select_numeric_epoch(run, epoch)
    targets = read_numeric_targets(run)
    return EvaluatedNumbers(
        predicted=read_numeric_predictions(run, epoch),
        targets=targets.values,
        member_names=list_regression_member_names(run, epoch),
        run=run,
        epoch=epoch,
        epochs=list_prediction_epochs(run.id),
        unit=run.unit,
        target_name=run.target_name,
        named_examples=targets.example_names,
        group_column=targets.groups,
        in_time_order=run.settings is not None and read_table_description(run.path).in_time_order,
    )
