"""What JAX traces, as ONNX: whatever layers a person's own network is made of."""

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import onnxruntime
import pytest

from ensemble.architectures import NETWORKS_VARIABLE
from ensemble.engine.networks.registry import bind_network
from ensemble.errors import ConfigError
from ensemble.export.programs import ensemble_program
from ensemble.export.programs.onnx_model import build_onnx_model
from tests.engine.networks import modules

SHAPE, CLASSES = (8, 8, 2), 4


class Attentive(nn.Module):
    """A small transformer: patches, a class token, positions, attention of several heads, GELU."""

    @nn.compact
    def __call__(self, x):
        x = nn.Conv(8, (4, 4), strides=4)(x).reshape(len(x), -1, 8)
        token = self.param("token", nn.initializers.normal(), (1, 1, 8))
        x = jnp.concatenate([jnp.tile(token, (len(x), 1, 1)), x], axis=1)
        x = x + self.param("place", nn.initializers.normal(), (1, x.shape[1], 8))
        y = nn.LayerNorm()(x)
        x = x + nn.MultiHeadDotProductAttention(num_heads=2)(y, y)
        y = nn.gelu(nn.Dense(16)(nn.LayerNorm()(x)), approximate=False)
        x = x + nn.Dense(8)(nn.gelu(y))
        return nn.Dense(CLASSES)(x[:, 0])


class Pooling(nn.Module):
    """The largest and the mean of windows that overlap, with and without zeros around."""

    @nn.compact
    def __call__(self, x):
        x = nn.max_pool(nn.Conv(6, (3, 3))(x), (3, 3), (2, 2), "SAME")
        x = nn.avg_pool(x, (2, 2), (1, 1), "VALID")
        x = nn.avg_pool(x, (3, 3), (2, 2), "SAME")
        return nn.Dense(CLASSES)(x.max(axis=(1, 2)))


class Convolving(nn.Module):
    """Convolutions in groups, with holes, transposed with a stride, and of every place alone."""

    @nn.compact
    def __call__(self, x):
        x = nn.elu(nn.Conv(6, (3, 3), feature_group_count=2)(x))
        x = nn.silu(nn.Conv(6, (3, 3), kernel_dilation=2, padding="VALID")(x))
        x = nn.leaky_relu(nn.ConvTranspose(5, (4, 4), strides=(2, 2))(x))
        x = nn.softplus(nn.Conv(4, (1, 1))(x))
        return nn.Dense(CLASSES)(x.reshape(len(x), -1))


class Reshaping(nn.Module):
    """Parts, flips of channels, powers, comparisons, choices and bounds."""

    @nn.compact
    def __call__(self, x):
        first, second = jnp.split(x, 2, axis=-1)
        x = jnp.concatenate([first**3, jnp.where(second > 0.5, second, -second)], axis=-1)
        x = jnp.clip(nn.Dense(6)(jnp.swapaxes(x, 1, 2)), -1, 1)[:, ::2, 1:]
        x = x / jnp.sqrt(jnp.square(x).sum(-1, keepdims=True) + 1e-3)
        x = jnp.stack([x, jnp.abs(x)], axis=1)
        return nn.Dense(CLASSES)(nn.hard_swish(x.reshape(len(x), -1)))


class Sorting(nn.Module):
    """What is not written as ONNX here."""

    @nn.compact
    def __call__(self, x):
        return nn.Dense(CLASSES)(jnp.sort(x.reshape(len(x), -1)))


def name_own(module: type | str, monkeypatch: pytest.MonkeyPatch) -> str:
    """A network's name, which is allowed from now on; its code stands here or in modules.py."""
    kind = module if isinstance(module, str) else f"{__name__}:{module.__name__}"
    name = kind if ":" in kind else f"{modules.__name__}:{kind}"
    monkeypatch.setenv(NETWORKS_VARIABLE, name)
    return name


@pytest.mark.long_cases
@pytest.mark.parametrize(
    "module", [Attentive, Pooling, Convolving, Reshaping, "Careful", "Transposed", "Slashed", "Narrow", "Bridged"]
)
def test_a_network_of_ones_own_comes_along(module, monkeypatch: pytest.MonkeyPatch) -> None:
    network = bind_network(name_own(module, monkeypatch), SHAPE, CLASSES)
    init = jax.jit(network.init)
    drawn = [init(jax.random.key(seed)) for seed in range(2)]
    draws = np.random.default_rng(0)
    members = [  # statistics and biases that are not those of the start
        jax.tree.map(lambda leaf: np.abs(leaf) + draws.uniform(0, 0.3, leaf.shape).astype("f4"), one) for one in drawn
    ]
    model = build_onnx_model(network, members, temperature=1.3)
    session = onnxruntime.InferenceSession(model.SerializeToString())
    function = jax.jit(ensemble_program.build_ensemble_function(network, members, 1.3))
    for count in (1, 7):
        images = draws.integers(0, 256, (count, *SHAPE), dtype=np.uint8)
        each, average = session.run(["probabilities", "average"], {"images": images})
        assert (each.shape, average.shape) == ((2, count, CLASSES), (count, CLASSES))
        expected = function(images)
        np.testing.assert_allclose(each, expected["probabilities"], atol=1e-5, rtol=0)
        np.testing.assert_allclose(average, expected["average"], atol=1e-5, rtol=0)
    # The function itself is what the engine says of the members.
    scaled = images.astype(np.float32) / np.float32(255)
    direct = jax.nn.softmax(jax.jit(network.apply)(members[1], scaled))
    np.testing.assert_allclose(each[1], direct, atol=1e-5, rtol=0)


@pytest.mark.long
def test_what_depends_on_parameters_alone_is_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    network = bind_network("resnet", (8, 8, 3), CLASSES, width=4)
    model = build_onnx_model(network, [jax.jit(network.init)(jax.random.key(0))], None)
    operators = [node.op_type for node in model.graph.node]
    # A BatchNorm's root of its variance is reckoned when the graph is written.
    assert not {"Sqrt", "Reciprocal", "Expand", "Shape"} & set(operators)
    assert operators.count("Conv") == 19


def test_what_is_not_written_here_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    network = bind_network(name_own(Sorting, monkeypatch), SHAPE, CLASSES)
    with pytest.raises(ConfigError) as refused:
        build_onnx_model(network, [jax.jit(network.init)(jax.random.key(0))], None)
    assert str(refused.value) == (
        f"The network {network.name} computes sort, which is not written as ONNX here: take it as "
        "--format stablehlo, or its weights as safetensors."
    )
