"""Widths at which one network costs as much as an ensemble."""

import pytest

from ensemble.budget.network_widths import find_equal_flops_width, find_equal_time_width
from ensemble.engine.networks.registry import bind_network
from ensemble.errors import ConfigError

SHAPE = (28, 28, 1)


@pytest.mark.parametrize(("network", "members"), [("cnn", 4), ("mlp", 5), ("lenet5", 2)])
def test_the_same_operations_are_those_that_the_traced_program_has(network, members):
    width = find_equal_flops_width(network, SHAPE, 10, members)
    wanted = members * bind_network(network, SHAPE, 10).flops
    off = {one: abs(bind_network(network, SHAPE, 10, one).flops - wanted) for one in (width - 1, width, width + 1)}
    assert min(off, key=off.__getitem__) == width
    assert off[width] / wanted < 0.15


def test_more_members_than_any_width_costs_are_refused():
    with pytest.raises(ConfigError, match="costs as much as 64 members: choose fewer members"):
        find_equal_flops_width("mlp", (64, 64, 3), 10, 64)


@pytest.mark.parametrize("power", [1.3, 2.0, 2.6])
def test_the_same_seconds_are_found_in_a_few_measurements(power):
    asked = []

    def seconds_of(width):
        return 0.01 + 2e-5 * width**power

    def share_of(width):
        asked.append(width)
        return seconds_of(width) / seconds_of(77)

    found = find_equal_time_width(share_of, own=32, first=64)
    assert len(asked) <= 6
    assert abs(found.share - 1) < 0.05
    assert abs(found.width - 77) <= 2


def test_where_no_width_takes_as_long_the_nearest_is_taken():
    found = find_equal_time_width(lambda width: 2 + width / 500, own=32, first=64)
    assert (found.width, found.share) == (32, pytest.approx(2.064))
