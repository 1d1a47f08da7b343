"""Widths at which one network costs as much as an ensemble."""

import pytest

from ensemble.engine.networks.registry import bind_network
from ensemble.errors import ConfigError
from ensemble.planning.network_widths import find_equal_flops_width

SHAPE = (28, 28, 1)


@pytest.mark.parametrize(("network", "members"), [("cnn", 4), ("mlp", 5), ("lenet5", 2)])
def test_the_same_operations_are_those_that_the_traced_program_has(network, members):
    width = find_equal_flops_width(network, SHAPE, 10, members)
    wanted = members * bind_network(network, SHAPE, 10).flops
    off = {one: abs(bind_network(network, SHAPE, 10, one).flops - wanted) for one in (width - 1, width, width + 1)}
    assert min(off, key=off.__getitem__) == width
    assert off[width] / wanted < 0.15


def test_the_members_own_width_counts():
    assert find_equal_flops_width("mlp", SHAPE, 10, 2, 64) > find_equal_flops_width("mlp", SHAPE, 10, 2, 32)
    assert find_equal_flops_width("mlp", SHAPE, 10, 1, 64) == 64


def test_more_members_than_any_width_costs_are_refused():
    with pytest.raises(ConfigError, match="costs as much as 64 members: choose fewer members"):
        find_equal_flops_width("mlp", (64, 64, 3), 10, 64)
