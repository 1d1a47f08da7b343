"""Which settings are best: one verdict from groups of runs, for every place that reports one.

The verdict rests on all pairs of groups, so that it does not depend on the baseline: any two might
have been the best and the second. Its tests are those of `differences.adjust_differences`.
"""

import functools
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import fmean

import numpy as np
from numpy.typing import NDArray

from ensemble.analysis.inference.seed_power import count_needed_seeds, estimate_image_variance, pool_run_variance
from ensemble.analysis.members.gain import SIGNIFICANCE_LEVEL
from ensemble.comparison.baseline import Baseline
from ensemble.comparison.compared_settings import Value
from ensemble.comparison.differences import GroupDifference
from ensemble.comparison.run_groups import RunGroup
from ensemble.comparison.run_measures import RunMeasures
from ensemble.machine.network_cost import compute_network_cost
from ensemble.runs.annotations.tags import is_sweep_tag
from ensemble.runs.store import Run

VERDICT_METRICS = ("nll", "accuracy")
_LEAST_SAVING, _LEAST_SECONDS_SAVED = 0.1, 1.0  # share of the cost; smaller differences are within the noise of timings
COST_SECONDS, COST_WORK = "seconds", "parameters × epochs × members"

_SeedCounter = Callable[["JudgedGroup", "JudgedGroup"], int | None]


@dataclass(frozen=True)
class JudgedGroup:
    """One group of runs: settings and seeds.

    Attributes:
      key: a word that identifies it.
      title: the settings that distinguish it from the others.
      values: these settings, if known.
      seeds: number of its runs, each with its own seed.
      mean: of the metric over its runs.
      costs: of training each run, in the unit of the verdict; () if one is unknown.
    """

    key: str
    title: str
    values: Mapping[str, Value] = field(compare=False)
    seeds: int
    mean: float
    costs: tuple[float, ...] = ()

    @property
    def cost(self) -> float | None:
        """The mean cost of training one run; None if unknown."""
        return fmean(self.costs) if self.costs else None


@dataclass(frozen=True)
class SettingsVerdict:
    """Which of several settings are best by one metric.

    Attributes:
      metric: "nll", "rmse" or "crps" (lower is better), or "accuracy" (higher is better).
      split: "test" or "validation", the images that it rests on.
      images: their number.
      groups: at least two, in the order in which they were given.
      best: the group with the best mean. That alone shows nothing.
      remaining: the groups that are not shown to be worse than any other, the best first, then by
        their means: no two of them can be told apart.
      is_about_settings: whether it holds for other seeds. False if one run per group is all that
        is known: then `remaining` is about these trained runs.
      tests: number of tests that each p was adjusted for.
      baseline: the group that others are compared with; None for none.
      cheapest: the remaining groups that are not clearly more expensive than the cheapest one, in
        the order of `remaining`; () if only one remains, or if a cost is unknown.
      cost_unit: `COST_SECONDS` or `COST_WORK`.
      more_seeds: how many more seeds per group would show a difference of the best two, if they
        differ as they do here, with a power of 80 %; None if unknown or too many.
      more_seeds_for_last: likewise, to show that the last of three or more remaining groups is
        worse than the best.
      sweep: the id of the sweep that all runs are trials of; "" if there is none.
    """

    metric: str
    split: str
    images: int
    groups: tuple[JudgedGroup, ...]
    best: JudgedGroup
    remaining: tuple[JudgedGroup, ...]
    is_about_settings: bool
    tests: int
    baseline: Baseline | None = None
    cheapest: tuple[JudgedGroup, ...] = ()
    cost_unit: str = COST_SECONDS
    more_seeds: int | None = None
    more_seeds_for_last: int | None = None
    sweep: str = ""

    @property
    def worse(self) -> tuple[JudgedGroup, ...]:
        """The groups that are shown to be worse than another one, the best of them first."""
        return _sort_by_mean([group for group in self.groups if group not in self.remaining], self.metric)


def judge_settings(
    groups: Sequence[JudgedGroup],
    worse: Collection[str],
    *,
    metric: str,
    split: str,
    images: int,
    is_about_settings: bool,
    tests: int,
    count_more_seeds: _SeedCounter,
    cost_unit: str = COST_SECONDS,
    baseline: Baseline | None = None,
) -> SettingsVerdict:
    """Build the verdict from the groups and what is shown of them.

    Args:
      groups: at least two.
      worse: the keys of those that are shown to be worse than another, after correction.
      metric: as in `SettingsVerdict`, like all that follow but the function.
      split: of the images.
      images: their number.
      is_about_settings: whether `worse` holds for other seeds.
      tests: for how many each p was adjusted.
      count_more_seeds: how many more seeds would tell the best group from the second.
      cost_unit: of the groups' costs.
      baseline: the group that others are compared with.
    """
    order = _sort_by_mean(groups, metric)
    # The best mean is never shown to be worse; a tie in the means could differ in rounding alone.
    remaining = tuple(group for group in order if group is order[0] or group.key not in worse)
    is_open = is_about_settings and len(remaining) > 1
    return SettingsVerdict(
        metric=metric,
        split=split,
        images=images,
        groups=tuple(groups),
        best=order[0],
        remaining=remaining,
        is_about_settings=is_about_settings,
        tests=tests,
        baseline=baseline,
        cheapest=_find_cheapest_groups(remaining, cost_unit) if is_open else (),
        cost_unit=cost_unit,
        more_seeds=count_more_seeds(*remaining[:2]) if is_open else None,
        more_seeds_for_last=count_more_seeds(order[0], remaining[-1]) if is_open and len(remaining) > 2 else None,
    )


