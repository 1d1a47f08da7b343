"""How wide a single network may be at the cost of an ensemble: in operations, or in seconds."""

import math
from collections.abc import Callable
from dataclasses import dataclass

from ensemble.architectures import ARCHITECTURES, title
from ensemble.config import EnsembleConfig
from ensemble.errors import ConfigError
from ensemble.machine import network_cost
from ensemble.machine.network_cost import Cost, ImageShape
from ensemble.settings import setting_fields

CLOSE = 0.05  # of the seconds
ROUNDS = 6
USUAL_POWER = 2.0  # operations grow with about the square of the width


@dataclass(frozen=True)
class Timed:
    """A width that was measured.

    Attributes:
      width: of the single network.
      share: the seconds of its training step, of those of the ensemble's.
    """

    width: int
    share: float


def widest() -> int:
    """The largest width there is."""
    field = next(one for one in setting_fields(EnsembleConfig) if one.name == "width")
    return int(field.metadata["high"])


def own_width(network: str) -> int:
    """The width that a network has where none is set; 0 where it has none."""
    known = ARCHITECTURES.get(network)
    return (known.width if known else None) or 0


def cost_at(network: str, image_shape: ImageShape, classes: int, width: int) -> Cost:
    """What one member of this width takes; the network is a built-in one."""
    found = network_cost.of(network, image_shape, classes, width)
    assert found is not None
    return found


def same_flops(network: str, image_shape: ImageShape, classes: int, members: int) -> int:
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
    wanted = members * cost_at(network, image_shape, classes, 0).flops
    last = widest()
    if cost_at(network, image_shape, classes, last).flops < wanted:
        raise ConfigError(
            f"No {title(network)} of a width up to {last:,} costs as much as {members} members: "
            "choose fewer members."
        )
    return min(
        range(own_width(network), last + 1),
        key=lambda width: abs(
            math.log(cost_at(network, image_shape, classes, width).flops / wanted)
        ),
    )


def same_seconds(share_of: Callable[[int], float], own: int, first: int) -> Timed:
    """The width at which a step of one network takes as long as one of the ensemble.

    By secants in logarithms; of the widths that were measured the one that comes closest.

    Args:
      share_of: measures the seconds of a step of the single network of a width, of those of the
        ensemble's.
      own: the network's own width, below which none is tried.
      first: where to begin: `same_flops`.
    """
    known: dict[int, float] = {}
    width, power = first, USUAL_POWER

    def off(one: int) -> float:
        return abs(math.log(known[one]))

    for _ in range(ROUNDS):
        known[width] = share_of(width)
        if off(width) <= CLOSE:
            break
        near = sorted(known, key=off)[:2]
        if len(near) == 2:
            rise = math.log(known[near[0]] / known[near[1]]) / math.log(near[0] / near[1])
            power = min(max(rise, 0.5), 4.0)  # a measurement that went astray leads nowhere far
        width = min(max(round(near[0] * known[near[0]] ** (-1 / power)), own), widest())
        if width in known:
            break
    best = min(known, key=off)
    return Timed(best, known[best])
