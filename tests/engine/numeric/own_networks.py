"""Networks of a person's own for rows of numbers."""

from typing import Any

import jax.numpy as jnp
from flax import linen as nn


class Residual(nn.Module):
    """With running statistics and dropout, as people write them."""

    num_outputs: int

    @nn.compact
    def __call__(self, x: Any, train: bool) -> Any:
        """Rows (B, F) to outputs (B, 2)."""
        x = nn.Dense(8)(x)
        x = x + nn.Dropout(0.2, deterministic=not train)(nn.relu(nn.Dense(8)(x)))
        return nn.Dense(self.num_outputs)(nn.BatchNorm(use_running_average=not train)(x))


class OneOutput(nn.Module):
    """Without a spread."""

    @nn.compact
    def __call__(self, x: Any) -> Any:
        """Rows (B, F) to (B, 1)."""
        return nn.Dense(1)(x)


class OfImages(nn.Module):
    """Takes four axes."""

    num_classes: int

    @nn.compact
    def __call__(self, x: Any) -> Any:
        """Fails of rows."""
        return nn.Dense(self.num_classes)(jnp.mean(x, axis=(1, 2, 3)))
