"""Which code makes which network; `ensemble.architectures` says what is known of each without it.

Everything else in the engine asks `build_network` for a `Network`; what that does on which device
is its own business.
"""

import functools

from ensemble import architectures
from ensemble.architectures import BUILTIN_NETWORK_NAMES
from ensemble.config import EnsembleConfig
from ensemble.datasets.registry import find_dataset_entry as find_dataset
from ensemble.engine.networks import cnn, lenet5, logistic, mlp, resnet
from ensemble.engine.networks.custom import custom_network
from ensemble.engine.networks.network import ModuleFactory, Network
from ensemble.errors import ConfigError

ImageShape = tuple[int, int, int]


def build_network_registry(*entries: tuple[str, ModuleFactory]) -> dict[str, ModuleFactory]:
    """Networks by name.

    Raises:
      ValueError: a name comes twice; the second would silently take the first one's place.
    """
    networks: dict[str, ModuleFactory] = {}
    for name, make in entries:
        if name in networks:
            raise ValueError(f"Two networks are called {name!r}.")
        networks[name] = make
    return networks


NETWORKS = build_network_registry(
    ("cnn", cnn.create_cnn),
    ("logistic", logistic.create_logistic),
    ("mlp", mlp.create_mlp),
    ("lenet5", lenet5.create_lenet5),
    ("resnet", resnet.create_resnet),
    ("resnet_groupnorm", resnet.create_groupnorm_resnet),
)
_TOWER_NETWORKS = ("cnn",)


def build_network(config: EnsembleConfig, image_shape: ImageShape | None = None, classes: int | None = None) -> Network:
    """The network of a run, bound to the images and classes that it learns.

    Args:
      config: the run's settings.
      image_shape: (H, W, channels); by default the dataset's, as the registry knows it.
      classes: how many; likewise.

    Raises:
      ConfigError: there is no such network or dataset; it does not take such images; or, of a
        network of one's own, all that `custom_network.load_custom_network` and
        `custom_network.check_custom_network` say.
    """
    if image_shape is None or classes is None:
        entry = find_dataset(config.dataset)
        image_shape = image_shape or entry.image_shape
        classes = classes or len(entry.class_names)
    return bind_network(str(config.network), image_shape, classes, config.width)


@functools.lru_cache(maxsize=64)
def bind_network(name: str, image_shape: ImageShape, classes: int, width: int = 0) -> Network:
    """A network by its name; for what it raises see `build_network`."""
    if architectures.is_custom_network(name):
        network = Network(name, image_shape, classes, create_module=custom_network.load_custom_network(name))
        custom_network.check_custom_network(network)
        return network
    if name not in NETWORKS:
        raise ConfigError(f"No such network: {name!r:.60}. There are: {', '.join(BUILTIN_NETWORK_NAMES)}.")
    architectures.check_image_size(name, *image_shape[:2])
    tower = name in _TOWER_NETWORKS
    return Network(name, image_shape, classes, width, create_module=NETWORKS[name], tower=tower)
