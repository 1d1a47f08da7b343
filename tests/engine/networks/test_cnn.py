"""Our network and Flax's stock layers are the same network."""

import jax
import jax.numpy as jnp
import numpy as np

from ensemble.engine.draws import keys
from ensemble.engine.networks.arithmetic import to_unit
from ensemble.engine.predict import predict_probabilities
from ensemble.engine.step import create_members
from ensemble.race import howto
from tests.engine.conftest import stock
from tests.networks import CNN


def test_first_parameters_are_those_of_stock_layers():
    key = jax.random.key(7)
    # As `init` draws them, without the forward pass that it throws away.
    image = jax.ShapeDtypeStruct((1, 28, 28, 1), np.float32)
    wanted = howto.CNN().lazy_init(key, image)["params"]
    jax.tree.map(np.testing.assert_array_equal, jax.jit(CNN.init)(key), wanted)


def test_members_start_where_the_howto_starts_them():
    _, init_rng = jax.random.split(jax.random.key(5))
    wanted = [jax.jit(CNN.init)(key) for key in jax.random.split(init_rng, 3)]
    got = create_members(CNN, 5, 3).params
    for member, params in enumerate(wanted):
        jax.tree.map(lambda a, b, m=member: np.testing.assert_array_equal(a[m], b), got, params)


def test_a_member_starts_the_same_in_any_ensemble():
    few, many = keys.member_keys(3, 2), keys.member_keys(3, 64)
    assert (jax.random.key_data(few) == jax.random.key_data(many[:2])).all()


def test_logits_equal_those_of_stock_layers(few):
    params = jax.jit(CNN.init)(jax.random.key(0))
    images = to_unit(jnp.asarray(few.test_images))
    wanted = stock(params, images)
    np.testing.assert_allclose(jax.jit(CNN.apply)(params, images), wanted, atol=1e-4)


def test_prediction_pads_and_unpads(few):
    members = create_members(CNN, 0, 2).params
    images = few.test_images[:5]
    got = predict_probabilities(CNN, members, images)
    assert got.shape == (2, 5, 10)
    one = jax.tree.map(lambda leaf: leaf[1], members)
    wanted = jax.nn.softmax(stock(one, to_unit(jnp.asarray(images))))
    np.testing.assert_allclose(got[1], wanted, atol=1e-5)
    np.testing.assert_allclose(got.sum(-1), 1, atol=1e-5)
