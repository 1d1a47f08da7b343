"""How bfloat16 is multiplied in a tower: by a short measurement on this machine, kept for it.

Of the convolutions and of the first dense layer, forward and backward on a few images, each way to
multiply takes turns with the others, on all devices at once, and the quickest turn counts. Which
ways there are: cpu_products.py.
"""

import contextlib
import functools
import logging
import time
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from ensemble.config import EnsembleConfig
from ensemble.engine.layout import Layout
from ensemble.engine.networks.arithmetic import Arithmetic
from ensemble.engine.networks.conv_tower import apply_conv_tower
from ensemble.engine.networks.cpu_products import build_dense_product, multiply_matrices
from ensemble.engine.networks.network import Network
from ensemble.machine.bfloat16_plans import (
    CONVOLUTION_METHODS,
    DENSE_METHODS,
    Bfloat16Methods,
    Bfloat16Plan,
    PlanKey,
    load_bfloat16_plan,
    save_bfloat16_plan,
)
from ensemble.machine.processor import detect_processor

TRIAL_IMAGES, _TRIAL_STEPS, TRIAL_TURNS = 64, 3, 6
EMULATED_METHODS = Bfloat16Methods("rounded", "rounded")


def choose_bfloat16_methods(network: Network) -> Bfloat16Methods:
    """How to multiply in bfloat16: as planned, which is measured now where it never was."""
    if not detect_processor().fast_bfloat16:  # Nothing to choose: it is rounded, and multiplied as ever.
        return EMULATED_METHODS
    plan = load_bfloat16_plan(_build_plan_key(network))
    return (plan or remeasure_bfloat16_plan(network)).methods


def extract_bfloat16_methods(arithmetic: Arithmetic) -> Bfloat16Methods | None:
    """The products of an arithmetic that `choose_arithmetic` gave; None if it had no choice."""
    return Bfloat16Methods(arithmetic.precision, arithmetic.dense) if arithmetic.dense else None


def choose_arithmetic(
    config: EnsembleConfig, form: str, network: Network, products: Bfloat16Methods | None = None
) -> Arithmetic:
    """How a run's sums are done in a form; `products` are those it was begun with, if any."""
    if config.precision != "bfloat16" or form != "tower":
        return Arithmetic(form, config.precision)
    had = products or choose_bfloat16_methods(network)
    return Arithmetic(form, had.convolutions, had.dense)


def remeasure_bfloat16_plan(network: Network) -> Bfloat16Plan:
    plan = measure_bfloat16_plan(network)
    with contextlib.suppress(OSError):  # A full disk: measured again next time.
        save_bfloat16_plan(_build_plan_key(network), plan)
    logging.getLogger("ensemble").info(
        "Measured the fastest way to multiply bfloat16 here: convolutions by %s, dense layers "
        "by %s; %.2f times as fast as float32.",
        plan.convolutions,
        plan.dense,
        plan.gain,
    )
    return plan


def measure_bfloat16_plan(network: Network) -> Bfloat16Plan:
    """What takes least time for a network's layers, and how much less than float32."""
    image, *kernels = _list_layer_shapes(network)
    convolutions, weights = kernels[:-1], kernels[-1]
    fast = detect_processor().fast_bfloat16
    timings = [
        _time_methods({method: functools.partial(way, method) for method in ("float32", *choices)}, first, shapes)
        for way, first, shapes, choices in (
            # Only adversarial training asks for an image's gradient.
            (
                _sum_convolutions,
                1,
                ((TRIAL_IMAGES, *image), *convolutions),
                CONVOLUTION_METHODS if fast else (EMULATED_METHODS.convolutions,),
            ),
            (
                _sum_dense_product,
                0,
                ((TRIAL_IMAGES, weights[0]), weights),
                DENSE_METHODS if fast else (EMULATED_METHODS.dense,),
            ),
        )
    ]
    usual = sum(each.pop("float32") for each in timings)
    convolved, dense = (min(each, key=each.__getitem__) for each in timings)
    return Bfloat16Plan(
        convolved, dense, round(usual / sum(map(min, (by_method.values() for by_method in timings))), 3)
    )


def _build_plan_key(network: Network) -> PlanKey:
    return PlanKey(network.name, network.width, tuple(map(int, network.image_shape)))


def _list_layer_shapes(network: Network) -> list[tuple[int, ...]]:
    shapes = network.shapes
    names = sorted(name for name in shapes if name.startswith("Conv_") and name.endswith("kernel"))
    return [network.image_shape, *(shapes[name].shape for name in (*names, "Dense_0/kernel"))]


def _sum_convolutions(precision: str, x: Array, *kernels: Array) -> Array:
    layers = [(kernel, jnp.zeros(kernel.shape[-1])) for kernel in kernels]
    return apply_conv_tower(x, layers, "tower", precision).sum()


def _sum_dense_product(precision: str, x: Array, weights: Array) -> Array:
    dense_product = build_dense_product(precision)
    product = dense_product(x, weights, None) if dense_product else multiply_matrices(x, weights)
    return (product * product).sum()


def _time_methods(ways: dict[str, Callable[..., Array]], first: int, shapes: Any) -> dict[str, float]:
    """The least time that each way takes for some passes, forward and backward, in turns.

    Gradients are taken by all arrays of these shapes from number `first` on.
    """
    devices = tuple(jax.local_devices())
    layout = Layout(len(devices), devices)
    draw = np.random.default_rng(0)
    arrays = [jnp.asarray(np.broadcast_to(draw.random(shape, np.float32), (len(devices), *shape))) for shape in shapes]

    def compile_passes(way: Callable[..., Array]) -> Callable[..., Any]:
        def run_passes(*arrays: Array) -> Any:
            def run_pass(_: int, arrays: Any) -> Any:
                # What one pass gives, the next takes: or the compiler would do it once.
                grads = jax.grad(way, argnums=tuple(range(first, len(arrays))))(*arrays)
                moved = [a - 1e-30 * g for a, g in zip(arrays[first:], grads, strict=True)]
                return (*arrays[:first], *moved)

            return lax.fori_loop(0, _TRIAL_STEPS, run_pass, arrays)

        return layout.pmap(run_passes)

    programs = {name: compile_passes(way) for name, way in ways.items()}
    least = dict.fromkeys(programs, float("inf"))
    for turn in range(TRIAL_TURNS + 1):
        for name, program in programs.items():
            began = time.perf_counter()
            jax.block_until_ready(program(*arrays))
            if turn:  # The first compiles.
                least[name] = min(least[name], time.perf_counter() - began)
    return least
