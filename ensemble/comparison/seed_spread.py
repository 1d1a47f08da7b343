"""How far runs lie apart that differ in the seed alone: what no interval of one run can tell."""

import functools
from collections.abc import Sequence
from dataclasses import dataclass

from ensemble import runs
from ensemble.comparison.compared_settings import PLACEMENT_SETTINGS
from ensemble.config import EnsembleConfig
from ensemble.runs.epoch_choice import read_reported_metrics

# A member does not depend on where it is trained, nor on the number of the seed.
_IGNORED_SETTINGS = dict.fromkeys(("seed", *PLACEMENT_SETTINGS), 0)


@dataclass(frozen=True)
class SeedSpread:
    """What finished runs got that differ in the seed alone, newest first; one run a seed.

    Attributes:
      accuracies: (K,), their ensembles' (`read_reported_metrics`), on the test images, in [0, 1].
      nlls: (K,), nats.
    """

    accuracies: tuple[float, ...] = ()
    nlls: tuple[float, ...] = ()


def measure_seed_spread(run: runs.Run, every: Sequence[runs.Run]) -> SeedSpread:
    """The figures of the finished runs of `every` that differ from `run` in the seed alone.

    `run` is one of them where it is finished. A seed that was run twice gave the same numbers
    twice, and counts once. Reads nothing but what is known of the runs already.
    """
    if run.training_config is None:
        return SeedSpread()
    wanted = comparable_settings(run.training_config)
    figures_by_seed: dict[int, tuple[float, float]] = {}
    for candidate in (run, *every):
        config = candidate.training_config
        if config is None or candidate.state != "finished":
            continue
        # Most runs are of other settings, which is told by one of them sooner than by all.
        if config.members == run.config.members and comparable_settings(config) == wanted:
            metrics = read_reported_metrics(candidate)
            if metrics.accuracy is not None and metrics.nll is not None:
                figures_by_seed.setdefault(config.seed, (metrics.accuracy, metrics.nll))
    return SeedSpread(*zip(*figures_by_seed.values(), strict=True)) if figures_by_seed else SeedSpread()


@functools.lru_cache(maxsize=4096)
def comparable_settings(config: EnsembleConfig) -> dict[str, object]:
    return {**config.as_dict(), **_IGNORED_SETTINGS}
