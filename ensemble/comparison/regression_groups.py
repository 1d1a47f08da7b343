"""A comparison of groups of regressions: losses, differences of all pairs, and the best settings."""

import functools
import itertools
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ensemble.analysis.inference.crossed_means import OVER_SEEDS_AND_IMAGES, CrossedMean, RunVariance
from ensemble.analysis.inference.image_groups import Groups, find_row_copies, join_groups
from ensemble.analysis.inference.multiple_tests import adjust_p_holm
from ensemble.analysis.members.gain import SIGNIFICANCE_LEVEL
from ensemble.analysis.numeric.numeric_comparison import (
    compare_losses,
    compute_comparable_losses,
    estimate_member_variances,
)
from ensemble.analysis.numeric.numeric_ensemble import NumericEnsemble
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
_LOSSES = (SQUARED_ERROR, "nll", "pinball", "crps", "absolute_error")
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
      losses: (K, N) by name, of those of `_LOSSES` that they have.
      variances: by loss, the variance over seeds, estimated from the members of a single run.
    """

    group: RunGroup
    runs: tuple[Run, ...]
    epochs: tuple[int, ...]
    losses: _Losses
    variances: Mapping[str, RunVariance]

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
      verdict: which settings are best, by NLL, else by pinball loss, or by squared error without a spread; None
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
    levels = {tuple(run.numbers.levels) for group in groups for run in group.runs if run.numbers.levels}
    measured = tuple(_measure_group(group, targets, levels) for group in groups)
    names = [name for name in measured[0].losses if all(name in group.losses for group in measured)]
    together = _group_examples(measured, targets)
    order = sorted(measured, key=lambda group: base is not None and group.group.key == base.group.key)
    pairs = list(itertools.combinations(order, 2))
    compared = [name for name in ("nll", "pinball", SQUARED_ERROR) if name in names]
    found = {
        (name, first.group.key, second.group.key): compare_losses(
            first.losses[name], second.losses[name], together, _list_run_variances(first, second, name)
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


def _group_examples(groups: Sequence[RegressionGroup], targets: NumericTargets) -> Groups | None:
    """Which examples belong together, (N,): by their column, and exact copies; None if none do."""
    losses = [rows for group in groups for rows in group.losses.values()]
    return join_groups(targets.groups, find_row_copies(np.concatenate([targets.values[None], *losses]).T))


def _list_run_variances(first: RegressionGroup, second: RegressionGroup, loss: str) -> list[RunVariance]:
    """The variances over seeds of two single runs; [] if they are unknown, or if several runs show them."""
    sides = [group.variances[loss] for group in (first, second) if loss in group.variances]
    return sides if len(sides) == 2 else []


def _measure_group(group: RunGroup, targets: NumericTargets, levels: Collection[tuple[float, ...]]) -> RegressionGroup:
    runs = group.distinct_runs
    epochs = tuple(select_numeric_epoch(run) for run in runs)
    each = list[dict[str, NDArray[np.float64]]]()
    variances: dict[str, RunVariance] = {}
    for run, epoch in zip(runs, epochs, strict=True):
        predicted = _read_aligned_predictions(run, epoch, targets)
        each.append(compute_comparable_losses(predicted, targets.values, levels))
        if len(runs) == 1 and run.settings:  # Members have rows in an order of their own.
            variances = estimate_member_variances(predicted, targets.values)
    names = [name for name in _LOSSES if all(name in losses for losses in each)]
    losses = {name: np.stack([own[name] for own in each]) for name in names}
    return RegressionGroup(group, runs, epochs, losses, variances)


def _read_aligned_predictions(run: Run, epoch: int, targets: NumericTargets) -> NumericEnsemble:
    """Read what a run predicts of the examples of `targets`, in their order; RunError if it has others."""
    own, predicted = read_numeric_targets(run), read_numeric_predictions(run, epoch)
    values, places = own.values, {name: place for place, name in enumerate(own.example_names)}
    if places.keys() == set(targets.example_names) and len(places) == len(values) == len(targets.values):
        order = np.array([places[name] for name in targets.example_names], int)
        values, predicted = values[order], predicted.select_examples(order) if len(order) else predicted
    if not np.array_equal(values, targets.values):
        raise RunError(
            f"“{run.id}” has different test rows: compare runs whose targets are the same, such as runs of one "
            "table with one split seed."
        )
    return predicted


def _judge_groups(
    groups: Sequence[RegressionGroup],
    differences: Mapping[tuple[str, str], _RegressionDifference],
    loss: str,
    tests: int,
    baseline: Baseline | None,
) -> SettingsVerdict | None:
    if len(groups) < 2:
        return None
    is_about_settings = any(difference.saved.over == OVER_SEEDS_AND_IMAGES for difference in differences.values())
    worse = {
        keys[1] if difference.sign > 0 else keys[0]
        for keys, difference in differences.items()
        if difference.sign and (not is_about_settings or difference.saved.over == OVER_SEEDS_AND_IMAGES)
    }
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
        is_about_settings=is_about_settings,
        tests=tests,
        count_more_seeds=functools.partial(count_more_seeds, values, SIGNIFICANCE_LEVEL / max(1, tests)),
        baseline=baseline,
    )
    return replace(verdict, sweep=find_shared_sweep([run for each in groups for run in each.runs]))
