"""Which code makes which network; `ensemble.architectures` says what is known of each without it.

Everything else in the engine asks `network_of` for a `Network`; what that does on which device is
its own business.
"""

import functools

from ensemble import architectures
from ensemble.architectures import NAMES
from ensemble.config import EnsembleConfig
from ensemble.datasets.registry import find as find_dataset
from ensemble.engine.networks import cnn, lenet5, logistic, mlp, own, resnet
from ensemble.engine.networks.network import Make, Network
from ensemble.errors import ConfigError

ImageShape = tuple[int, int, int]


def registry(*entries: tuple[str, Make]) -> dict[str, Make]:
    """Networks by name.

    Raises:
      ValueError: a name comes twice; the second would silently take the first one's place.
    """
    made: dict[str, Make] = {}
    for name, make in entries:
        if name in made:
            raise ValueError(f"Two networks are called {name!r}.")
        made[name] = make
    return made


NETWORKS = registry(
    ("cnn", cnn.make),
    ("logistic", logistic.make),
    ("mlp", mlp.make),
    ("lenet5", lenet5.make),
    ("resnet", resnet.make),
    ("resnet_groupnorm", resnet.make_grouped),
)
TOWERS = ("cnn",)


def network_of(
    config: EnsembleConfig, image_shape: ImageShape | None = None, classes: int | None = None
) -> Network:
    """The network of a run, bound to the images and classes that it learns.

    Args:
      config: the run's settings.
      image_shape: (H, W, channels); by default the dataset's, as the registry knows it.
      classes: how many; likewise.

    Raises:
      ConfigError: there is no such network or dataset; it does not take such images; or, of a
        network of one's own, all that `own.load` and `own.check` say.
    """
    if image_shape is None or classes is None:
        entry = find_dataset(config.dataset)
        image_shape = image_shape or entry.image_shape
        classes = classes or len(entry.class_names)
    return bind(str(config.network), image_shape, classes, config.width)


@functools.lru_cache(maxsize=64)
def bind(name: str, image_shape: ImageShape, classes: int, width: int = 0) -> Network:
    """A network by its name; for what it raises see `network_of`."""
    if architectures.is_own(name):
        network = Network(name, image_shape, classes, make=own.load(name))
        own.check(network)
        return network
    if name not in NETWORKS:
        raise ConfigError(f"No such network: {name!r:.60}. There are: {', '.join(NAMES)}.")
    architectures.check_image(name, *image_shape[:2])
    tower = name in TOWERS
    return Network(name, image_shape, classes, width, make=NETWORKS[name], tower=tower)
