"""The networks there are, and what is known of each before JAX is imported.

Their code is in engine/networks/, one file an architecture. Beside them stand networks of a
person's own, named `package.module:Factory`. Such a name may stand in a run's settings, and be
listed and read, for ever; its code is imported only where the run is trained or asked, and only
if the person who runs this program has said so: see `list_allowed_networks`.
"""

import contextlib
import os
import re
from dataclasses import dataclass

from ensemble.errors import ConfigError
from ensemble.settings import SETTINGS_FILE_NAME, StoredChoice, read_settings_file

NETWORKS_VARIABLE = "ENSEMBLE_NETWORKS"
_CUSTOM_NETWORK_PATTERN = re.compile(r"(?!\d)\w+(\.(?!\d)\w+)*:(?!\d)\w+", re.ASCII)
CUSTOM_NETWORK_EXAMPLE = "package.module:Factory"
_MAX_CUSTOM_NAME_LENGTH = 200
_MAX_SHORT_TITLE_LENGTH = 24  # letters of such a name within a run's


@dataclass(frozen=True)
class Architecture:
    """What is known of a network beforehand.

    Attributes:
      name: its word in settings.
      title: what people call it.
      source: who described it, one line for people.
      width: what the setting `width` counts where it is 0; None if nothing can be widened.
      min_image_side: the least height and width of an image that it takes, in pixels.
    """

    name: str
    title: str
    source: str
    width: int | None
    min_image_side: int


ARCHITECTURES = {
    architecture.name: architecture
    for architecture in (
        Architecture("cnn", "HOWTO's CNN", "Flax's HOWTO “Ensembling on multiple devices”", 32, 4),
        Architecture("logistic", "Logistic regression", "Softmax of a weighted sum of the pixels (Cox 1958)", None, 1),
        Architecture(
            "mlp",
            "MLP",
            "Three hidden layers of 200, as in the first deep ensembles (Lakshminarayanan and others 2017)",
            200,
            1,
        ),
        Architecture("lenet5", "LeNet-5", "LeCun, Bottou, Bengio and Haffner 1998", 6, 12),
        Architecture(
            "resnet", "ResNet-20", "He and others 2016, with batch normalisation; for small colour photographs", 16, 8
        ),
        Architecture(
            "resnet_groupnorm",
            "ResNet-20, group norm",
            "He and others 2016, with group normalisation (Wu and He 2018)",
            16,
            8,
        ),
    )
}
BUILTIN_NETWORK_NAMES = tuple(ARCHITECTURES)
NETWORKS_WITH_RUNNING_STATISTICS = ("resnet",)  # carry running statistics of the images they learn from


def list_network_names() -> tuple[str, ...]:
    """The networks that a run may be given here: `BUILTIN_NETWORK_NAMES`, then one's own.

    Where `ensemble.toml` cannot be read, none of its own; `list_allowed_networks` and
    `list_configured_networks` say why.
    """
    own: frozenset[str] = frozenset()
    with contextlib.suppress(ConfigError):
        own = list_allowed_networks()
    return (*BUILTIN_NETWORK_NAMES, *sorted(own))


def is_custom_network(name: str) -> bool:
    """Whether this is a name of the form `package.module:Factory`, a network of one's own."""
    return len(name) <= _MAX_CUSTOM_NAME_LENGTH and bool(_CUSTOM_NETWORK_PATTERN.fullmatch(name))


def format_network_title(name: str) -> str:
    """What people call a network; one of their own by its name."""
    return ARCHITECTURES[name].title if name in ARCHITECTURES else name


def format_short_network_title(name: str) -> str:
    """As `format_network_title`, in short: of one's own the part behind the colon."""
    if name in ARCHITECTURES:
        return ARCHITECTURES[name].title
    factory = name.rpartition(":")[2]
    return factory if len(factory) <= _MAX_SHORT_TITLE_LENGTH else f"{factory[: _MAX_SHORT_TITLE_LENGTH - 1]}…"


def check_image_size(name: str, height: int, width: int) -> None:
    """See that a network takes images of so many pixels; one of a person's own is not asked.

    Raises:
      ConfigError: they are too small for it.
    """
    architecture = ARCHITECTURES.get(name)
    if architecture and min(height, width) < architecture.min_image_side:
        least = architecture.min_image_side
        raise ConfigError(
            f"{architecture.title} needs images of at least {least}×{least} pixels, but these have {height}×{width}: "
            "choose another network (MLP takes any size), or use larger images."
        )


def list_allowed_networks() -> frozenset[str]:
    """The networks of one's own whose code may be imported here.

    Named in the environment variable `ENSEMBLE_NETWORKS`, separated by commas, which workers
    inherit, or in the list `networks` of a file `ensemble.toml` in the working folder. Never by
    a run's settings alone: a run may come from elsewhere.

    Raises:
      ConfigError: there is such a file, and it cannot be read or has another form.
    """
    named = os.environ.get(NETWORKS_VARIABLE, "").split(",")
    return frozenset(filter(is_custom_network, [*map(str.strip, named), *list_configured_networks()]))


def check_network_allowed(name: str) -> None:
    """See that the code of a network of one's own may be imported here.

    Raises:
      ConfigError: nobody has said so, or `ensemble.toml` cannot be read.
    """
    if name not in list_allowed_networks():
        raise ConfigError(
            f"The network {name} is custom code and is not allowed here: add it to the list "
            f"networks of {SETTINGS_FILE_NAME} in the working folder, or in the environment "
            f"variable {NETWORKS_VARIABLE}."
        )


def check_network_form(name: str) -> None:
    """See that a name is one of a network: a word, or `package.module:Factory`.

    Raises:
      ConfigError: it is written as one's own networks are not: a path, or with a dot for the colon.
    """
    is_stored = isinstance(name, StoredChoice) or not isinstance(name, str)
    if is_stored or is_custom_network(name) or not set(name) & set("./:\\"):
        return
    raise ConfigError(
        f"network is {name!r:.60}: one of your own is called {CUSTOM_NETWORK_EXAMPLE}, such as "
        "my_networks:Net for the class Net of my_networks.py in the working folder."
    )


def allow_network(name: str) -> None:
    """Let this network's code be imported, by this process and by the workers that it starts."""
    before = os.environ.get(NETWORKS_VARIABLE, "")
    if name not in before.split(","):
        os.environ[NETWORKS_VARIABLE] = f"{before},{name}".strip(",")


def list_configured_networks() -> tuple[str, ...]:
    """The networks of one's own that `ensemble.toml` in the working folder names, in its order.

    Raises:
      ConfigError: there is such a file, and it cannot be read or has another form.
    """
    names = read_settings_file().get("networks", [])
    if not isinstance(names, list) or not all(isinstance(n, str) and is_custom_network(n) for n in names):
        raise ConfigError(
            f"In {SETTINGS_FILE_NAME}, networks has to be a list of names such as "
            f'["{CUSTOM_NETWORK_EXAMPLE}"]: correct it.'
        )
    return tuple(dict.fromkeys(names))
