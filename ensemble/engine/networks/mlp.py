"""A multilayer perceptron: three hidden layers of 200 and relu.

The network of the first deep ensembles' experiments on MNIST (Lakshminarayanan, Pritzel and
Blundell, "Simple and Scalable Predictive Uncertainty Estimation using Deep Ensembles", NeurIPS
2017), here without their batch normalisation:

    images (B, H, W, channels) → (B, H·W·channels) → 200 → 200 → 200 → logits (B, C)

239,410 parameters and 477,600 operations an image for 28×28×1 and ten classes.
"""

from typing import Any

import jax.numpy as jnp
from flax import linen as nn
from jax import Array

from ensemble.engine.networks.arithmetic import Arithmetic

WIDTH, _HIDDEN = 200, 3


class MLP(nn.Module):
    """Dense layers; `width` is that of each hidden one."""

    classes: int
    width: int = WIDTH
    dtype: Any = jnp.float32

    @nn.compact
    def __call__(self, x: Array) -> Array:
        """Images (B, H, W, channels) in [0, 1] to logits (B, C)."""
        x = x.reshape(len(x), -1)
        for _ in range(_HIDDEN):
            x = nn.relu(nn.Dense(self.width, dtype=self.dtype)(x))
        return nn.Dense(self.classes, dtype=self.dtype)(x)


def create_mlp(classes: int, width: int, arithmetic: Arithmetic) -> nn.Module:
    """The module; 0 is its own width."""
    return MLP(classes, width or WIDTH, arithmetic.dtype)
