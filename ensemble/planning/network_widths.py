"""The width at which one network takes as many operations per image as an ensemble."""

import math

from ensemble.architectures import ARCHITECTURES, format_network_title
from ensemble.config import EnsembleConfig
from ensemble.errors import ConfigError
from ensemble.machine import network_cost
from ensemble.machine.network_cost import ImageShape, NetworkCost
from ensemble.settings import list_setting_fields


def _max_network_width() -> int:
    field = next(
        setting_field for setting_field in list_setting_fields(EnsembleConfig) if setting_field.name == "width"
    )
    return int(field.metadata["high"])


def default_network_width(network: str) -> int:
    """The width that a network has where none is set; 0 where it has none."""
    architecture = ARCHITECTURES.get(network)
    return (architecture.width if architecture else None) or 0


def network_cost_at_width(network: str, image_shape: ImageShape, classes: int, width: int) -> NetworkCost:
    """What one member of this width takes; the network is a built-in one."""
    cost = network_cost.compute_network_cost(network, image_shape, classes, width)
    assert cost is not None
    return cost


def find_equal_flops_width(
    network: str, image_shape: ImageShape, classes: int, members: int, own_width: int = 0
) -> int:
    """Find the width at which one network takes about as many operations per image as `members` networks.

    Args:
      network: a built-in one that has a width.
      own_width: the width of the members; 0 for the network's default.
      image_shape: (H, W, channels).
      classes: how many it tells apart.
      members: M.

    Raises:
      ConfigError: the widest there is takes fewer.
    """
    wanted = members * network_cost_at_width(network, image_shape, classes, own_width).flops
    last = _max_network_width()
    if network_cost_at_width(network, image_shape, classes, last).flops < wanted:
        raise ConfigError(
            f"No {format_network_title(network)} of a width up to {last:,} costs as much as "
            f"{members} members: choose fewer members."
        )
    return min(
        range(own_width or default_network_width(network), last + 1),
        key=lambda width: abs(math.log(network_cost_at_width(network, image_shape, classes, width).flops / wanted)),
    )
