"""What a trained ensemble makes of images that it has not seen."""

import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from ensemble.engine.networks.arithmetic import to_unit
from ensemble.engine.networks.network import Network
from ensemble.engine.trace_cache import cached


def predict_probabilities(network: Network, params: Any, images: np.ndarray) -> np.ndarray:
    """Every member's probabilities, float32 (M, N, C).

    Args:
      network: what the members are.
      params: the members' parameters, leaves (M, …).
      images: uint8 (N, H, W, channels).

    One program serves all N up to the next power of two.
    """
    room = 1 << max(len(images) - 1, 0).bit_length()
    padded = np.zeros((room, *images.shape[1:]), np.uint8)
    padded[: len(images)] = images
    return np.asarray(_program(network)(params, padded))[:, : len(images)]


@functools.lru_cache(maxsize=64)
def _program(network: Network) -> Callable[..., Any]:
    def one(params: Any, images: Array) -> Array:
        return jax.nn.softmax(network.apply(params, to_unit(images)))

    return each_member("predict", network, one)


def each_member(name: str, network: Network, one: Callable[..., Any]) -> Callable[..., Any]:
    """`one(params, images)` of one member, for members (M, …): its results, stacked along M.

    Where loops are no bargain (forms/programs.py), a call for each member; else one for all, the
    members one by one, each with the caches to itself.

    Args:
      name: what the trace is cached under.
      network: what the members are.
      one: gives an array, or a tuple of them.
    """
    if network.fast_in_loops or jax.default_backend() != "cpu":

        def members(params: Any, images: Array) -> Any:
            return jax.lax.map(lambda params: one(params, images), params)

        return jax.jit(cached(name, members, network))

    def member(params: Any, m: Array, images: Array) -> Any:
        return one(jax.tree.map(lambda leaf: leaf[m], params), images)

    compiled = jax.jit(cached(f"{name} one", member, network))

    def in_turn(params: Any, images: Any) -> Any:
        params = jax.tree.map(jnp.asarray, params)
        count = len(jax.tree.leaves(params)[0])
        found = [compiled(params, np.int32(m), images) for m in range(count)]
        return jax.tree.map(lambda *each: np.stack([np.asarray(x) for x in each]), *found)

    return in_turn
