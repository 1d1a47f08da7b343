"""Which wins at equal cost, by how much, and how sure that is."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ensemble.budget.budget_worker import Competitor
from ensemble.budget.network_widths import network_cost_at_width
from ensemble.comparison.differences import GroupDifference, adjust_differences, compute_group_difference
from ensemble.comparison.group_metrics import MetricEstimate, compute_group_metrics
from ensemble.comparison.run_measures import measure_run
from ensemble.machine.network_cost import NetworkCost
from ensemble.runs.store import require_training_config


@dataclass(frozen=True)
class CompetitorResult:
    """How a competitor came out.

    Attributes:
      competitor: which.
      members: how many networks.
      cost: of one of them.
      seconds: of training and testing a run, the mean over its runs.
      metrics: by the names of `comparison.metrics.METRICS`, over seeds and images.
      advantage: what the ensemble is better by than this single network, on the same test images;
        None of the ensemble itself. Each p is adjusted for all of them (Holm).
    """

    competitor: Competitor
    members: int
    cost: NetworkCost
    seconds: float
    metrics: dict[str, MetricEstimate]
    advantage: GroupDifference | None


def evaluate_competitors(competitors: Sequence[Competitor]) -> list[CompetitorResult]:
    """How all came out, the ensemble first.

    The test images are the same for all, and a run is judged after the epoch that was best on
    validation: no test image had a say in epoch or rate. The interval of a difference counts that
    other seeds and other test images would be drawn (`analysis.inference.crossed_means`).

    Args:
      competitors: the ensemble, then single networks, each with its runs.

    Raises:
      NotPreparedError, RunError: predictions cannot be read.
    """
    run_measures = [tuple(measure_run(run) for run in entrant.runs) for entrant in competitors]
    ahead = adjust_differences([compute_group_difference(run_measures[0], other) for other in run_measures[1:]])
    results = []
    for number, (competitor, measured) in enumerate(zip(competitors, run_measures, strict=True)):
        run = competitor.runs[0]
        config = require_training_config(run)
        cost = network_cost_at_width(
            str(config.network), run.data.image_shape, len(run.data.class_names), competitor.width
        )
        seconds = float(np.mean([each.status.seconds for each in competitor.runs]))
        judged = compute_group_metrics(list(zip(competitor.runs, measured, strict=True)))
        against = ahead[number - 1] if number else None
        results.append(
            CompetitorResult(
                competitor=competitor,
                members=config.members,
                cost=cost,
                seconds=seconds,
                metrics=judged,
                advantage=against,
            )
        )
    return results
