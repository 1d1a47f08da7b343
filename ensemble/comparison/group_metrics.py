"""The figures by which runs are compared, of one run and of a group, with their intervals."""

import functools
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ensemble.analysis.inference.crossed_means import (
    OVER_IMAGES,
    OVER_SEEDS_AND_IMAGES,
    estimate_crossed_mean,
    student_mean_interval,
)
from ensemble.analysis.inference.image_groups import (
    Groups,
    collapse_groups,
    grouped_mean_interval,
    grouped_share_interval,
)
from ensemble.analysis.inference.proportion_interval import wilson_interval
from ensemble.analysis.quality.metrics import MAIN_METRICS, Metric
from ensemble.comparison.run_measures import RunMeasures
from ensemble.runs.store import Run

_OVER_SEEDS = "seeds"


# The ensemble's, and what else of runs is held side by side.
COMPARISON_METRICS = (
    *MAIN_METRICS,
    Metric(name="member_accuracy", title="Mean member's accuracy", unit="share", better=1, most=1.0),
    Metric(name="gain", title="Gain over the mean member", unit="images", better=1, least=-np.inf),
    Metric(name="seconds", title="Training and testing", unit="s", better=-1),
    Metric(name="img_member_per_s", title="Speed", unit="img·member/s", better=1),
)


@dataclass(frozen=True)
class MetricEstimate:
    """A figure of a run or a group, with its 95 % interval.

    Attributes:
      value: of one run its own, of several their mean; None where it is not known.
      low: the lower end of the interval; None where there is none.
      high: the upper end.
      over: what the interval holds for: "images" (these trained runs on new images), "seeds and
        images" (new runs on new images), "seeds" (new runs on these images, or as fast), or ""
        where there is none.
      runs: how many runs it is of, without repetitions.
    """

    value: float | None
    low: float | None = None
    high: float | None = None
    over: str = ""
    runs: int = 0


def compute_run_metrics(run: Run, measures: RunMeasures | None) -> dict[str, float | None]:
    """The figures of one run by the names of `COMPARISON_METRICS`; None where they are not known.

    Args:
      run: the run.
      measures: of its predictions; None where they cannot be had.
    """
    metrics: dict[str, float | None] = dict.fromkeys(metric.name for metric in COMPARISON_METRICS)
    if measures is not None:
        metrics |= {metric.name: measures.value(metric) for metric in MAIN_METRICS}
        metrics["member_accuracy"] = float(measures.share.mean())
        if _has_several_members(run, measures):
            metrics["gain"] = float((measures.right - measures.share).sum())
    if run.training_config is not None and run.status.seconds:
        metrics["seconds"] = run.status.seconds
        metrics["img_member_per_s"] = run.status.img_member_per_s
    return metrics


def compute_group_metrics(runs: Sequence[tuple[Run, RunMeasures | None]]) -> dict[str, MetricEstimate]:
    """The figures of a group of K runs, all on the same images, by the names of `COMPARISON_METRICS`.

    Of one run the interval is over the images: Wilson's of a share, else that of a mean
    (`mean_interval`). Of several it is over seeds and images
    (`estimate_crossed_mean`); of ECE, seconds and speed, which are no means over images,
    over seeds alone (Student's), and of one run there is none.

    Args:
      runs: K runs and what their predictions come to, without repetitions.
    """
    each = [compute_run_metrics(run, measures) for run, measures in runs]
    metrics = {
        metric.name: _estimate_over_seeds(metric, [run_metrics[metric.name] for run_metrics in each])
        for metric in COMPARISON_METRICS
    }
    several = all(_has_several_members(run, measures) for run, measures in runs if measures is not None)
    return metrics | _compute_image_metrics(tuple(measures for _, measures in runs if measures is not None), several)


@functools.lru_cache(maxsize=128)  # of groups; what is brushed or toggled changes a few of them
def _compute_image_metrics(group_measures: tuple[RunMeasures, ...], several: bool) -> dict[str, MetricEstimate]:
    """Those figures of a group that are means over the images; {} of no run."""
    if not group_measures:
        return {}
    groups = next((each.groups for each in group_measures if each.groups is not None), None)
    shares = [measures.share for measures in group_measures]
    metrics = {"member_accuracy": _estimate_share(shares, groups)}
    for metric in MAIN_METRICS:
        if metric.example_function:
            each = [measures.per_image[metric.name] for measures in group_measures]
            metrics[metric.name] = (
                _estimate_share(each, groups)
                if metric.unit == "share"
                else _estimate_mean(each, groups, metric.least, metric.most)
            )
    if several:
        gained = _estimate_mean(
            [measures.right - measures.share for measures in group_measures], groups, low=-1.0, most=1.0
        )
        metrics["gain"] = _scale_estimate(gained, group_measures[0].n)
    return metrics


def _has_several_members(run: Run, measures: RunMeasures) -> bool:
    return len(run.remaining_members(measures.epoch)) > 1


def _estimate_over_seeds(metric: Metric, values: Sequence[float | None]) -> MetricEstimate:
    measured_values = [value for value in values if value is not None]
    if not measured_values:
        return MetricEstimate(None)
    if len(measured_values) == 1:
        return MetricEstimate(measured_values[0], runs=1)
    # Student's interval of two runs is wide: it would go on to an ECE below 0.
    low, high = student_mean_interval(measured_values)
    ends = max(low, metric.least), min(high, metric.most)
    return MetricEstimate(float(np.mean(measured_values)), *ends, _OVER_SEEDS, len(measured_values))


def _scale_estimate(estimate: MetricEstimate, n: int) -> MetricEstimate:
    value, low, high = (None if end is None else n * end for end in (estimate.value, estimate.low, estimate.high))
    return replace(estimate, value=value, low=low, high=high)


def _estimate_share(each: "Sequence[NDArray[np.bool_] | NDArray[np.float64]]", groups: Groups | None) -> MetricEstimate:
    """A share of the images, (N,) a run."""
    if len(each) > 1:
        return _estimate_mean(each, groups, most=1.0)
    if groups is not None:
        ends = grouped_share_interval(np.asarray(each[0], np.float64), groups)
        return MetricEstimate(float(each[0].mean()), *ends, OVER_IMAGES, 1)
    n, count = len(each[0]), float(each[0].sum())
    return MetricEstimate(count / n, *wilson_interval(min(count, n), n), OVER_IMAGES, 1)


def _estimate_mean(
    each: "Sequence[NDArray[np.bool_] | NDArray[np.float64]]",
    groups: Groups | None,
    low: float = 0.0,
    most: float = np.inf,
) -> MetricEstimate:
    """A mean over images, (N,) a run; its interval does not leave the range of the figure."""
    bound = most if np.isfinite(most) else None
    if len(each) == 1:
        values = np.asarray(each[0], np.float64)
        ends, over = grouped_mean_interval(values, groups, bound=bound), OVER_IMAGES
        mean = float(values.mean())
    else:
        values = np.array(each, np.float64)
        if groups is not None:
            values = collapse_groups(values, groups)
        crossed_mean = estimate_crossed_mean(values, bound=bound or 0.0)
        ends, over, mean = ((crossed_mean.low, crossed_mean.high), OVER_SEEDS_AND_IMAGES, crossed_mean.mean)
    return MetricEstimate(mean, max(ends[0], low), min(ends[1], most), over, len(each))