def judge_run_groups(
    groups: Sequence[tuple[RunGroup, Sequence[tuple[Run, RunMeasures]]]],
    differences: Mapping[tuple[str, str], GroupDifference],
    baseline: Baseline | None,
    metric: str,
) -> SettingsVerdict | None:
    """Judge the settings of groups of runs on the same test images.

    Args:
      groups: each with its runs that count and their measures, at least one.
      differences: of all pairs of their keys, adjusted for all of them; one order of each pair is enough.
      baseline: as `choose_baseline` returns it.
      metric: one of `VERDICT_METRICS`.

    Returns:
      None of fewer than two groups.
    """
    if len(groups) < 2:
        return None
    settings_p = [difference.settings_p for difference in differences.values()]
    is_about_settings = any(p is not None for p in settings_p)
    tests = 2 * sum(p is not None for p in settings_p) if is_about_settings else 2 * len(differences)
    worse = set()
    for (first, second), difference in differences.items():
        sign = _read_sign(difference, metric, is_about_settings)
        if sign:
            worse.add(second if sign > 0 else first)
    unit, group_costs = _measure_costs([[run for run, _ in runs] for _, runs in groups])
    values = {group.key: _stack_values(runs, metric) for group, runs in groups}
    judged = [
        JudgedGroup(
            key=group.key,
            title=group.title,
            values=group.values,
            seeds=len(runs),
            mean=float(values[group.key].mean()),
            costs=costs,
        )
        for (group, runs), costs in zip(groups, group_costs, strict=True)
    ]
    verdict = judge_settings(
        judged,
        worse,
        metric=metric,
        split="test",
        images=groups[0][1][0][1].n,
        is_about_settings=is_about_settings,
        tests=tests,
        count_more_seeds=functools.partial(count_more_seeds, values, SIGNIFICANCE_LEVEL / max(1, tests)),
        cost_unit=unit,
        baseline=baseline,
    )
    return replace(verdict, sweep=find_shared_sweep([run for _, runs in groups for run, _ in runs]))


def find_shared_sweep(runs: Sequence[Run]) -> str:
    """The id of the sweep that all runs are trials of; "" if there is none."""
    shared_tags = set.intersection(*(set(run.tags) for run in runs))
    return next((tag for tag in sorted(shared_tags) if is_sweep_tag(tag)), "")


def list_training_seconds(runs: Sequence[Run]) -> tuple[float, ...]:
    """List the seconds of training and testing of each run; () if one is unknown."""
    seconds = tuple(run.status.seconds for run in runs if run.settings is not None)
    return seconds if len(seconds) == len(runs) and all(seconds) else ()


def _find_cheapest_groups(groups: Sequence[JudgedGroup], unit: str) -> tuple[JudgedGroup, ...]:
    """The groups with a run that costs hardly more than a run of the cheapest one: timings vary."""
    if not all(group.costs for group in groups):
        return ()
    highest = max(min(groups, key=lambda group: group.cost or 0.0).costs)
    margin = _LEAST_SECONDS_SAVED if unit == COST_SECONDS else 0.0
    return tuple(group for group in groups if min(group.costs) <= max(highest / (1 - _LEAST_SAVING), highest + margin))


def _sort_by_mean(groups: Sequence[JudgedGroup], metric: str) -> tuple[JudgedGroup, ...]:
    return tuple(sorted(groups, key=lambda group: -group.mean if metric == "accuracy" else group.mean))


def _read_sign(difference: GroupDifference, metric: str, is_about_settings: bool) -> int:
    """1 if the first group is shown to be better, −1 if the second, else 0."""
    if metric == "accuracy":
        return difference.settings_accuracy_sign if is_about_settings else difference.accuracy_sign
    return difference.settings_nll_sign if is_about_settings else difference.nll_sign


def _stack_values(runs: Sequence[tuple[Run, RunMeasures]], metric: str) -> NDArray[np.float64]:
    """(K, N), the metric of each run on each image."""
    return np.array([measures.per_image[metric] for _, measures in runs], np.float64)


def count_more_seeds(
    values: Mapping[str, NDArray[np.float64]], level: float, best: JudgedGroup, second: JudgedGroup
) -> int | None:
    """How many more seeds would tell two groups apart, from the (K, N) losses of each by its key."""
    first, other = values[best.key], values[second.key]
    run_variance, difference = pool_run_variance([first, other]), float(first.mean() - other.mean())
    if run_variance is None or not difference:
        return None
    image_variance = estimate_image_variance(first, other)
    return subtract_seeds(count_needed_seeds(difference, run_variance, image_variance, level), best, second)


def subtract_seeds(needed: int | None, best: JudgedGroup, second: JudgedGroup) -> int | None:
    """Return how many more seeds the group with fewer of them needs, at least 1; None of None."""
    return None if needed is None else max(1, needed - min(best.seeds, second.seeds))


def _measure_costs(groups: Sequence[Sequence[Run]]) -> tuple[str, list[tuple[float, ...]]]:
    """Return the unit, and what training each run of each group costs in it."""
    seconds = [list_training_seconds(runs) for runs in groups]
    if all(seconds):
        return COST_SECONDS, seconds
    work = [[_count_work(run) for run in runs] for runs in groups]
    return COST_WORK, [tuple(map(float, counts)) if all(counts) else () for counts in work]


def _count_work(run: Run) -> int:
    """Parameters × epochs × members; 0 of a run that was not trained here, or of an own network."""
    config = run.training_config
    cost = config and compute_network_cost(
        config.network, run.data.image_shape, len(run.data.class_names), config.width
    )
    return cost.parameters * config.epochs * config.members if config and cost else 0
