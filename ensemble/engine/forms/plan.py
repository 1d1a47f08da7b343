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
from ensemble.engine.forms.programs import usual_form
from ensemble.engine.networks.arithmetic import Arithmetic
from ensemble.engine.networks.convolution import conv_tower
from ensemble.engine.networks.cpu_products import dense_product, product
from ensemble.engine.networks.network import Network
from ensemble.machine.processor import processor
from ensemble.machine.product_plans import (
    CONVOLUTIONS,
    DENSE,
    Plan,
    Products,
    Purpose,
    keep,
    planned,
)

IMAGES, STEPS, TURNS = 64, 3, 6
EMULATED = Products("rounded", "rounded")


def products_of(network: Network) -> Products:
    """How to multiply in bfloat16: as planned, which is measured now where it never was."""
    if not processor().fast_bfloat16:  # Nothing to choose: it is rounded, and multiplied as ever.
        return EMULATED
    plan = planned(_purpose(network))
    return (plan or plan_anew(network)).products


def planned_products(config: EnsembleConfig, network: Network) -> Products | None:
    """How a run is to multiply that begins now; None where there is nothing to choose."""
    return products_in(arithmetic_of(config, usual_form(network), network))


def products_in(arithmetic: Arithmetic) -> Products | None:
    """The products of an arithmetic that `arithmetic_of` gave; None where it had no choice."""
    return Products(arithmetic.precision, arithmetic.dense) if arithmetic.dense else None


def arithmetic_of(
    config: EnsembleConfig, form: str, network: Network, products: Products | None = None
) -> Arithmetic:
    """How a run's sums are done in a form; `products` are those it was begun with, if any."""
    if config.precision != "bfloat16" or form != "tower":
        return Arithmetic(form, config.precision)
    had = products or products_of(network)
    return Arithmetic(form, had.convolutions, had.dense)


def plan_anew(network: Network) -> Plan:
    """Measure, and keep what is found for all later processes."""
    plan = measured(network)
    with contextlib.suppress(OSError):  # A full disk: measured again next time.
        keep(_purpose(network), plan)
    logging.getLogger("ensemble").info(
        "Measured how bfloat16 is multiplied fastest here: convolutions by %s, dense layers by %s; "
        "%.2f times as fast as float32.",
        plan.convolutions,
        plan.dense,
        plan.gain,
    )
    return plan


def measured(network: Network) -> Plan:
    """What takes least time for a network's layers, and how much less than float32."""
    image, *kernels = _layers(network)
    convolutions, weights = kernels[:-1], kernels[-1]
    fast = processor().fast_bfloat16
    found = [
        _seconds({one: functools.partial(way, one) for one in ("float32", *choices)}, first, shapes)
        for way, first, shapes, choices in (
            # Nobody asks for an image's gradient.
            (
                _convolve,
                1,
                ((IMAGES, *image), *convolutions),
                CONVOLUTIONS if fast else (EMULATED.convolutions,),
            ),
            (_multiply, 0, ((IMAGES, weights[0]), weights), DENSE if fast else (EMULATED.dense,)),
        )
    ]
    usual = sum(each.pop("float32") for each in found)
    convolved, dense = (min(each, key=each.__getitem__) for each in found)
    return Plan(convolved, dense, round(usual / sum(map(min, (one.values() for one in found))), 3))


def _purpose(network: Network) -> Purpose:
    return Purpose(network.name, network.width, tuple(map(int, network.image_shape)))


def _layers(network: Network) -> list[tuple[int, ...]]:
    """The shape of an image, of each convolution's kernel and of the first dense layer's."""
    shapes = network.shapes
    names = sorted(name for name in shapes if name.startswith("Conv_") and name.endswith("kernel"))
    return [network.image_shape, *(shapes[name].shape for name in (*names, "Dense_0/kernel"))]


def _convolve(precision: str, x: Array, *kernels: Array) -> Array:
    layers = [(kernel, jnp.zeros(kernel.shape[-1])) for kernel in kernels]
    return conv_tower(x, layers, "tower", precision).sum()


def _multiply(precision: str, x: Array, weights: Array) -> Array:
    found = dense_product(precision)
    made = found(x, weights, None) if found else product(x, weights)
    return (made * made).sum()


def _seconds(ways: dict[str, Callable[..., Array]], first: int, shapes: Any) -> dict[str, float]:
    """The least time that each way takes for some passes, forward and backward, in turns.

    Gradients are taken by all arrays of these shapes from number `first` on.
    """
    devices = jax.local_devices()
    draw = np.random.default_rng(0)
    arrays = [
        jnp.asarray(np.broadcast_to(draw.random(shape, np.float32), (len(devices), *shape)))
        for shape in shapes
    ]

    def compiled(way: Callable[..., Array]) -> Callable[..., Any]:
        def passes(*arrays: Array) -> Any:
            def one(_: int, arrays: Any) -> Any:
                # What one pass gives, the next takes: or the compiler would do it once.
                grads = jax.grad(way, argnums=tuple(range(first, len(arrays))))(*arrays)
                moved = [a - 1e-30 * g for a, g in zip(arrays[first:], grads, strict=True)]
                return (*arrays[:first], *moved)

            return lax.fori_loop(0, STEPS, one, arrays)

        return jax.pmap(passes, devices=devices)  # Those of this host.

    programs = {name: compiled(way) for name, way in ways.items()}
    least = dict.fromkeys(programs, float("inf"))
    for turn in range(TURNS + 1):
        for name, program in programs.items():
            began = time.perf_counter()
            jax.block_until_ready(program(*arrays))
            if turn:  # The first compiles.
                least[name] = min(least[name], time.perf_counter() - began)
    return least
