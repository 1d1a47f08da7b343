"""Every network is in the registry, and does what its entry says."""

from importlib import import_module
from pathlib import Path

import jax
import jax.numpy as jnp
import pytest

from ensemble.engine.networks import cnn, registry
from ensemble.engine.networks.registry import NETWORKS, Network
from ensemble.errors import ConfigError


@pytest.mark.parametrize("network", NETWORKS.values(), ids=lambda one: one.name)
def test_an_entry_says_what_comes_out(network: Network) -> None:
    params = jax.eval_shape(network.init, jax.random.key(0))
    images = jax.ShapeDtypeStruct((3, *network.image_shape), jnp.float32)
    logits = jax.eval_shape(lambda p, x: network.apply(p, x, cnn.USUAL), params, images)
    assert logits.shape == (3, network.classes)
    assert network.source


def test_a_file_that_makes_parameters_is_in_the_registry() -> None:
    folder = Path(registry.__file__).parent
    made = {
        path.stem for path in folder.glob("*.py")
        if hasattr(import_module(f"ensemble.engine.networks.{path.stem}"), "init_params")
    }  # fmt: skip
    assert made == set(NETWORKS)


def test_one_that_there_is_not_is_said() -> None:
    with pytest.raises(ConfigError, match=r"No such network: 'transformer'\. There are: cnn"):
        registry.find("transformer")
