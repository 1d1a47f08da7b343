"""The operator against XLA's own convolution."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from ensemble.engine import conv


def arguments(shape: tuple[int, int, int, int], features: int) -> list[jax.Array]:
    draw = np.random.default_rng(sum(shape) + features)
    sizes = [shape, (3, 3, shape[-1], features), (features,)]
    return [jnp.asarray(draw.normal(size=size), jnp.float32) for size in sizes]


SHAPES = [(2, 28, 28, 1), (3, 14, 14, 32), (1, 7, 7, 3), (2, 5, 8, 2), (1, 2, 2, 1), (4, 9, 3, 5)]


@pytest.mark.parametrize("shape", SHAPES)
def test_equals_stock_convolution_and_pooling(shape):
    x, kernel, bias = arguments(shape, 6)
    got, want = conv.by_patches(x, kernel, bias), conv.by_lax(x, kernel, bias)
    assert got.shape == want.shape == (shape[0], shape[1] // 2, shape[2] // 2, 6)
    np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("shape", SHAPES[::2])
def test_gradients_equal_those_of_stock_convolution(shape):
    args = arguments(shape, 6)
    weights = jnp.asarray(np.random.default_rng(1).normal(size=conv.by_lax(*args).shape))

    def gradients(operator):
        return jax.grad(lambda *args: (operator(*args) * weights).sum(), argnums=(0, 1, 2))(*args)

    for got, want in zip(gradients(conv.by_patches), gradients(conv.by_lax), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-3, atol=1e-3 * np.abs(want).max())


def test_the_cpu_takes_patches_and_is_differentiable_in_a_loop():
    x, kernel, bias = arguments((2, 8, 8, 1), 4)

    def loss(kernel):
        return conv.conv_relu_pool(x, kernel, bias).sum()

    def step(kernel, _):
        return kernel - 0.01 * jax.grad(loss)(kernel), loss(kernel)

    _, losses = jax.jit(lambda kernel: jax.lax.scan(step, kernel, length=3))(kernel)
    assert losses[0] > losses[1] > losses[2]
