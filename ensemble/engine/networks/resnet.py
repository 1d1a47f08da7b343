"""ResNet-20, the small residual network for 32×32 colour.

He, Zhang, Ren and Sun, "Deep Residual Learning for Image Recognition", CVPR 2016, section 4.2:

    images (B, 32, 32, 3) → convolution 3×3, 16 channels
    three stages of three blocks, with 16, 32, 64 channels at 32×32, 16×16, 8×8:
        block(x) = relu(shortcut(x) + norm(conv(relu(norm(conv(x))))))
    mean over all places → (B, 64) → dense C

A shortcut has no weights (the paper's option A): where the channels double it takes every other
pixel and fills up with zeros. `norm` is BatchNorm (Ioffe and Szegedy 2015): in training by the
batch's own statistics, in evaluation by running ones that the member carries, or GroupNorm (Wu
and He 2018), which does not look at the rest of the batch. 269,722 parameters and 81,102,080
operations an image for 32×32×3 and ten classes, with either.
"""

import math
from functools import partial
from typing import Any

import jax.numpy as jnp
from flax import linen as nn
from jax import Array

from ensemble.engine.networks.arithmetic import Arithmetic

WIDTH, STAGES, BLOCKS, GROUPS = 16, 3, 3, 8
_conv_weights = nn.initializers.variance_scaling(2.0, "fan_out", "normal")  # He and others 2015


class Block(nn.Module):
    """Two convolutions 3×3 beside a shortcut; the first has a stride."""

    features: int
    stride: int
    norm: Any
    dtype: Any

    @nn.compact
    def __call__(self, x: Array, train: bool) -> Array:
        """(B, H, W, I) to (B, ⌈H/stride⌉, ⌈W/stride⌉, features)."""
        conv = partial(nn.Conv, self.features, (3, 3), use_bias=False, kernel_init=_conv_weights, dtype=self.dtype)
        y = conv(strides=self.stride)(x)
        y = nn.relu(self.norm(y, train))
        y = self.norm(conv()(y), train)
        shortcut = x[:, :: self.stride, :: self.stride]
        missing = self.features - x.shape[-1]
        return nn.relu(y + jnp.pad(shortcut, ((0, 0), (0, 0), (0, 0), (0, missing))))


class ResNet(nn.Module):
    """`width` counts the first stage's channels, `blocks` those of each stage.

    `grouped` takes GroupNorm for BatchNorm.
    """

    classes: int
    width: int = WIDTH
    grouped: bool = False
    blocks: int = BLOCKS
    dtype: Any = jnp.float32

    @nn.compact
    def __call__(self, x: Array, train: bool) -> Array:
        """Images (B, H, W, channels) in [0, 1] to logits (B, C)."""
        norm = partial(_apply_group_norm if self.grouped else _apply_batch_norm, dtype=self.dtype)
        x = nn.Conv(self.width, (3, 3), use_bias=False, kernel_init=_conv_weights, dtype=self.dtype)(x)
        x = nn.relu(norm(x, train))
        for stage in range(STAGES):
            for block in range(self.blocks):
                stride = 2 if stage and not block else 1
                x = Block(self.width * 2**stage, stride, norm, self.dtype)(x, train)
        return nn.Dense(self.classes, dtype=self.dtype)(x.mean(axis=(1, 2)))


def _apply_batch_norm(x: Array, train: bool, dtype: Any) -> Array:
    return nn.BatchNorm(use_running_average=not train, momentum=0.9, dtype=dtype)(x)


def _apply_group_norm(x: Array, train: bool, dtype: Any) -> Array:
    """Of as many channels in each of 8 groups; of fewer groups where 8 do not divide them."""
    return nn.GroupNorm(num_groups=math.gcd(GROUPS, x.shape[-1]), dtype=dtype)(x)


def create_resnet(classes: int, width: int, arithmetic: Arithmetic) -> nn.Module:
    """The module with BatchNorm; 0 is its own width."""
    return ResNet(classes, width or WIDTH, dtype=arithmetic.dtype)


def create_groupnorm_resnet(classes: int, width: int, arithmetic: Arithmetic) -> nn.Module:
    """The module with GroupNorm; 0 is its own width."""
    return ResNet(classes, width or WIDTH, grouped=True, dtype=arithmetic.dtype)
