"""The figures by which runs are compared, of one run and of a group, with their intervals."""

import functools
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ensemble.analysis.inference.crossed import BOTH, IMAGES, crossed, mean_of_runs
from ensemble.analysis.inference.intervals import wilson
from ensemble.analysis.inference.paired import mean_interval
from ensemble.analysis.quality.metrics import MAIN, Metric
from ensemble.comparison.measures import Measures
from ensemble.runs.store import Run

SEEDS = "seeds"


# The ensemble's, and what else of runs is held side by side.
METRICS = (
    *MAIN,
    Metric(
        name="member_accuracy", title="Mean member's accuracy", unit="share", better=1, most=1.0
    ),
    Metric(name="gain", title="Gain over the mean member", unit="images", better=1, least=-np.inf),
    Metric(name="seconds", title="Training and testing", unit="s", better=-1),
    Metric(name="img_member_per_s", title="Speed", unit="img·member/s", better=1),
)


@dataclass(frozen=True)
class Figure:
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


def values_of(run: Run, made: Measures | None) -> dict[str, float | None]:
    """The figures of one run by the names of METRICS; None where they are not known.

    Args:
      run: the run.
      made: of its predictions; None where they cannot be had.
    """
    found: dict[str, float | None] = dict.fromkeys(metric.name for metric in METRICS)
    if made is not None:
        found |= {metric.name: made.value(metric) for metric in MAIN}
        found["member_accuracy"] = float(made.share.mean())
        if _several(run, made):
            found["gain"] = float((made.right - made.share).sum())
    if run.trained is not None and run.status.seconds:
        found["seconds"] = run.status.seconds
        found["img_member_per_s"] = run.status.img_member_per_s
    return found


def figures(runs: Sequence[tuple[Run, Measures | None]]) -> dict[str, Figure]:
    """The figures of a group of K runs, all on the same images, by the names of METRICS.

    Of one run the interval is over the images: Wilson's of a share, else that of a mean
    (`paired.mean_interval`). Of several it is over seeds and images (`crossed.crossed`); of ECE,
    seconds and speed, which are no means over images, over seeds alone (Student's), and of one
    run there is none.

    Args:
      runs: K runs and what their predictions come to, without repetitions.
    """
    each = [values_of(run, made) for run, made in runs]
    found = {
        metric.name: _of_values(metric, [one[metric.name] for one in each]) for metric in METRICS
    }
    several = all(_several(run, made) for run, made in runs if made is not None)
    return found | of_images(tuple(made for _, made in runs if made is not None), several)


@functools.lru_cache(maxsize=128)  # of groups; what is brushed or toggled changes a few of them
def of_images(made: tuple[Measures, ...], several: bool) -> dict[str, Figure]:
    """Those figures of a group that are means over the images; {} of no run.

    Args:
      made: of its runs.
      several: whether all of them have several members, so that there is a gain.
    """
    if not made:
        return {}
    found = {"member_accuracy": _share([one.share for one in made])}
    for metric in MAIN:
        if metric.of_each:
            each = [one.each[metric.name] for one in made]
            found[metric.name] = (
                _share(each) if metric.unit == "share" else _mean(each, metric.least, metric.most)
            )
    if several:
        gained = _mean([one.right - one.share for one in made], low=-1.0, most=1.0)
        found["gain"] = _times(gained, made[0].n)
    return found


def _several(run: Run, made: Measures) -> bool:
    """Whether a run is of several members, without those that were set aside by then."""
    return len(run.remaining(made.epoch)) > 1


def _of_values(metric: Metric, values: Sequence[float | None]) -> Figure:
    known = [value for value in values if value is not None]
    if not known:
        return Figure(None)
    if len(known) == 1:
        return Figure(known[0], runs=1)
    # Student's interval of two runs is wide: it would go on to an ECE below 0.
    low, high = mean_of_runs(known)
    ends = max(low, metric.least), min(high, metric.most)
    return Figure(float(np.mean(known)), *ends, SEEDS, len(known))


def _times(found: Figure, n: int) -> Figure:
    """A figure of one image as that of N."""
    value, low, high = (
        None if end is None else n * end for end in (found.value, found.low, found.high)
    )
    return replace(found, value=value, low=low, high=high)


def _share(each: "Sequence[NDArray[np.bool_] | NDArray[np.float64]]") -> Figure:
    """A share of the images, (N,) a run."""
    if len(each) > 1:
        return _mean(each, most=1.0)
    n, count = len(each[0]), float(each[0].sum())
    return Figure(count / n, *wilson(min(count, n), n), IMAGES, 1)


def _mean(
    each: "Sequence[NDArray[np.bool_] | NDArray[np.float64]]",
    low: float = 0.0,
    most: float = np.inf,
) -> Figure:
    """A mean over images, (N,) a run; its interval does not leave the range of the figure."""
    bound = most if np.isfinite(most) else None
    if len(each) == 1:
        values = np.asarray(each[0], np.float64)
        ends, over = mean_interval(values, bound=bound), IMAGES
        mean = float(values.mean())
    else:
        found = crossed(np.array(each, np.float64), bound=bound or 0.0)
        ends, over, mean = (found.low, found.high), BOTH, found.mean
    return Figure(mean, max(ends[0], low), min(ends[1], most), over, len(each))
