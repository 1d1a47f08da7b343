"""How long a training step takes of what the ensemble's takes, by a short measurement here."""

import time
from typing import Any

import numpy as np

from ensemble import datasets
from ensemble.config import EnsembleConfig

_TURN_SECONDS, TURNS = 0.5, 3


def measure_step_time_ratio(ensemble: EnsembleConfig, single: EnsembleConfig) -> float:
    """Seconds of a step of the one, of those of a step of the other.

    The median over a few turns, in each of which both train for about half a second, one after the
    other: what else the machine does then slows both down. Compiling and testing are not in it.

    Args:
      ensemble: the settings of the one that is measured by; its dataset is on this machine.
      single: those of the other.

    Raises:
      NotPreparedError: the dataset is not.
    """
    both = _StepTimer(ensemble), _StepTimer(single)
    turns = [[steps.measure_seconds() for steps in both] for _ in range(TURNS)]
    return float(np.median([other / reference for reference, other in turns]))


class _StepTimer:
    """Some settings, ready to train: the first steps are done, which still warm up."""

    def __init__(self, config: EnsembleConfig) -> None:
        from ensemble.machine.jax_settings import prepare_jax

        prepare_jax()
        from ensemble.engine import Trainer

        self._trainer = Trainer(config, datasets.load_dataset(config.dataset))
        self._state: Any = self._trainer.start()
        self._train_steps(1)
        self._train_steps(1)

    def _train_steps(self, count: int) -> None:
        self._state, _ = self._trainer.train(self._state, 1, 0, count)

    def measure_seconds(self) -> float:
        """Of a step, the mean over about half a second."""
        done, began = 0, time.perf_counter()
        while not done or time.perf_counter() - began < _TURN_SECONDS:
            count = min(self._trainer.steps_per_epoch, max(1, done))
            self._train_steps(count)
            done += count
        return (time.perf_counter() - began) / done
