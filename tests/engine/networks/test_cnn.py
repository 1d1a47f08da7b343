"""Our network and Flax's stock layers are the same network."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import linen as nn

from benchmarks.speed import howto_loop
from ensemble.engine.draws import random_keys
from ensemble.engine.networks.arithmetic import DEFAULT_ARITHMETIC, Arithmetic, scale_to_unit
from ensemble.engine.networks.registry import bind_network
from ensemble.engine.predict import predict_probabilities
from ensemble.engine.step import create_members
from tests.conftest import variant
from tests.engine.conftest import plainly_compiled, stock
from tests.networks import CNN

INIT = jax.jit(CNN.init)


def test_first_parameters_are_those_of_stock_layers():
    key = jax.random.key(7)
    # As `init` draws them, without the forward pass that it throws away.
    image = jax.ShapeDtypeStruct((1, 28, 28, 1), np.float32)
    wanted = jax.jit(lambda key: howto_loop.CNN().lazy_init(key, image))(key)["params"]
    jax.tree.map(np.testing.assert_array_equal, INIT(key), wanted)


def test_members_start_where_the_howto_starts_them():
    _, init_rng = jax.random.split(jax.random.key(5))
    wanted = [INIT(key) for key in jax.random.split(init_rng, 3)]
    got = create_members(CNN, 5, 3).params
    for member, params in enumerate(wanted):
        jax.tree.map(lambda a, b, m=member: np.testing.assert_array_equal(a[m], b), got, params)


def test_a_member_starts_the_same_in_any_ensemble():
    few, many = random_keys.derive_member_keys(3, 2), random_keys.derive_member_keys(3, 64)
    assert (jax.random.key_data(few) == jax.random.key_data(many[:2])).all()


def test_logits_equal_those_of_stock_layers(few):
    params = INIT(jax.random.key(0))
    images = scale_to_unit(jnp.asarray(few.test_images))
    wanted = stock(params, images)
    np.testing.assert_allclose(jax.jit(CNN.apply)(params, images), wanted, atol=1e-4)


def test_prediction_pads_and_unpads(few):
    members = create_members(CNN, 0, 2).params
    images = few.test_images[:5]
    got = predict_probabilities(CNN, members, images)
    assert got.shape == (2, 5, 10)
    one = jax.tree.map(lambda leaf: leaf[1], members)
    wanted = jax.nn.softmax(stock(one, scale_to_unit(jnp.asarray(images))))
    np.testing.assert_allclose(got[1], wanted, atol=1e-5)
    np.testing.assert_allclose(got.sum(-1), 1, atol=1e-5)


class Stock(nn.Module):
    """The HOWTO's network of any width, of Flax's own layers."""

    width: int

    @nn.compact
    def __call__(self, x: jax.Array) -> jax.Array:
        for features in (self.width, 2 * self.width):
            x = nn.avg_pool(nn.relu(nn.Conv(features, (3, 3))(x)), (2, 2), (2, 2))
        x = nn.relu(nn.Dense(8 * self.width)(x.reshape(len(x), -1)))
        return nn.Dense(10)(x)


@pytest.mark.long_cases
@pytest.mark.parametrize(("width", "form"), [(7, "tower"), (7, "grouped"), variant(33, "tower"), variant(7, "patches")])
def test_of_any_width_it_is_that_of_stock_layers(width, form):
    network, arithmetic = bind_network("cnn", (12, 12, 1), 10, width), Arithmetic(form)
    images = jnp.asarray(np.random.default_rng(width).random((5, 12, 12, 1)), jnp.float32)
    params = jax.jit(network.init)(jax.random.key(0))

    def loss(apply, params):
        logits = apply(params)
        return (logits**2).sum(), logits

    ours, stock_ = (
        compiled(jax.value_and_grad(lambda p, apply=apply: loss(apply, p), has_aux=True))(params)
        for compiled, apply in (
            (jax.jit, lambda p: network.apply(p, images, arithmetic)),
            (plainly_compiled, lambda p: Stock(width).apply({"params": p}, images)),
        )
    )
    for one, other in zip(jax.tree.leaves(ours), jax.tree.leaves(stock_), strict=True):
        np.testing.assert_allclose(one, other, rtol=0, atol=1e-4 * max(1, np.abs(other).max()))


def test_of_width_32_it_is_the_howtos_operation_by_operation():
    image = jax.ShapeDtypeStruct((2, 28, 28, 1), np.float32)
    traced = []
    for width in (0, 32, 0, 32):  # what JAX remembers of a first trace shows in how it is printed
        network = bind_network("cnn", (28, 28, 1), 10, width)
        params = jax.eval_shape(network.init, jax.random.key(0))
        forms = [Arithmetic("tower"), Arithmetic("grouped"), DEFAULT_ARITHMETIC]
        traced.append(
            [str(jax.make_jaxpr(lambda p, x, n=network, a=form: n.apply(p, x, a))(params, image)) for form in forms]
        )
    assert traced[2] == traced[3]
