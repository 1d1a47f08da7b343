"""Every network is in the registry, and does what its entry says."""

from importlib import import_module
from pathlib import Path

import pytest

from ensemble.architectures import ARCHITECTURES, BUILTIN_NETWORK_NAMES
from ensemble.config import EnsembleConfig
from ensemble.engine import build_network
from ensemble.engine.networks import registry
from ensemble.engine.networks.registry import NETWORKS, bind_network
from ensemble.errors import ConfigError

COLOUR, GREY = (32, 32, 3), (28, 28, 1)


def test_what_settings_offer_is_what_can_be_made() -> None:
    assert tuple(NETWORKS) == BUILTIN_NETWORK_NAMES


def test_a_file_that_makes_a_network_is_in_the_registry() -> None:
    folder = Path(registry.__file__).parent
    made = {
        make
        for path in folder.glob("*.py")
        for name, make in vars(import_module(f"ensemble.engine.networks.{path.stem}")).items()
        if name.startswith("create_")
        and getattr(make, "__module__", "").endswith(f".{path.stem}")
        and path.stem != "custom_network"
    }
    assert made == set(NETWORKS.values())


def test_a_name_that_is_given_twice_is_refused() -> None:
    make = NETWORKS["mlp"]
    with pytest.raises(ValueError, match="Two networks are called 'mlp'"):
        registry.build_network_registry(("mlp", make), ("cnn", make), ("mlp", make))


def test_one_that_there_is_not_is_said() -> None:
    with pytest.raises(ConfigError, match=r"network is 'transformer': it has to be one of cnn, "):
        EnsembleConfig(network="transformer")
    with pytest.raises(ConfigError, match=r"No such network: 'transformer'\. There are: cnn"):
        bind_network("transformer", GREY, 10)


# Counted by hand: convolutions H·W·k²·I·O, products I·O, twice each, and weights with biases.
LENET = 28 * 28 * 25 * 6 + 10 * 10 * 25 * 6 * 16 + 400 * 120 + 120 * 84 + 84 * 10
STAGES = [16 * 144 * 6, (16 + 32 * 5) * 32 * 9, (32 + 64 * 5) * 64 * 9]
RESNET = 27 * 16 * 1024 + STAGES[0] * 1024 + STAGES[1] * 256 + STAGES[2] * 64 + 640


@pytest.mark.parametrize(
    ("name", "shape", "classes", "width", "parameters", "multiplications"),
    [
        ("cnn", GREY, 10, 0, 824_458, 28 * 28 * 9 * 32 + 14 * 14 * 9 * 32 * 64 + 256 * 3146),
        (
            "cnn",
            (16, 20, 3),
            7,
            8,
            224 + 1168 + 64 * 321 + 455,
            16 * 20 * 27 * 8 + 8 * 10 * 9 * 8 * 16 + 320 * 64 + 64 * 7,
        ),
        ("logistic", GREY, 10, 0, 7_850, 7_840),
        ("mlp", (8, 8, 3), 100, 50, 192 * 50 + 2 * 2_500 + 150 + 5_100, 192 * 50 + 2 * 2_500 + 5_000),
        ("lenet5", GREY, 10, 0, 61_706, LENET),
        ("resnet", COLOUR, 10, 0, 27 * 16 + sum(STAGES) + 2 * (7 * 16 + 6 * 32 + 6 * 64) + 650, RESNET),
        ("resnet_groupnorm", COLOUR, 10, 0, 269_722, RESNET),
    ],
)
def test_parameters_and_operations_are_those_counted_by_hand(
    name: str, shape: tuple[int, int, int], classes: int, width: int, parameters: int, multiplications: int
) -> None:
    network = bind_network(name, shape, classes, width)
    assert (network.parameters, network.flops) == (parameters, 2 * multiplications)
    doc = import_module(NETWORKS[name].__module__).__doc__ or ""
    if not width:
        said = " ".join(doc.split())
        assert f"{parameters:,} parameters and {2 * multiplications:,} operations an image" in said


@pytest.mark.parametrize("name", BUILTIN_NETWORK_NAMES)
def test_an_image_too_small_is_said_and_the_smallest_is_not(name: str) -> None:
    least = ARCHITECTURES[name].min_image_side
    assert bind_network(name, (least, least, 2), 3).shapes
    if least > 1:
        with pytest.raises(ConfigError, match=f"of at least {least}×{least} pixels"):
            bind_network(name, (least - 1, 40, 2), 3)


def test_a_width_that_nothing_has_is_refused() -> None:
    assert build_network(EnsembleConfig(network="mlp", width=30)).parameters == 784 * 30 + 2_200
    with pytest.raises(ConfigError, match="width is 30, but Logistic regression has no width"):
        EnsembleConfig(network="logistic", width=30)
