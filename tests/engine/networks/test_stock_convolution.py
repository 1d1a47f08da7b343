"""Stock convolutions keep their numbers, and in a compiled loop their speed."""

import functools
import re
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import linen as nn
from jax import Array

from ensemble.engine.networks.custom import linen_calls
from ensemble.engine.networks.patch_convolution import convolve_by_patches
from ensemble.engine.networks.stock_convolution import use_convolution, use_fast_convolutions

# What XLA's CPU backend gives to its fast library: images (B, H, W, C), kernel (kh, kw, I, O).
FAST = "b01f_01io->b01f"


def gradients(
    layer: nn.Module, images: Array, convolutions: Callable[[], Any] = use_fast_convolutions
) -> tuple[Any, Any]:
    """Gradients of a function of a layer's output, for its weights and images: ours, and JAX's."""

    def value(weights: Any, images: Array) -> Array:
        return jnp.sin(layer.apply(weights, images)).sum()

    def both(images: Array) -> tuple[Any, Any]:
        weights = layer.init(jax.random.key(0), images)
        with convolutions():
            ours = jax.grad(value, (0, 1))(weights, images)
        return ours, jax.grad(value, (0, 1))(weights, images)

    return jax.jit(both)(images)


by_patches = functools.partial(use_convolution, convolve_by_patches)


@pytest.mark.long_cases
@pytest.mark.parametrize("convolutions", [use_fast_convolutions, by_patches])
@pytest.mark.parametrize(
    ("size", "options"),
    [
        ((11, 10, 3), {"strides": (2, 3)}),
        ((11, 12, 3), {"strides": 2, "padding": "VALID", "kernel_size": (4, 3)}),
        ((8, 9, 3), {"padding": ((0, 3), (4, 1)), "kernel_dilation": 2}),
        ((10, 9, 3), {"kernel_size": (1, 1), "strides": 2}),
        ((9, 9, 4), {"feature_group_count": 2, "strides": 2}),
        ((7, 9, 6), {"feature_group_count": 6, "kernel_dilation": (2, 1)}),
        ((6, 7, 3), {"padding": "CIRCULAR", "dtype": jnp.bfloat16}),
        ((6, 7, 3), {"input_dilation": 2, "padding": 1}),
    ],
)
def test_a_convolution_has_the_gradients_that_jax_derives(
    size: tuple[int, ...], options: dict[str, Any], convolutions: Callable[[], Any]
) -> None:
    images = jnp.asarray(np.random.default_rng(0).normal(size=(2, *size)), jnp.float32)
    layer = nn.Conv(12, **{"kernel_size": (3, 3), **options})
    found, expected = gradients(layer, images, convolutions)
    tolerance = 2e-2 if "dtype" in options else 1e-5
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, tolerance, tolerance * 10), found, expected)


def test_a_convolution_of_one_dimension_stays_as_it_is() -> None:
    layer, words = nn.Conv(4, (3,)), jnp.arange(24.0).reshape(2, 6, 2) / 24
    found, expected = gradients(layer, words)
    jax.tree.map(np.testing.assert_array_equal, found, expected)


class Few(nn.Module):
    """Two convolutions, the second with a stride, and a dense layer."""

    @nn.compact
    def __call__(self, x: Array) -> Array:
        x = nn.relu(nn.Conv(8, (3, 3))(x))
        x = nn.relu(nn.Conv(8, (3, 3), strides=2)(x))
        return nn.Dense(3)(x.reshape(len(x), -1))


def test_in_a_loop_every_convolution_of_a_training_step_is_one_that_the_library_does() -> None:
    module, images = Few(), jnp.ones((4, 9, 9, 2))
    weights = module.init(jax.random.key(0), images)

    def learn(weights: Any) -> Any:
        with use_fast_convolutions():
            logits, _ = linen_calls.apply_for_training(module, weights, images, None)
        return jax.nn.logsumexp(logits)

    def step(_: int, weights: Any) -> Any:
        return jax.tree.map(lambda w, g: w - 0.1 * g, weights, jax.grad(learn)(weights))

    loop = jax.jit(lambda w: jax.lax.fori_loop(0, 3, step, w)).lower(weights).compile()
    orders = re.findall(r" convolution\(.*dim_labels=(\S+?),", loop.as_text())
    assert len(orders) == 5  # two forward, two kernels' gradients, one images'
    assert set(orders) == {FAST}
