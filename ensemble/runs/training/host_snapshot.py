"""The members as they are between two calls, brought to the host once for all who ask."""

import functools
from typing import Any

import jax
import numpy as np

from ensemble.runs.training.task_records import AnyTrainer


class HostSnapshot:
    """What a trainer's members hold now; to be let go of before they learn on.

    Args:
      trainer: whose.
      state: the members, on their devices.
    """

    def __init__(self, trainer: AnyTrainer, state: Any) -> None:
        self._trainer, self._state = trainer, state

    def select_state(self, own: slice) -> Any:
        """All that these members carry from step to step, leaves (M, …) in NumPy."""
        return jax.tree.map(lambda leaf: leaf[own], self._full_state)

    def select_params(self, own: slice) -> Any:
        """Their parameters alone: half of that."""
        return jax.tree.map(lambda leaf: leaf[own], self._full_params)

    @functools.cached_property
    def _full_state(self) -> Any:
        return self._trainer.get(self._state)

    @functools.cached_property
    def _full_params(self) -> Any:
        return self._trainer.get_params(self._state)


def copy_unless_owned(array: np.ndarray) -> np.ndarray:
    """The array, or its copy where its memory is a device's, which the next step uses again."""
    whole = array
    while isinstance(whole.base, np.ndarray):
        whole = whole.base
    return array if whole.flags.owndata else array.copy()
