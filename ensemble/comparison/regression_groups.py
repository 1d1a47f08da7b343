"""A comparison of groups of regressions: losses, differences of all pairs, and the best settings."""

import functools
import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ensemble.analysis.inference.crossed_means import CrossedMean, estimate_crossed_mean
from ensemble.analysis.inference.image_groups import Groups, collapse_groups
from ensemble.analysis.inference.multiple_tests import adjust_p_holm
from ensemble.analysis.members.gain import SIGNIFICANCE_LEVEL
from ensemble.comparison.baseline import Baseline, choose_baseline
from ensemble.comparison.run_groups import RunGroup
from ensemble.comparison.settings_verdict import (
    JudgedGroup,
    SettingsVerdict,
    count_more_seeds,
    find_shared_sweep,
    judge_settings,
    list_training_seconds,
)
from ensemble.errors import RunError
from ensemble.runs.numeric.numeric_predictions import (
    NumericTargets,
    read_numeric_predictions,
    read_numeric_targets,
    select_numeric_epoch,
)
from ensemble.runs.store import Run

SQUARED_ERROR = "squared_error"
_Losses = Mapping[str, NDArray[np.float64]]


@dataclass(frozen=True)
class _RegressionDifference:
    """How much lower one group's mean loss is than another's, over seeds and examples.

    Attributes:
      saved: positive if the first group is better, with its 95 % interval and p.
      adjusted_p: adjusted for all pairs of groups and losses (Holm).
    """

    saved: CrossedMean
    adjusted_p: float = 1.0

    @property
    def sign(self) -> int:
        """1 if the first group is shown to be better, −1 if the second, else 0."""
        return int(np.sign(self.saved.mean)) * (self.adjusted_p < SIGNIFICANCE_LEVEL)


@dataclass(frozen=True, eq=False)
class RegressionGroup:
    """Regressions that differ in the seed alone, on the same examples.

    Attributes:
      group: its runs.
      runs: those that count: one per seed.
      epochs: after which each is judged.
      losses: (K, N) by name: "squared_error", "nll" and "crps"; only the first of members without a spread.
    """

    group: RunGroup
    runs: tuple[Run, ...]
    epochs: tuple[int, ...]
    losses: _Losses

    def list_run_means(self, loss: str) -> list[float]:
        """The mean loss of each run; RMSE for "squared_error"."""
        means = self.losses[loss].mean(axis=1)
        return (np.sqrt(means) if loss == SQUARED_ERROR else means).tolist()


@dataclass(frozen=True, eq=False)
class RegressionComparison:
    """A comparison of groups of regressions.

    Attributes:
      groups: in the order in which they were given.
      baseline: the group that the others are compared with; None for none.
      differences: by loss, of all pairs of keys: the second of a pair is the baseline where it is in it.
      tests: how many tests every p is adjusted for.
      verdict: which settings are best, by NLL, or by squared error where members predict no spread; None
        of fewer than two groups.
      examples: the test examples.
    """

    groups: tuple[RegressionGroup, ...]
    baseline: Baseline | None
    differences: Mapping[str, Mapping[tuple[str, str], _RegressionDifference]]
    tests: int
    verdict: SettingsVerdict | None
    examples: int


