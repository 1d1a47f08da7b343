"""Networks of two outputs for each row of a table: the mean, and what becomes the variance.

    features (B, F) → width → … → width → 2

The first output is the mean; the variance is softplus of the second and a small floor. Such a
network predicts the noise of each row (Nix and Weigend, "Estimating the mean and variance of the
target probability distribution", ICNN 1994), as the members of the first deep ensembles did
(Lakshminarayanan, Pritzel and Blundell, NeurIPS 2017, section 2.2.1). All is in units of the
standardised target.
"""

import functools
from dataclasses import dataclass, field
from typing import Any

import jax
import jax.numpy as jnp
from flax import linen as nn
from jax import Array

from ensemble import architectures
from ensemble.config.regression_config import NUMERIC_NETWORK
from ensemble.engine.networks.arithmetic import Arithmetic
from ensemble.engine.networks.custom import custom_network
from ensemble.engine.networks.network import Network
from ensemble.errors import ConfigError

_OUTPUTS = 2
_VARIANCE_FLOOR = 1e-6  # of the standardised target; Lakshminarayanan and others' own


class NumericMLP(nn.Module):
    """Dense layers with relu between them, and two outputs.

    Attributes:
      width: of each hidden layer.
      depth: how many of them there are.
    """

    width: int
    depth: int

    @nn.compact
    def __call__(self, x: Array) -> Array:
        """Features (B, F), standardised, to outputs (B, 2)."""
        for _ in range(self.depth):
            x = nn.relu(nn.Dense(self.width)(x))
        return nn.Dense(_OUTPUTS)(x)


@dataclass(frozen=True)
class NumericNetwork(Network):
    """A network bound to rows of F numbers, `image_shape` being (F,) and `classes` the outputs.

    Attributes:
      depth: hidden layers of `NumericMLP`; 0 of a person's own.
    """

    depth: int = field(default=0, kw_only=True)

    @property
    def input_words(self) -> str:
        """What it takes, for sentences."""
        return f"rows of {self.image_shape[0]} numbers"

    def describe_wrong_output(self, shape: tuple[int, ...], batch: int) -> str:
        """What to say where its outputs have this shape for so many rows."""
        return (
            f"The network {self.name} gives {shape} for {batch} rows: it has to give "
            f"({batch}, {_OUTPUTS}), a mean and what becomes the variance."
        )


@functools.lru_cache(maxsize=64)
def bind_numeric_network(name: str, features: int, width: int, depth: int) -> NumericNetwork:
    """A network by its name for rows of F features.

    Args:
      name: "mlp", or `package.module:Factory` of a person's own, which is given the number of
        outputs as it would be that of classes.
      features: F.
      width: of "mlp"; of no meaning to others.
      depth: likewise.

    Raises:
      ConfigError: there is no such network, it is not allowed here, or does not take such rows.
    """
    if architectures.is_custom_network(name):
        network = NumericNetwork(name, (features,), _OUTPUTS, create_module=custom_network.load_custom_network(name))
        custom_network.check_custom_network(network)
        return network
    if name != NUMERIC_NETWORK:
        raise ConfigError(
            f"No such network for a table: {name!r:.60}. There is {NUMERIC_NETWORK}, and your own "
            f"as {architectures.CUSTOM_NETWORK_EXAMPLE}."
        )

    def create_module(outputs: int, width: int, arithmetic: Arithmetic) -> nn.Module:
        return NumericMLP(width, depth)

    return NumericNetwork(name, (features,), _OUTPUTS, width, create_module=create_module, depth=depth)


def split_outputs(outputs: Any) -> tuple[Array, Array]:
    """Means (B,) and variances (B,) of outputs (B, 2), in the standardised target's units."""
    variance = jax.nn.softplus(outputs[..., 1]) + _VARIANCE_FLOOR
    return jnp.asarray(outputs[..., 0]), variance
