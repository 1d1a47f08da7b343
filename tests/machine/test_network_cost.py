"""What a network takes is known without JAX, and is what the engine counts in its program."""

import pytest

from ensemble.architectures import ARCHITECTURES, BUILTIN_NETWORK_NAMES
from ensemble.engine.networks.registry import bind_network
from ensemble.machine import network_cost
from ensemble.machine.network_cost import NetworkCost


def counted(name: str, shape: tuple[int, int, int], classes: int, width: int) -> NetworkCost:
    network = bind_network(name, shape, classes, width)
    every = sum(one.size for one in network.shapes.values())
    return NetworkCost(network.parameters, network.flops, every - network.parameters, network.outputs)


@pytest.mark.parametrize("name", BUILTIN_NETWORK_NAMES)
def test_it_is_what_the_engine_counts(name: str) -> None:
    shape, width = (15, 18, 3), 0 if ARCHITECTURES[name].width is None else 9
    assert network_cost.compute_network_cost(name, shape, 7, width) == counted(name, shape, 7, width)


def test_a_width_of_0_is_the_networks_own() -> None:
    assert network_cost.compute_network_cost("cnn", (28, 28, 1), 10) == NetworkCost(
        824_458, 2 * (28 * 28 * 9 * 32 + 14 * 14 * 9 * 32 * 64 + 256 * 3146), 0, 28 * 28 * 32 + 14 * 14 * 64 + 256 + 10
    )


def test_of_a_network_of_ones_own_nothing_is_known() -> None:
    assert network_cost.compute_network_cost("leaves:Leaves", (28, 28, 1), 10) is None
