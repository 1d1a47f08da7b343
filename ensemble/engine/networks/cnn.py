"""The network of Flax's HOWTO: two convolutions, two dense layers.

The parameter tree is the one that stock `nn.Conv` and `nn.Dense` make (`Conv_0/kernel`,
`Dense_1/bias`, …), drawn from the same keys, so that parameters move freely between the
two: only the arithmetic of the convolutions is ours (convolution.py).
"""

from typing import Any, NamedTuple

import jax.numpy as jnp
from flax import linen as nn
from jax import Array

from ensemble.engine.networks.convolution import conv_tower
from ensemble.engine.networks.cpu_products import dense_product

CLASSES = 10

Params = dict[str, Any]


class Arithmetic(NamedTuple):
    """How the network's sums are done; nothing in here changes what they are sums of.

    Attributes:
      form: "tower", "grouped", "patches", "scan"; see programs.FORMS. "" is what suits
        the platform.
      precision: of the factors in products, "float32" or "bfloat16"; sums are float32. "rounded"
        is bfloat16 in a tower on a processor that has no units for it.
    """

    form: str = ""
    precision: str = "float32"


USUAL = Arithmetic()


class Conv(nn.Module):
    """The parameters of `nn.Conv(features, (3, 3))`; convolution.py does its sums."""

    features: int

    @nn.compact
    def __call__(self, channels: int) -> tuple[Array, Array]:
        """Kernel (3, 3, channels, features) and bias (features,)."""
        shape = (3, 3, channels, self.features)
        kernel = self.param("kernel", nn.initializers.lecun_normal(), shape)
        return kernel, self.param("bias", nn.initializers.zeros_init(), (self.features,))


class CNN(nn.Module):
    """The HOWTO's network."""

    arithmetic: Arithmetic = USUAL

    @nn.compact
    def __call__(self, x: Array) -> Array:
        """Images (B, 28, 28, 1) in [0, 1] to logits (B, 10)."""
        form, precision = self.arithmetic
        layers = [Conv(features=32)(1), Conv(features=64)(32)]
        if self.is_initializing():  # Only shapes count: nothing else need be compiled.
            x = jnp.zeros((len(x), 7, 7, 64))
        else:
            x = conv_tower(x, layers, form, precision)
        x = x.reshape((x.shape[0], -1))
        x = nn.Dense(features=256, dot_general=dense_product(precision))(x)
        x = nn.relu(x)
        return nn.Dense(features=CLASSES)(x)


def init_params(key: Array) -> Params:
    """One member's parameters, drawn as the HOWTO draws them."""
    return CNN().init(key, jnp.ones([1, 28, 28, 1]))["params"]


def apply_model(params: Params, images: Array, arithmetic: Arithmetic = USUAL) -> Array:
    """One member's logits (B, 10) for images (B, 28, 28, 1) in [0, 1]."""
    return CNN(arithmetic).apply({"params": params}, images)  # type: ignore[return-value]


def to_unit(images: Array) -> Array:
    """uint8 in [0, 255] to float32 in [0, 1], as the HOWTO scales them."""
    return images.astype(jnp.float32) / 255.0
