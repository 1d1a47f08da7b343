"""Multinomial logistic regression: the softmax of a weighted sum of the pixels (Cox 1958).

    images (B, H, W, channels) → (B, H·W·channels) → logits (B, C)

7,850 parameters and 15,680 operations an image for 28×28×1 and ten classes. Its loss is convex:
members that see the same images all go to one optimum, so that its ensembles show what an
ensemble cannot do.
"""

from typing import Any

import jax.numpy as jnp
from flax import linen as nn
from jax import Array

from ensemble.engine.networks.arithmetic import Arithmetic


class Logistic(nn.Module):
    """One dense layer."""

    classes: int
    dtype: Any = jnp.float32

    @nn.compact
    def __call__(self, x: Array) -> Array:
        """Images (B, H, W, channels) in [0, 1] to logits (B, C)."""
        return nn.Dense(self.classes, dtype=self.dtype)(x.reshape(len(x), -1))


def create_logistic(classes: int, width: int, arithmetic: Arithmetic) -> nn.Module:
    """The module; it has no layer that could be wider."""
    return Logistic(classes, arithmetic.dtype)
