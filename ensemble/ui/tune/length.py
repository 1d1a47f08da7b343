"""About how long a sweep will take on this machine, trial by trial."""

import math
import random
import socket
from collections.abc import Iterator
from dataclasses import dataclass, replace
from statistics import fmean

from ensemble import datasets
from ensemble.config import EnsembleConfig
from ensemble.datasets.split import held_out
from ensemble.errors import ConfigError
from ensemble.machine.estimate import STARTUP_SECONDS, Past, estimate
from ensemble.sweeps import SweepConfig
from ensemble.sweeps.space import Axis, Listed, Value, grid
from ensemble.ui.devices.probe import Machine
from ensemble.ui.train import network
from ensemble.ui.train.launch import past_runs, raced

DRAWS = 24  # trials that stand for all
OVERHEAD_SECONDS = 1.0  # of a trial, beside its training


@dataclass(frozen=True)
class Length:
    """How long, and by what: "runs", "race" or "guess", as `machine.estimate` has it.

    Attributes:
      seconds: of all trials, as if none were ended early.
      told_by: who says so.
    """

    seconds: float
    told_by: str


def length(config: SweepConfig, here: Machine) -> Length | None:
    """How long the sweep takes; None where a network is still to say what it takes.

    Workers share the cores of a processor, so that there they save nothing; each device more
    than one trial needs is not reckoned with either.

    Args:
      config: of the sweep.
      here: this machine.
    """
    found = [one for trial in likely(config) if (one := of_trial(trial, here))]
    if not found:
        return None
    each = fmean(one.seconds for one in found)
    return Length(STARTUP_SECONDS + config.wanted * (each + OVERHEAD_SECONDS), found[0].told_by)


def likely(config: SweepConfig) -> list[EnsembleConfig]:
    """Settings of trials that stand for all: of a grid some evenly, else some at random."""
    found = []
    for params in of_grid(config) if config.sampler == "grid" else drawn(config):
        try:
            found.append(config.of_trial(params))
        except ConfigError:
            continue  # Such a trial fails at once.
    return found


def of_grid(config: SweepConfig) -> list[dict[str, Value]]:
    """Some of a grid's trials, evenly."""
    every = grid(config.axes)
    return every[:: max(1, len(every) // DRAWS)]


def drawn(config: SweepConfig) -> Iterator[dict[str, Value]]:
    """Trials at random, the same at each look."""
    draws = random.Random(0)
    for _ in range(DRAWS):
        yield {name: value(axis, draws) for name, axis in config.axes.items()}


def value(axis: Axis, draws: random.Random) -> Value:
    """One value of an axis."""
    if isinstance(axis, Listed):
        return draws.choice(axis.values)
    share = draws.random()
    if axis.log:
        found = math.exp(math.log(axis.low) * (1 - share) + math.log(axis.high) * share)
    else:
        found = axis.low + (axis.high - axis.low) * share
    return round(found) if axis.whole else min(max(found, axis.low), axis.high)


def of_trial(config: EnsembleConfig, here: Machine) -> Length | None:
    """How long the training of one trial takes."""
    info = datasets.info(config.dataset)
    cost = network.known(str(config.network), info, config.width).cost
    if cost is None:
        return None
    info = replace(info, train_size=info.train_size - held_out(info.train_size, config.validation))
    devices = min(config.devices or here.devices, here.devices)
    past: list[Past] = past_runs(info, cost, here.devices)
    found = estimate(
        config,
        info.train_size,
        platform=here.platform,
        devices=devices,
        cores=here.cores,
        host=socket.gethostname(),
        past=past,
        raced=raced(config, devices),
        work=cost.flops,
    )
    return Length(max(0.0, found.seconds - STARTUP_SECONDS), found.told_by)
