"""LeNet-5, the first convolutional network in wide use.

LeCun, Bottou, Bengio and Haffner, "Gradient-Based Learning Applied to Document Recognition",
Proceedings of the IEEE 1998:

    images (B, 28, 28, 1)
    convolution 5×5, 6 channels, as if zeros stood around; tanh; mean of 2×2 → (B, 14, 14, 6)
    convolution 5×5, 16 channels, as far as it fits; tanh; mean of 2×2        → (B, 5, 5, 16)
    dense 120, tanh; dense 84, tanh; dense C

Three things of 1998 are as everybody has them since: every channel of the second layer sees all
of the first, pooling has no weights, and the answer is a softmax. 61,706 parameters and 833,040
operations an image for 28×28×1 and ten classes. Other sizes from 12×12 on do as well. (A mean by
`nn.avg_pool` is the same, but its gradients take a CPU three times as long.)
"""

from typing import Any

import jax.numpy as jnp
from flax import linen as nn
from jax import Array

from ensemble.engine.networks.arithmetic import Arithmetic
from ensemble.engine.networks.conv_tower import average_pool

WIDTH = 6


class LeNet5(nn.Module):
    """Its layers have width, 8/3 · width, 20 · width and 14 · width channels: 6, 16, 120, 84."""

    classes: int
    width: int = WIDTH
    dtype: Any = jnp.float32

    @nn.compact
    def __call__(self, x: Array) -> Array:
        """Images (B, H, W, channels) in [0, 1] to logits (B, C)."""
        for features, padding in ((self.width, "SAME"), (8 * self.width // 3, "VALID")):
            x = nn.Conv(features, (5, 5), padding=padding, dtype=self.dtype)(x)
            x = average_pool(nn.tanh(x))
        x = x.reshape(len(x), -1)
        for features in (20 * self.width, 14 * self.width):
            x = nn.tanh(nn.Dense(features, dtype=self.dtype)(x))
        return nn.Dense(self.classes, dtype=self.dtype)(x)


def create_lenet5(classes: int, width: int, arithmetic: Arithmetic) -> nn.Module:
    """The module; 0 is its own width."""
    return LeNet5(classes, width or WIDTH, arithmetic.dtype)
