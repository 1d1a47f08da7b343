"""How wide a single network may be at the cost of an ensemble: in operations, or in seconds."""

import math
from collections.abc import Callable
from dataclasses import dataclass

from ensemble.architectures import ARCHITECTURES, format_network_title
from ensemble.config import EnsembleConfig
from ensemble.errors import ConfigError
from ensemble.machine import network_cost
from ensemble.machine.network_cost import ImageShape, NetworkCost
from ensemble.settings import list_setting_fields

_TIME_TOLERANCE = 0.05  # of the seconds
_MAX_ROUNDS = 6
_INITIAL_POWER = 2.0  # operations grow with about the square of the width


@dataclass(frozen=True)
class _TimedWidth:
    """A width that was measured.

    Attributes:
      width: of the single network.
      share: the seconds of its training step, of those of the ensemble's.
    """

    width: int
    share: float


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


def find_equal_flops_width(network: str, image_shape: ImageShape, classes: int, members: int) -> int:
    """The width at which one network takes as many operations an image as `members` of its own.

    The nearest there is, by its factor.

    Args:
      network: a built-in one that has a width.
      image_shape: (H, W, channels).
      classes: how many it tells apart.
      members: M.

    Raises:
      ConfigError: the widest there is takes fewer.
    """
    wanted = members * network_cost_at_width(network, image_shape, classes, 0).flops
    last = _max_network_width()
    if network_cost_at_width(network, image_shape, classes, last).flops < wanted:
        raise ConfigError(
            f"No {format_network_title(network)} of a width up to {last:,} costs as much as "
            f"{members} members: choose fewer members."
        )
    return min(
        range(default_network_width(network), last + 1),
        key=lambda width: abs(math.log(network_cost_at_width(network, image_shape, classes, width).flops / wanted)),
    )


def find_equal_time_width(share_of: Callable[[int], float], own: int, first: int) -> _TimedWidth:
    """The width at which a step of one network takes as long as one of the ensemble.

    By secants in logarithms; of the widths that were measured the one that comes closest.

    Args:
      share_of: measures the seconds of a step of the single network of a width, of those of the
        ensemble's.
      own: the network's own width, below which none is tried.
      first: where to begin: `find_equal_flops_width`.
    """
    shares: dict[int, float] = {}
    width, power = first, _INITIAL_POWER

    def log_error(candidate: int) -> float:
        return abs(math.log(shares[candidate]))

    for _ in range(_MAX_ROUNDS):
        shares[width] = share_of(width)
        if log_error(width) <= _TIME_TOLERANCE:
            break
        near = sorted(shares, key=log_error)[:2]
        if len(near) == 2:
            rise = math.log(shares[near[0]] / shares[near[1]]) / math.log(near[0] / near[1])
            power = min(max(rise, 0.5), 4.0)  # a measurement that went astray leads nowhere far
        width = min(max(round(near[0] * shares[near[0]] ** (-1 / power)), own), _max_network_width())
        if width in shares:
            break
    best = min(shares, key=log_error)
    return _TimedWidth(best, shares[best])
