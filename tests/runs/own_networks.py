"""Networks of a person's own whose parameters have names or types that are not the usual ones."""

import itertools

import jax.numpy as jnp
from flax import linen as nn
from flax import nnx
from jax import Array


class Slashed(nn.Module):
    """A layer's name with “/” in it, among parameters and in another collection."""

    num_classes: int

    @nn.compact
    def __call__(self, x: Array, train: bool) -> Array:
        x = nn.relu(nn.WeightNorm(nn.Dense(8))(x.reshape(len(x), -1)))
        return nn.SpectralNorm(nn.Dense(self.num_classes))(x, update_stats=train)


class Narrow(nn.Module):
    """Parameters of bfloat16."""

    num_classes: int

    @nn.compact
    def __call__(self, x: Array) -> Array:
        return nn.Dense(self.num_classes, param_dtype=jnp.bfloat16)(x.reshape(len(x), -1))


class Flattened(nnx.Module):
    """An NNX module, whose layers in a list have numbers for names."""

    def __init__(self, num_classes: int, *, rngs: nnx.Rngs) -> None:
        sizes = (784, 8, num_classes)
        self.layers = nnx.List([nnx.Linear(a, b, rngs=rngs) for a, b in itertools.pairwise(sizes)])
        self.norm = nnx.BatchNorm(num_classes, rngs=rngs)

    def __call__(self, x: Array) -> Array:
        x = x.reshape(len(x), -1)
        for layer in self.layers:
            x = layer(x)
        return self.norm(x)
