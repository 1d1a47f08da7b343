"""How far runs lie apart that differ in the seed alone: what no interval of one run can tell."""

import functools
from collections.abc import Sequence
from dataclasses import dataclass

from ensemble import runs
from ensemble.comparison.settings import PLACE
from ensemble.config import EnsembleConfig

# A member does not depend on where it is trained, nor on the number of the seed.
NOT_COMPARED = dict.fromkeys(("seed", *PLACE), 0)


@dataclass(frozen=True)
class Seeds:
    """What finished runs got that differ in the seed alone, newest first; one run a seed.

    Attributes:
      accuracies: (K,), their ensembles' after the last epoch, on the test images, in [0, 1].
      nlls: (K,), nats.
    """

    accuracies: tuple[float, ...] = ()
    nlls: tuple[float, ...] = ()


def seeds(run: runs.Run, every: Sequence[runs.Run]) -> Seeds:
    """The figures of the finished runs of `every` that differ from `run` in the seed alone.

    `run` is one of them where it is finished. A seed that was run twice gave the same numbers
    twice, and counts once. Reads nothing but what is known of the runs already.
    """
    if run.trained is None:
        return Seeds()
    wanted = settings(run.trained)
    found: dict[int, tuple[float, float]] = {}
    for one in (run, *every):
        accuracy, nll = one.status.ensemble_test_accuracy, one.status.ensemble_test_nll
        config = one.trained
        if config is None or one.state != "finished" or accuracy is None or nll is None:
            continue
        # Most runs are of other settings, which is told by one of them sooner than by all.
        if config.members == run.config.members and settings(config) == wanted:
            found.setdefault(config.seed, (accuracy, nll))
    return Seeds(*zip(*found.values(), strict=True)) if found else Seeds()


@functools.lru_cache(maxsize=4096)
def settings(config: EnsembleConfig) -> dict[str, object]:
    """All that two runs have to have in common."""
    return {**config.as_dict(), **NOT_COMPARED}
