"""The compiled programs of an ensemble: one member's steps, mapped over lanes and devices."""

import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from ensemble.engine.forms.member_loops import compute_log_probabilities, run_train_steps
from ensemble.engine.layout import Layout
from ensemble.engine.networks.compiler_options import choose_compiler_options
from ensemble.engine.networks.network import Network
from ensemble.engine.step import MemberState, StepInputs, StepSettings
from ensemble.engine.trace_cache import cache_trace

EVALUATION_BLOCK_SIZE = 64  # whole chunks of images (conv_tower.py) in either precision
# What of a device's memory patches may take, which are there up to four times at once, and how much
# it has where it does not say.
_PATCH_MEMORY_SHARE, _USUAL_DEVICE_BYTES = 0.15, 8e9
# How one device does its members: by the fast operator for CPUs, one member after the other;
# side by side, their convolutions grouped into one, or as patches times matrix; by stock layers one
# after the other; or a step a call, one after the other.
# `python -m benchmarks.speed.gpu` and `python -m benchmarks.training.layouts` measure them.
EXECUTIONS = ("tower", "grouped", "patches", "scan", "stepwise")


def choose_execution(network: Network) -> str:
    """What is fastest on this platform.

    On a CPU a compiled loop costs least, but for convolutions that XLA does by a naive kernel there
    (stock_convolution.py tells why, and mends `nn.Conv`): those take a step a call.
    """
    if jax.default_backend() != "cpu":
        return "patches"
    if network.tower:
        return "tower"
    return "scan" if network.is_fast_in_loops else "stepwise"


def choose_training_execution(network: Network, lanes: int, batch_size: int, device: jax.Device) -> str:
    """What is fastest for so many members on each device, and leaves it room.

    Patches are kept for the gradients: where they would take much of a device's memory, members
    are trained side by side by grouped convolutions.
    """
    execution = choose_execution(network)
    if execution != "patches":
        return execution
    memory = (device.memory_stats() or {}).get("bytes_limit", _USUAL_DEVICE_BYTES)
    patch_bytes = 4 * lanes * batch_size * network.patch_numbers
    return execution if patch_bytes <= _PATCH_MEMORY_SHARE * memory else "grouped"


@functools.lru_cache(maxsize=256)
def build_member_programs(
    devices: tuple[jax.Device, ...], settings: StepSettings, rows: int, shares_order: bool = False
) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """Training steps, at most `rows` a call, and evaluation on these devices: (train, evaluate).

    With `shares_order` all members of a device have the same batches. Made once a process, so that
    a second Trainer compiles nothing that a first one has.
    """
    layout = Layout(len(devices), devices)
    network, arithmetic = settings.network, settings.arithmetic

    def train_member(state: MemberState, own: Any, span: Any, shared: Any) -> Any:
        return run_train_steps(settings, rows, state, StepInputs(*own, *shared), *span)

    def evaluate_member(log_p: Array, own: Any, span: Any, shared: Any) -> tuple[Array, tuple[()]]:
        return compute_log_probabilities(network, log_p, *own, *span, *shared, arithmetic=arithmetic), ()

    train = map_over_lanes(train_member, arithmetic.execution, shares_first=shares_order)
    evaluate = map_over_lanes(evaluate_member, arithmetic.execution)
    train = cache_trace("train", train, *settings, rows, shares_order)
    evaluate = cache_trace("evaluate", evaluate, network, arithmetic)
    options = choose_compiler_options(network)
    return (
        layout.pmap(train, donate_argnums=0, compiler_options=options),
        layout.pmap(evaluate, donate_argnums=0, compiler_options=options),
    )


def map_over_lanes(function: Callable[..., Any], form: str, shares_first: bool = False) -> Callable[..., Any]:
    """`function(member, own, (start, count), shared)`, a member and metrics, for every lane.

    The result takes (members, own, spans, shared), spans being starts and counts: all but
    `shared` have a leading axis K. A count of 0 costs nothing where lanes run one after the
    other; side by side all lanes start at one place, and go as far as the longest.

    Where `shares_first` says that the first of `own` is the same for all lanes, lanes side by side
    do what depends on it alone once.
    """

    def scan_lanes(members: Any, own: Any, spans: Any, shared: Any) -> Any:
        def run_lane(members: Any, args: Any) -> tuple[Any, Any]:
            number, own, span = args
            member = jax.tree.map(lambda leaf: lax.dynamic_index_in_dim(leaf, number, keepdims=False), members)
            member, metrics = function(member, own, span, shared)
            return jax.tree.map(
                lambda leaf, new: lax.dynamic_update_index_in_dim(leaf, new, number, 0), members, member
            ), metrics

        # Carried, so that new members take the places of the old: mapped over, all would be twice.
        return lax.scan(run_lane, members, (jnp.arange(len(spans[0])), own, spans))

    def vmap_lanes(members: Any, own: Any, spans: Any, shared: Any) -> Any:
        span = [each.max() for each in spans]
        axes: list[int | None] = [0] * len(own)
        if shares_first:
            own, axes[0] = (own[0][0], *own[1:]), None
        return jax.vmap(lambda member, own: function(member, own, span, shared), in_axes=(0, tuple(axes)))(members, own)

    return scan_lanes if is_sequential_execution(form) else vmap_lanes


def is_sequential_execution(form: str) -> bool:
    return form in ("tower", "scan")


def split_into_blocks(images: np.ndarray, block: int = EVALUATION_BLOCK_SIZE) -> np.ndarray:
    """(N, …) to (blocks, `block`, …), the last one filled up with zeros."""
    missing = -len(images) % block
    padded = np.concatenate([images, np.zeros((missing, *images.shape[1:]), images.dtype)])
    return padded.reshape(-1, block, *images.shape[1:])
