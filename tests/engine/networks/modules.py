"""Modules as a person may bring them: right ones, and ones with something amiss."""

import dataclasses
import functools
from typing import NamedTuple

import flax.linen as nn
import jax
import jax.numpy as jnp
from flax import nnx

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


class Slashed(nn.Module):
    """A layer's name with “/” in it, among parameters and in another collection."""

    classes: int

    @nn.compact
    def __call__(self, x, train):
        x = nn.relu(nn.WeightNorm(nn.Dense(8))(x.reshape(len(x), -1)))
        return nn.SpectralNorm(nn.Dense(self.classes))(x, update_stats=train)


class Twice(nn.Module):
    """Two arrays at the same path."""

    @nn.compact
    def __call__(self, x):
        x = nn.Dense(4, name="a")(x.reshape(len(x), -1))
        return x + self.param("a/bias", nn.initializers.zeros, (4,))


class Narrow(nn.Module):
    """Parameters of bfloat16."""

    classes: int

    @nn.compact
    def __call__(self, x):
        return nn.Dense(self.classes, param_dtype=jnp.bfloat16)(x.reshape(len(x), -1))


class Hidden(nn.Module):
    """The first field is not the number of classes, and has no default."""

    hidden: int
    num_classes: int = 10

    @nn.compact
    def __call__(self, x):
        return nn.Dense(self.num_classes)(nn.Dense(self.hidden)(x.reshape(len(x), -1)))


class Unnamed(nn.Module):
    """None of its fields is the number of classes by its name."""

    size: int

    @nn.compact
    def __call__(self, x):
        return nn.Dense(self.size)(x.reshape(len(x), -1))


class Titled(nn.Module):
    """The number of classes stands last, has a default, and another name."""

    hidden: int = 8
    NumClasses: int = 7

    @nn.compact
    def __call__(self, x):
        return nn.Dense(self.NumClasses)(nn.Dense(self.hidden)(x.reshape(len(x), -1)))


class Named(nn.Module):
    """Gives a dictionary."""

    @nn.compact
    def __call__(self, x):
        return {"logits": nn.Dense(4)(x.reshape(len(x), -1))}


class Pair(nn.Module):
    """Gives two arrays."""

    @nn.compact
    def __call__(self, x):
        x = x.reshape(len(x), -1)
        return nn.Dense(4)(x), x


class Decided(nn.Module):
    """Gives the class itself."""

    @nn.compact
    def __call__(self, x):
        return nn.Dense(4)(x.reshape(len(x), -1)).argmax(-1)


class Synced(nn.Module):
    """Batch statistics over an axis that nobody binds."""

    @nn.compact
    def __call__(self, x, train):
        x = nn.BatchNorm(use_running_average=not train, axis_name="devices")(x)
        return nn.Dense(4)(x.reshape(len(x), -1))


class Moded(nn.Module):
    """Needs a word that nobody says."""

    @nn.compact
    def __call__(self, x, mode):
        return nn.Dense(4)(x.reshape(len(x), -1))


class AlwaysDropping(nn.Module):
    """Draws while it is judged."""

    @nn.compact
    def __call__(self, x):
        return nn.Dense(4)(nn.Dropout(0.5, deterministic=False)(x.reshape(len(x), -1)))


class Bridged(nnx.Module):
    """An NNX module: layers in a list, batch statistics, dropout."""

    def __init__(self, num_classes: int, *, rngs: nnx.Rngs):
        self.layers = nnx.List([nnx.Linear(128, 8, rngs=rngs), nnx.Linear(8, 8, rngs=rngs)])
        self.norm = nnx.BatchNorm(8, momentum=0.9, rngs=rngs)
        self.dropout = nnx.Dropout(0.3, rngs=rngs)
        self.out = nnx.Linear(8, num_classes, rngs=rngs)

    def __call__(self, x):
        x = x.reshape(len(x), -1)
        for layer in self.layers:
            x = nnx.relu(layer(x))
        return self.out(self.dropout(self.norm(x)))


class BridgedPlain(nnx.Module):
    """An NNX module without anything that has to be told of training."""

    def __init__(self, in_features: int = 128, num_classes: int = 3, *, rngs: nnx.Rngs):
        self.out = nnx.Linear(in_features, num_classes, rngs=rngs)

    def __call__(self, x):
        return self.out(x.reshape(len(x), -1))


def bridged_by_hand(num_classes):
    return nnx.bridge.to_linen(Bridged, num_classes)


bridged_partly = functools.partial(BridgedPlain, 128)


def drawn_already(num_classes):
    return Bridged(num_classes, rngs=nnx.Rngs(0))


class Tutorial(nnx.Module):
    """The CNN of Flax's tutorial on MNIST (docs_nnx/mnist_tutorial.md), of July 2026."""

    def __init__(self, *, rngs: nnx.Rngs):
        self.conv1 = nnx.Conv(1, 32, kernel_size=(3, 3), rngs=rngs)
        self.batch_norm1 = nnx.BatchNorm(32, rngs=rngs)
        self.dropout1 = nnx.Dropout(rate=0.025)
        self.conv2 = nnx.Conv(32, 64, kernel_size=(3, 3), rngs=rngs)
        self.batch_norm2 = nnx.BatchNorm(64, rngs=rngs)
        self.avg_pool = functools.partial(nnx.avg_pool, window_shape=(2, 2), strides=(2, 2))
        self.linear1 = nnx.Linear(3136, 256, rngs=rngs)
        self.dropout2 = nnx.Dropout(rate=0.025)
        self.linear2 = nnx.Linear(256, 10, rngs=rngs)

    def __call__(self, x, rngs: nnx.Rngs | None = None):
        x = self.avg_pool(nnx.relu(self.batch_norm1(self.dropout1(self.conv1(x), rngs=rngs))))
        x = self.avg_pool(nnx.relu(self.batch_norm2(self.conv2(x))))
        x = x.reshape(x.shape[0], -1)  # flatten
        x = nnx.relu(self.dropout2(self.linear1(x), rngs=rngs))
        x = self.linear2(x)
        return x


