"""Which wins at equal cost, by how much, and how sure that is."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ensemble.budget.widths import cost_at
from ensemble.budget.work import Competitor
from ensemble.comparison.differences import Difference, adjusted, difference
from ensemble.comparison.measures import measures
from ensemble.comparison.metrics import Figure, figures
from ensemble.machine.network_cost import Cost
from ensemble.runs.store import trained_here


@dataclass(frozen=True)
class Standing:
    """How a competitor came out.

    Attributes:
      competitor: which.
      members: how many networks.
      cost: of one of them.
      seconds: of training and testing a run, the mean over its runs.
      figures: by the names of `comparison.metrics.METRICS`, over seeds and images.
      ahead: what the ensemble is better by than this single network, on the same test images;
        None of the ensemble itself. Each p is adjusted for all of them (Holm).
    """

    competitor: Competitor
    members: int
    cost: Cost
    seconds: float
    figures: dict[str, Figure]
    ahead: Difference | None


def standings(competitors: Sequence[Competitor]) -> list[Standing]:
    """How all came out, the ensemble first.

    The test images are the same for all, and a run is judged after the epoch that was best on
    validation: no test image had a say in epoch or rate. The interval of a difference counts that
    other seeds and other test images would be drawn (`analysis.inference.crossed`).

    Args:
      competitors: the ensemble, then single networks, each with its runs.

    Raises:
      NotPreparedError, RunError: predictions cannot be read.
    """
    made = [tuple(measures(run) for run in one.runs) for one in competitors]
    ahead = adjusted([difference(made[0], other) for other in made[1:]])
    found = []
    for number, (one, measured) in enumerate(zip(competitors, made, strict=True)):
        run = one.runs[0]
        config = trained_here(run)
        cost = cost_at(
            str(config.network), run.data.image_shape, len(run.data.class_names), one.width
        )
        seconds = float(np.mean([each.status.seconds for each in one.runs]))
        judged = figures(list(zip(one.runs, measured, strict=True)))
        against = ahead[number - 1] if number else None
        found.append(Standing(one, config.members, cost, seconds, judged, against))
    return found
