"""The tower's forms against XLA's own convolution, in double precision."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from ensemble.engine.networks import conv_tower
from tests.conftest import variant
from tests.engine.conftest import plainly_compiled

SHAPES = [(2, 28, 28, 1), (3, 14, 14, 32), (1, 7, 8, 3), (5, 4, 3, 6)]


def by_windows(x, kernel, bias, precision="float32"):
    """cpu_windows.py's operator as the others are called: one layer."""
    return conv_tower.apply_layers_by_windows(x, [(kernel, bias)], precision)


def drawn(shape, features, seed=0):
    draw = np.random.default_rng(seed)
    return [draw.normal(size=size) for size in [shape, (3, 3, shape[-1], features), (features,)]]


def value_with_gradients(operator, args, weights):
    y, pull = jax.vjp(operator, *args)
    return y, pull(weights)


value_and_gradients = jax.jit(value_with_gradients, static_argnums=0)
of_reference = plainly_compiled(value_with_gradients, static_argnums=0)


def conv_in_double(x, kernel, bias):
    return conv_tower.apply_lax_layer(x, kernel, bias, "float64")


def compared(operator, args, seed=1, wanted_of=conv_in_double):
    """(got, wanted) for the value and each gradient; wanted is `lax.conv`'s in float64."""
    with jax.enable_x64(True):
        shape = jax.eval_shape(wanted_of, *args).shape
        weights = np.random.default_rng(seed).normal(size=shape)
        wanted = jax.device_get(of_reference(wanted_of, args, weights))
    single = [np.float32(one) for one in args]
    got = jax.device_get(value_and_gradients(operator, single, np.float32(weights)))
    return zip(jax.tree.leaves(got), jax.tree.leaves(wanted), strict=True)


@pytest.mark.parametrize(
    ("operator", "shape"),
    [
        (by_windows, SHAPES[3]),
        *(variant(by_windows, shape) for shape in SHAPES[:3]),
        (conv_tower.apply_im2col_layer, SHAPES[2]),
    ],
)
def test_value_and_gradients_equal_those_of_stock_convolution(operator, shape):
    for got, wanted in compared(operator, drawn(shape, 6)):
        assert got.shape == wanted.shape
        np.testing.assert_allclose(got, wanted, rtol=0, atol=3e-6 * np.abs(wanted).max())


# Odd sizes, every remainder modulo 4, three layers. Those in bfloat16 are quick to compile.
@pytest.mark.long
@pytest.mark.parametrize(
    ("height", "width", "features", "precision"),
    [(13, 15, (4, 3), "float32"), variant(6, 8, (3, 2), "bfloat16"), variant(19, 26, (3, 2, 2), "bfloat16")],
)
def test_layers_follow_one_another_on_images_of_any_size(height, width, features, precision):
    draw = np.random.default_rng(2)
    args = [np.abs(draw.normal(size=(9, height, width, 1)))]
    for before, after in zip((1, *features), features, strict=False):
        args += [np.abs(draw.normal(size=(3, 3, before, after))), draw.normal(size=after)]

    def tower(x, *weights):
        layers = zip(weights[::2], weights[1::2], strict=True)
        if x.dtype == "float64":
            return conv_tower.apply_layers_in_turn(conv_tower.apply_lax_layer, x, list(layers), "float64")
        return conv_tower.apply_layers_by_windows(x, list(layers), precision)

    far = 1e-5 if precision == "float32" else 2**-6
    for got, wanted in compared(tower, args, wanted_of=tower):
        assert got.shape == wanted.shape
        np.testing.assert_allclose(got, wanted, rtol=0, atol=far * np.abs(wanted).max())


@pytest.mark.parametrize("operator", [by_windows, conv_tower.apply_im2col_layer, conv_tower.apply_lax_layer])
def test_reduced_precision_rounds_factors_and_nothing_else(operator):
    def reduced(x, kernel, bias):
        return operator(x, kernel, bias, "bfloat16")

    # A bias that keeps every z from 0: where a gradient is let through does not hang on rounding.
    x, kernel, bias = drawn((4, 8, 8, 3), 5)
    pairs = compared(reduced, [np.abs(x), np.abs(kernel), np.abs(bias) + 1])
    errors = [np.abs(got - wanted).max() / np.abs(wanted).max() for got, wanted in pairs]
    # By patches the gradients of nine places are rounded before they are added, and their sums as
    # well since JAX 0.12.
    assert max(errors) < (2**-5 if operator is conv_tower.apply_im2col_layer else 2**-7)
    assert errors[0] > 1e-5, "bfloat16 was asked for"


@pytest.mark.parametrize("channels", [1, variant(3)])
def test_rounded_is_bfloat16_where_nothing_multiplies_it(channels):
    x, kernel, bias = drawn((4, 9, 6, channels), 5)
    args = [np.float32(one) for one in (x, kernel, bias)]
    weights = np.float32(np.random.default_rng(1).normal(size=(4, 4, 3, 5)))

    def of(precision):
        def operator(x, kernel, bias):
            return by_windows(x, kernel, bias, precision)

        return jax.tree.leaves(jax.device_get(value_and_gradients(operator, args, weights)))

    rounded, wanted, exact = map(of, ("rounded", "bfloat16", "float32"))
    for got, reduced in zip(rounded, wanted, strict=True):
        np.testing.assert_allclose(got, reduced, rtol=0, atol=2e-6 * np.abs(reduced).max())
    assert np.abs(rounded[2] - exact[2]).max() > 1e-4 * np.abs(exact[2]).max(), "bfloat16 it was"


# Below, at and above a chunk of either precision, and far from dividing.
@pytest.mark.long_cases
@pytest.mark.parametrize(
    ("size", "precision"),
    [
        (9, "float32"),
        (33, "bfloat16"),
        (17, "bfloat16_winograd"),
        variant(1, "float32"),
        variant(131, "float32"),
        variant(1, "bfloat16"),
        variant(9, "rounded"),
    ],
)
def test_a_batch_of_any_size_goes_through_both_layers(size, precision):
    draw = np.random.default_rng(size)
    x = np.float32(draw.normal(size=(size, 8, 8, 1)))
    layers = [
        tuple(np.float32(draw.normal(size=s)) for s in ((3, 3, 1, 4), (4,))),
        tuple(np.float32(draw.normal(size=s)) for s in ((3, 3, 4, 3), (3,))),
    ]
    got = jax.jit(conv_tower.apply_conv_tower, static_argnums=(2, 3))(x, layers, "tower", precision)
    wanted = conv_tower.apply_layers_in_turn(conv_tower.apply_lax_layer, x, layers, "float32")
    assert got.shape == wanted.shape == (size, 2, 2, 3)
    far = 1e-5 if precision == "float32" else 0.02
    np.testing.assert_allclose(got, wanted, rtol=0, atol=far * np.abs(wanted).max())


def test_a_cpu_takes_windows_unasked_and_can_train_in_a_loop():
    x, kernel, bias = (jnp.asarray(one, jnp.float32) for one in drawn((2, 8, 8, 1), 4))

    def loss(kernel, form):
        return conv_tower.apply_conv_tower(x, [(kernel, bias)], form, "float32").sum()

    def step(kernel, _):
        return kernel - 0.01 * jax.grad(loss)(kernel, ""), loss(kernel, "")

    _, losses = jax.jit(lambda kernel: jax.lax.scan(step, kernel, length=3))(kernel)
    assert losses[0] > losses[1] > losses[2]
    program = jax.jit(lambda kernel: loss(kernel, "")).lower(kernel).compile().as_text()
    assert "convolution(" not in program
