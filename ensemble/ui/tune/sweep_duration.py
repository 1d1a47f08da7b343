"""About how long a sweep will take on this machine, trial by trial."""

import math
import random
import socket
from collections.abc import Iterator
from dataclasses import dataclass, replace
from statistics import fmean

from ensemble import datasets
from ensemble.config import EnsembleConfig
from ensemble.datasets.partition.folds import count_images_per_member
from ensemble.datasets.partition.split import count_holdout_images
from ensemble.errors import ConfigError
from ensemble.machine.run_estimate import STARTUP_SECONDS, PastRun, estimate_training_time
from ensemble.sweeps import SweepConfig
from ensemble.sweeps.search_space import Axis, Value, ValueList, build_grid
from ensemble.ui.devices.probe import DeviceInventory
from ensemble.ui.train import network_control
from ensemble.ui.train.launch import find_bench_speed, list_past_speeds

_SAMPLED_TRIALS = 24  # trials that stand for all
OVERHEAD_SECONDS = 1.0  # of each training of a trial, beside it


@dataclass(frozen=True)
class _SweepDuration:
    """How long, and by what: "runs", "bench" or "guess", as `machine.run_estimate` has it.

    Attributes:
      seconds: of all trainings of all trials, as if none were ended early.
      source: who says so.
    """

    seconds: float
    source: str


def estimate_sweep_duration(config: SweepConfig, here: DeviceInventory) -> _SweepDuration | None:
    """How long the sweep takes; None where a network is still to say what it takes.

    Workers share the cores of a processor, so that there they save nothing; each device more
    than one trial needs is not reckoned with either.
    """
    trial_configs = [
        trial_duration
        for trial in _sample_trial_configs(config)
        if (trial_duration := _estimate_trial_duration(trial, here))
    ]
    if not trial_configs:
        return None
    each = fmean(duration.seconds for duration in trial_configs)
    return _SweepDuration(
        STARTUP_SECONDS + config.trial_count * config.repeats * (each + OVERHEAD_SECONDS), trial_configs[0].source
    )


def _sample_trial_configs(config: SweepConfig) -> list[EnsembleConfig]:
    """Settings of trials that stand for all: of a grid some evenly, else some at random."""
    configs = []
    for params in _sample_grid_trials(config) if config.sampler == "grid" else _iterate_random_trials(config):
        try:
            trial = config.build_trial_config(params)
        except ConfigError:
            continue  # Such a trial fails at once.
        configs += [trial] if isinstance(trial, EnsembleConfig) else []
    return configs


def _sample_grid_trials(config: SweepConfig) -> list[dict[str, Value]]:
    every = build_grid(config.search_axes)
    return every[:: max(1, len(every) // _SAMPLED_TRIALS)]


def _iterate_random_trials(config: SweepConfig) -> Iterator[dict[str, Value]]:
    draws = random.Random(0)
    for _ in range(_SAMPLED_TRIALS):
        yield {name: _draw_axis_value(axis, draws) for name, axis in config.search_axes.items()}


def _draw_axis_value(axis: Axis, draws: random.Random) -> Value:
    if isinstance(axis, ValueList):
        return draws.choice(axis.values)
    share = draws.random()
    if axis.log:
        value = math.exp(math.log(axis.low) * (1 - share) + math.log(axis.high) * share)
    else:
        value = axis.low + (axis.high - axis.low) * share
    return round(value) if axis.whole else min(max(value, axis.low), axis.high)


def _estimate_trial_duration(config: EnsembleConfig, here: DeviceInventory) -> _SweepDuration | None:
    info = datasets.find_dataset_info(config.dataset)
    cost = network_control.probe_network(str(config.network), info, config.width).cost
    if cost is None:
        return None
    learnt = info.train_size - count_holdout_images(info.train_size, config.validation)
    info = replace(info, train_size=count_images_per_member(learnt, config.folds))
    devices = min(config.devices or here.devices, here.devices)
    past: list[PastRun] = list_past_speeds(info, cost, here.devices)
    training_time = estimate_training_time(
        config,
        info.train_size,
        platform=here.platform,
        devices=devices,
        cores=here.cores,
        host=socket.gethostname(),
        past=past,
        bench=find_bench_speed(config, devices),
        work=cost.flops,
    )
    return _SweepDuration(max(0.0, training_time.seconds - STARTUP_SECONDS), training_time.source)