def compare_regression_groups(groups: Sequence[RunGroup], baseline: str | None = None) -> RegressionComparison:
    """Compare groups of regressions on the same test examples.

    Args:
      groups: from `run_groups.group_runs`.
      baseline: as of `choose_baseline`.

    Raises:
      RunError: a run has no predictions, or other test examples; or the baseline is in none of the groups.
    """
    base = choose_baseline(groups, baseline)
    targets = read_numeric_targets(groups[0].runs[0])
    measured = tuple(_measure_group(group, targets) for group in groups)
    names = [name for name in measured[0].losses if all(name in group.losses for group in measured)]
    order = sorted(measured, key=lambda group: base is not None and group.group.key == base.group.key)
    pairs = list(itertools.combinations(order, 2))
    compared = [name for name in ("nll", SQUARED_ERROR) if name in names]
    found = {
        (name, first.group.key, second.group.key): _compare_losses(
            first.losses[name], second.losses[name], targets.groups
        )
        for name in compared
        for first, second in pairs
    }
    adjusted = adjust_p_holm([saved.p for saved in found.values()]).tolist() if found else list[float]()
    differences: dict[str, dict[tuple[str, str], _RegressionDifference]] = {name: {} for name in compared}
    for ((name, *keys), saved), p in zip(found.items(), adjusted, strict=True):
        differences[name][keys[0], keys[1]] = _RegressionDifference(saved, p)
    return RegressionComparison(
        groups=measured,
        baseline=base,
        differences=differences,
        tests=len(found),
        verdict=_judge_groups(measured, differences[compared[0]], compared[0], len(found), base),
        examples=next(iter(measured[0].losses.values())).shape[1],
    )


def _measure_group(group: RunGroup, targets: NumericTargets) -> RegressionGroup:
    runs = group.distinct_runs
    epochs = tuple(select_numeric_epoch(run) for run in runs)
    each = [_measure_run(run, epoch, targets) for run, epoch in zip(runs, epochs, strict=True)]
    names = [name for name in each[0] if all(name in losses for losses in each)]
    return RegressionGroup(group, runs, epochs, {name: np.stack([losses[name] for losses in each]) for name in names})


def _measure_run(run: Run, epoch: int, targets: NumericTargets) -> dict[str, NDArray[np.float64]]:
    """Compute the ensemble's losses on each test example, (N,) by name."""
    if not np.array_equal(read_numeric_targets(run).values, targets.values):
        raise RunError("These runs have different test rows: compare runs of one table with the same split seed.")
    predicted = read_numeric_predictions(run, epoch)
    losses = predicted.compute_losses(targets.values)
    squared = np.asarray((targets.values - predicted.compute_mean()) ** 2)
    return {SQUARED_ERROR: squared, **{name: losses[name] for name in ("nll", "crps") if name in losses}}


def _compare_losses(own: NDArray[np.float64], others: NDArray[np.float64], groups: Groups | None) -> CrossedMean:
    if groups is not None:
        own, others = collapse_groups(own, groups), collapse_groups(others, groups)
    apart = own.mean(axis=0) - others.mean(axis=0)
    lost = estimate_crossed_mean(own, others, bound=float(np.abs(apart - apart.mean()).max()))
    return replace(lost, mean=-lost.mean, low=-lost.high, high=-lost.low)


def _judge_groups(
    groups: Sequence[RegressionGroup],
    differences: Mapping[tuple[str, str], _RegressionDifference],
    loss: str,
    tests: int,
    baseline: Baseline | None,
) -> SettingsVerdict | None:
    if len(groups) < 2:
        return None
    worse = {keys[1] if difference.sign > 0 else keys[0] for keys, difference in differences.items() if difference.sign}
    values = {each.group.key: each.losses[loss] for each in groups}
    verdict = judge_settings(
        [
            JudgedGroup(
                key=each.group.key,
                title=each.group.title,
                values=each.group.values,
                seeds=len(each.runs),
                mean=float(np.mean(each.list_run_means(loss))),
                costs=list_training_seconds(each.runs),
            )
            for each in groups
        ],
        worse,
        metric="rmse" if loss == SQUARED_ERROR else loss,
        split="test",
        images=next(iter(values.values())).shape[1],
        is_about_settings=any(len(each.runs) > 1 for each in groups),
        tests=tests,
        count_more_seeds=functools.partial(count_more_seeds, values, SIGNIFICANCE_LEVEL / max(1, tests)),
        baseline=baseline,
    )
    return replace(verdict, sweep=find_shared_sweep([run for each in groups for run in each.runs]))
