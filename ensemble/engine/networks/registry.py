"""The networks there are: each is a file of this folder and an entry here.

Everything else in the engine asks an entry for parameters and logits, and for the shape of its
answer; what an entry does on which device is its own business.
"""

from collections.abc import Callable
from dataclasses import dataclass

from jax import Array

from ensemble.engine.networks import cnn
from ensemble.engine.networks.cnn import Arithmetic, Params
from ensemble.errors import ConfigError


@dataclass(frozen=True)
class Network:
    """One architecture.

    Attributes:
      name: its word in settings.
      source: where it is from.
      image_shape: of one image, (H, W, channels).
      classes: C, how many classes it tells apart.
      init: one member's parameters from a key.
      apply: one member's logits (B, C) for images (B, H, W, channels) in [0, 1].
    """

    name: str
    source: str
    image_shape: tuple[int, int, int]
    classes: int
    init: Callable[[Array], Params]
    apply: Callable[[Params, Array, Arithmetic], Array]


NETWORKS = {
    network.name: network
    for network in (
        Network("cnn", "Flax's HOWTO “Ensembling on multiple devices”", (28, 28, 1), cnn.CLASSES,
                cnn.init_params, cnn.apply_model),
    )
}  # fmt: skip


def find(name: str) -> Network:
    """The network called `name`.

    Raises:
      ConfigError: there is none; the message lists those there are.
    """
    if name not in NETWORKS:
        raise ConfigError(f"No such network: {name!r}. There are: {', '.join(NETWORKS)}.")
    return NETWORKS[name]
