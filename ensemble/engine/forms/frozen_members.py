"""Members that are set aside stay as they are, also where others move beside them."""

import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from ensemble.engine.layout import Layout


class FrozenMembers:
    """For forms in which a device's lanes, or all devices, can only move together.

    Costs nothing while nobody is set aside.

    Args:
      layout: the devices.
      together: whether it is such a form; in others who does no steps is as before by itself.
    """

    def __init__(self, layout: Layout, together: bool = True) -> None:
        self._layout, self._together = layout, together

    def copy_state(self, state: Any, aside: np.ndarray) -> Any:
        """The state as it is before steps; None if nothing would change it.

        Args:
          state: leaves (D, …), or (D, K, …).
          aside: who is to stay, bool (D,) or (D, K).
        """
        if not self._together or not aside.any():
            return None
        return _build_restore_programs(self._layout)[0](state)

    def restore_members(self, state: Any, old: Any, aside: np.ndarray) -> Any:
        """The state with those set aside as they were in `old`; gives up `state`."""
        if old is None:
            return state
        return _build_restore_programs(self._layout)[1](state, old, self._layout.put_shards(aside))


@functools.lru_cache(maxsize=64)
def _build_restore_programs(layout: Layout) -> tuple[Callable[..., Any], Callable[..., Any]]:
    def copy_state(state: Any) -> Any:
        return jax.tree.map(jnp.copy, state)

    def restore_members(state: Any, old: Any, aside: Array) -> Any:
        def select_leaf(new: Array, old: Array) -> Array:
            stays = aside.reshape(aside.shape + (1,) * (new.ndim - aside.ndim))
            return jnp.where(stays, old, new)

        return jax.tree.map(select_leaf, state, old)

    return layout.pmap(copy_state), layout.pmap(restore_members, donate_argnums=0)
