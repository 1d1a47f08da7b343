"""What a trained ensemble makes of images that it has not seen."""

import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from ensemble.engine.networks.arithmetic import scale_to_unit
from ensemble.engine.networks.compiler_options import choose_compiler_options
from ensemble.engine.networks.network import Network
from ensemble.engine.trace_cache import cache_trace


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
    return np.asarray(_build_probability_program(network)(params, padded))[:, : len(images)]


@functools.lru_cache(maxsize=64)
def _build_probability_program(network: Network) -> Callable[..., Any]:
    def predict_member(params: Any, images: Array) -> Array:
        return jax.nn.softmax(network.apply(params, scale_to_unit(images)))

    return map_over_members("predict", network, predict_member)


def map_over_members(name: str, network: Network, member_function: Callable[..., Any]) -> Callable[..., Any]:
    """`one(params, images)` of one member, for members (M, …): its results, stacked along M.

    Where loops are no bargain (forms/member_programs.py), a call for each member; else one for all,
    the members one by one, each with the caches to itself.
    """
    if network.is_fast_in_loops or jax.default_backend() != "cpu":

        def map_members(params: Any, images: Array) -> Any:
            return jax.lax.map(lambda params: member_function(params, images), params)

        return jax.jit(cache_trace(name, map_members, network), compiler_options=choose_compiler_options(network))

    def run_member(params: Any, m: Array, images: Array) -> Any:
        return member_function(jax.tree.map(lambda leaf: leaf[m], params), images)

    compiled = jax.jit(
        cache_trace(f"{name} one", run_member, network), compiler_options=choose_compiler_options(network)
    )

    def run_members_in_turn(params: Any, images: Any) -> Any:
        params = jax.tree.map(jnp.asarray, params)
        count = len(jax.tree.leaves(params)[0])
        results = [compiled(params, np.int32(m), images) for m in range(count)]
        return jax.tree.map(lambda *each: np.stack([np.asarray(x) for x in each]), *results)

    return run_members_in_turn
