"""The members as they are between two calls, brought to the host once for all who ask."""

import functools
from typing import Any

import jax

from ensemble.engine import Trainer


class Taken:
    """What a trainer's members hold now; to be let go of before they learn on.

    Args:
      trainer: whose.
      state: the members, on their devices.
    """

    def __init__(self, trainer: Trainer, state: Any) -> None:
        self._trainer, self._state = trainer, state

    def state(self, own: slice) -> Any:
        """All that these members carry from step to step, leaves (M, …) in NumPy."""
        return jax.tree.map(lambda leaf: leaf[own], self._whole)

    def params(self, own: slice) -> Any:
        """Their parameters alone: half of that."""
        return jax.tree.map(lambda leaf: leaf[own], self._params)

    @functools.cached_property
    def _whole(self) -> Any:
        return self._trainer.get(self._state)

    @functools.cached_property
    def _params(self) -> Any:
        return self._trainer.get_params(self._state)
