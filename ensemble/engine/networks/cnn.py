"""The network of Flax's HOWTO "Ensembling on multiple devices": two convolutions, two dense layers.

    images (B, 28, 28, 1)
    convolution 3×3, 32 channels; relu; mean of 2×2 → (B, 14, 14, 32)
    convolution 3×3, 64 channels; relu; mean of 2×2 → (B, 7, 7, 64)
    dense 256, relu; dense C

824,458 parameters and 9,287,680 operations an image for 28×28×1 and ten classes.

The parameter tree is the one that stock `nn.Conv` and `nn.Dense` make (`Conv_0/kernel`,
`Dense_1/bias`, …), drawn from the same keys, so that parameters move freely between the
two: only the arithmetic of the convolutions is ours (conv_tower.py).
"""

import jax.numpy as jnp
from flax import linen as nn
from jax import Array

from ensemble.engine.networks.arithmetic import DEFAULT_ARITHMETIC, Arithmetic
from ensemble.engine.networks.conv_tower import apply_conv_tower
from ensemble.engine.networks.cpu_products import build_dense_product

WIDTH = 32


class Conv(nn.Module):
    """The parameters of `nn.Conv(features, (3, 3))`; conv_tower.py does its sums."""

    features: int

    @nn.compact
    def __call__(self, channels: int) -> tuple[Array, Array]:
        """Kernel (3, 3, channels, features) and bias (features,)."""
        shape = (3, 3, channels, self.features)
        kernel = self.param("kernel", nn.initializers.lecun_normal(), shape)
        return kernel, self.param("bias", nn.initializers.zeros_init(), (self.features,))


class CNN(nn.Module):
    """The HOWTO's network; its layers have width, 2 · width and 8 · width channels."""

    arithmetic: Arithmetic = DEFAULT_ARITHMETIC
    classes: int = 10
    width: int = WIDTH

    @nn.compact
    def __call__(self, x: Array) -> Array:
        """Images (B, H, W, channels) in [0, 1] to logits (B, C)."""
        form, precision, dense = self.arithmetic
        height, width, channels = x.shape[1:]
        layers = [Conv(features=self.width)(channels), Conv(features=2 * self.width)(self.width)]
        if self.is_initializing():  # Only shapes count: nothing else need be compiled.
            x = jnp.zeros((len(x), height // 4, width // 4, 2 * self.width))
        else:
            x = apply_conv_tower(x, layers, form, precision)
        x = x.reshape((x.shape[0], -1))
        x = nn.Dense(features=8 * self.width, dot_general=build_dense_product(dense or precision))(x)
        x = nn.relu(x)
        return nn.Dense(features=self.classes)(x)


def create_cnn(classes: int, width: int, arithmetic: Arithmetic) -> nn.Module:
    """The module; 0 is its own width."""
    return CNN(arithmetic, classes, width or WIDTH)