class DropoutWithoutRngs(nnx.Module):
    def __init__(self, num_classes: int, training: bool, *, rngs: nnx.Rngs):
        self.training = training
        self.dropout = nnx.Dropout(0.5)
        self.out = nnx.Linear(128, num_classes, rngs=rngs)


class Handed(DropoutWithoutRngs):
    """`__call__` needs the random numbers of its dropout; the pass is an argument when it is made."""

    def __call__(self, x, *, rngs):
        x = self.dropout(x.reshape(len(x), -1), rngs=rngs)
        return self.out(x) if self.training else 2 * self.out(x)


def handed(num_classes, rngs):
    return Handed(num_classes, True, rngs=rngs)


class Unhanded(DropoutWithoutRngs):
    def __call__(self, x):
        return self.out(self.dropout(x.reshape(len(x), -1)))


class Keyed(DropoutWithoutRngs):
    def __call__(self, x, key):
        return self.out(self.dropout(x.reshape(len(x), -1), rngs=key))


class Hiding(BridgedPlain):
    """An attribute in the place of a method of NNX."""

    def __init__(self, num_classes: int, *, rngs: nnx.Rngs):
        self.train = True  # type: ignore[assignment, method-assign]
        self.out = nnx.Linear(128, num_classes, rngs=rngs)


class SeededItself(nnx.Module):
    """All members start from the same parameters."""

    def __init__(self, num_classes: int):
        self.out = nnx.Linear(128, num_classes, rngs=nnx.Rngs(0))

    def __call__(self, x):
        return self.out(x.reshape(len(x), -1))


class InFeatures(BridgedPlain):
    def __init__(self, in_features: int, num_classes: int, key, *, rngs: nnx.Rngs):
        self.out = nnx.Linear(in_features, num_classes, rngs=rngs)


class TrainIsAField(nn.Module):
    """Whether it trains is said when it is made."""

    train: bool
    num_classes: int = 10

    @nn.compact
    def __call__(self, x):
        x = nn.BatchNorm(use_running_average=not self.train, momentum=0.5)(x.reshape(len(x), -1))
        return nn.Dense(self.num_classes)(nn.Dropout(0.5, deterministic=not self.train)(x))


class ShortAndTrain(nn.Module):
    n: int
    train: bool

    @nn.compact
    def __call__(self, x):
        x = nn.Dropout(0.5, deterministic=not self.train)(x.reshape(len(x), -1))
        return nn.Dense(self.n)(x)


class AlwaysNormed(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(4)(nn.BatchNorm(use_running_average=False)(x.reshape(len(x), -1)))


class UntoldDropout(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(4)(nn.Dropout(0.5)(x.reshape(len(x), -1)))


@dataclasses.dataclass
class Settings:
    hidden: int = 6
    num_classes: int = 10


class SettingsNeeded(nn.Module):
    """One object has all settings, the number of classes among them."""

    settings: Settings

    @nn.compact
    def __call__(self, x):
        return nn.Dense(self.settings.num_classes)(nn.Dense(self.settings.hidden)(x.reshape(len(x), -1)))


class SettingsGiven(SettingsNeeded):
    settings: "Settings" = dataclasses.field(default_factory=lambda: Settings(9))


@dataclasses.dataclass
class PickySettings(Settings):
    def __post_init__(self):
        if self.num_classes < 5:
            raise ValueError("at least 5 classes")


class SettingsRefused(SettingsNeeded):
    settings: PickySettings


class TupleOfSettings(NamedTuple):
    hidden: int = 7
    n_classes: int = 10


class BridgedSettings(nnx.Module):
    def __init__(self, config: "TupleOfSettings", *, rngs: nnx.Rngs):
        self.hidden = nnx.Linear(128, config.hidden, rngs=rngs)
        self.out = nnx.Linear(config.hidden, config.n_classes, rngs=rngs)

    def __call__(self, x):
        return self.out(self.hidden(x.reshape(len(x), -1)))


FIVE_HIDDEN = TupleOfSettings(5)


def settings_by_default(config=FIVE_HIDDEN):
    return SettingsNeeded(Settings(config.hidden, config.n_classes))


class Features(nn.Module):
    """Widths of all layers, the last one among them."""

    features: tuple[int, ...]

    @nn.compact
    def __call__(self, x):
        return nn.Dense(self.features[-1])(x.reshape(len(x), -1))


class ModeByAnotherName(nn.Module):
    num_classes: int

    @nn.compact
    def __call__(self, x, learning_now=False):
        x = nn.BatchNorm(use_running_average=not learning_now)(x.reshape(len(x), -1))
        return nn.Dense(self.num_classes)(x)
