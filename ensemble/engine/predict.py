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
from ensemble.errors import ConfigError

_SAMPLING_BATCH_SIZE = 256  # images of a pass that are drawn for at once


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


def sample_probabilities(network: Network, params: Any, images: np.ndarray, passes: int, seed: int = 0) -> np.ndarray:
    """Every member's probabilities with dropout left on, averaged over passes: float32 (M, N, C).

    Args:
      network: what the members are; its training pass draws random numbers.
      params: the members' parameters, leaves (M, …).
      images: uint8 (N, H, W, channels).
      passes: T, over how many passes, each with draws of its own.
      seed: of the draws.

    Raises:
      ConfigError: the network draws nothing, or carries statistics that a training pass changes.

    Source: Y. Gal and Z. Ghahramani, "Dropout as a Bayesian approximation", ICML 2016.
    """
    if not network.is_stochastic:
        raise ConfigError(f"The network {network.name} has no dropout: there is nothing to sample from it.")
    if network.collections:
        raise ConfigError(
            f"The network {network.name} carries {', '.join(network.collections)} besides its "
            "parameters, which a pass with dropout would compute from the test images: "
            "dropout is only sampled from networks without these."
        )
    size, sample = min(_SAMPLING_BATCH_SIZE, len(images)), _build_sampling_program(network)
    members = len(jax.tree.leaves(params)[0])
    total = np.zeros((members, len(images), network.classes))
    for m in range(members):
        member = jax.tree.map(lambda leaf, m=m: jnp.asarray(leaf[m]), params)
        for first in range(0, len(images), size):
            block = images[first : first + size]
            padded = np.zeros((size, *images.shape[1:]), np.uint8)
            padded[: len(block)] = block
            for t in range(passes):
                probabilities = sample(member, padded, np.array([seed, m, first, t], np.uint32))
                total[m, first : first + size] += np.asarray(probabilities)[: len(block)]
    return (total / passes).astype(np.float32)


@functools.lru_cache(maxsize=64)
def _build_sampling_program(network: Network) -> Callable[..., Any]:
    def sample_member(params: Any, images: Array, draw: Array) -> Array:
        key = jax.random.key(draw[0])
        for number in (draw[1], draw[2], draw[3]):
            key = jax.random.fold_in(key, number)
        return jax.nn.softmax(network.apply_in_training(*network.split_params(params), scale_to_unit(images), key)[0])

    return jax.jit(cache_trace("sample", sample_member, network), compiler_options=choose_compiler_options(network))


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
