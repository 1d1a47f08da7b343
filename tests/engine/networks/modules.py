"""Modules as a person may bring them: right ones, and ones with something amiss."""

import flax.linen as nn
import jax
import jax.numpy as jnp

from ensemble.engine.networks.resnet import ResNet


class Careful(nn.Module):
    """Batch statistics, dropout, a word for training; classes by name."""

    num_classes: int

    @nn.compact
    def __call__(self, x, train):
        x = nn.Conv(4, (3, 3), strides=2)(x)
        x = nn.relu(nn.BatchNorm(use_running_average=not train, momentum=0.9)(x))
        x = nn.Dropout(0.3, deterministic=not train)(x.reshape(len(x), -1))
        return nn.Dense(self.num_classes)(x)


class Plain(nn.Module):
    """No argument at all; four classes."""

    @nn.compact
    def __call__(self, x):
        return nn.Dense(4)(nn.tanh(nn.Dense(8)(x.reshape(len(x), -1))))


class Pooled(nn.Module):
    """The last layer is no dense one."""

    @nn.compact
    def __call__(self, x):
        return nn.Conv(4, (3, 3))(x).mean((1, 2))


class Transposed(nn.Module):
    """A convolution that is none of `nn.Conv`'s."""

    @nn.compact
    def __call__(self, x):
        return nn.ConvTranspose(4, (3, 3))(x).mean((1, 2))


def small_resnet(classes):
    return ResNet(classes, width=4, blocks=1)


def small_resnet_grouped(classes):
    return ResNet(classes, width=4, blocks=1, grouped=True)


ready = Plain()


class Wide(Plain):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(5)(x.reshape(len(x), -1))


class Growing(nn.Module):
    @nn.compact
    def __call__(self, x, train):
        seen = self.variable("seen", "count", lambda: jnp.zeros(3))
        if train:
            seen.value = jnp.zeros(4)
        return nn.Dense(4)(x.reshape(len(x), -1))


class Words(nn.Module):
    @nn.compact
    def __call__(self, x):
        self.variable("notes", "word", lambda: "a word")
        return nn.Dense(4)(x.reshape(len(x), -1))


class Keys(nn.Module):
    @nn.compact
    def __call__(self, x):
        self.variable("keys", "own", lambda: jax.random.key(0))
        return nn.Dense(4)(x.reshape(len(x), -1))


class Mean(nn.Module):
    @nn.compact
    def __call__(self, x):
        return jnp.zeros((len(x), 4)) + x.mean()


class Failing(nn.Module):
    @nn.compact
    def __call__(self, x):
        raise RuntimeError("no such luck\nand more of it")


def choosy(classes, depth):
    return Plain()


def nothing():
    return "no module"


class Poisoned(nn.Module):
    classes: int

    @nn.compact
    def __call__(self, x):
        return nn.Dense(self.classes)(x.reshape(len(x), -1)) * jnp.nan


number = 7
