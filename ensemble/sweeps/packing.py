"""How many trials a worker takes at once, to train them side by side in one program.

The worker decides, each time it has claimed a new trial, by what the sweep and this machine are;
nothing is asked of a person. Trials share a program where the space holds nothing but numbers of
members (learning rate, momentum, weight decay), and are packed where that is faster:

- On an accelerator lanes run side by side, and a few small networks leave it idle.
- On a CPU lanes run one after the other on each core, so a pack gains where a trial has fewer
  members than there are cores: those that would idle train its neighbours. It gains as well where
  a network is so small that steps cost no more than what is done around them. Elsewhere it would
  be as fast as its trials one after the other, and its first result would come last: there is none.
  (`python -m benchmarks.sweeps.packed` measures both ways.)

A pack holds at most so many members, fits into half of the memory, and leaves the other workers of
the sweep their share of the trials. Where a sampler or a pruner learns from trials that have ended
it is small: those in a pack know nothing of each other. Where trials are judged by their seconds,
and for runs in groups, there is none. One that was cut off goes on alone.
"""

import math
from dataclasses import replace

from ensemble import datasets, runs, varying
from ensemble.config import EnsembleConfig
from ensemble.datasets.registry import find as find_data
from ensemble.errors import ConfigError
from ensemble.jobs.outcome import StopRequest
from ensemble.machine import network_cost
from ensemble.machine.estimate import memory
from ensemble.machine.jax_settings import cpu_devices, prepare_jax
from ensemble.machine.network_cost import Cost
from ensemble.machine.this_machine import machine
from ensemble.sweeps.archive import WAITING, Archive
from ensemble.sweeps.claims import Claim, claim_more
from ensemble.sweeps.settings import SweepConfig
from ensemble.sweeps.store import Sweep, find
from ensemble.sweeps.training import train, train_together

# Of all trials of a pack: on a CPU, where more gain nothing but wait longer; on an accelerator.
MOST_MEMBERS, MOST_SIDE_BY_SIDE = 16, 64
# Of a pack's trials, where the next trials are chosen, or ended early, by what others came to.
FEW = 4
# Operations of a member's forward pass over a batch, up to which a network is small: on a CPU, as
# measured; on an accelerator by reckoning, as what takes one far less than a step's calls do.
SMALL, SMALL_SIDE_BY_SIDE = 1e8, 5e9
MEMORY_SHARE = 0.5


def train_claimed(
    sweep: Sweep, archive: Archive, claimed: Claim, outer: StopRequest
) -> list[runs.Run]:
    """Bring a claimed trial to its end, with more beside it where that is faster.

    Returns:
      The runs that ended, of those that no other process was at.
    """
    more: list[Claim] = []
    if claimed.fresh:
        config = find(sweep.id).config
        begun = sum(one.state != WAITING for one in archive.trials()) - 1
        more = claim_more(sweep, archive, at_once(config, begun, lanes_here(config.base)) - 1)
    if more:
        return train_together(archive, [claimed, *more], outer)
    run = train(archive, claimed, outer)
    return [run] if run else []


def at_once(config: SweepConfig, begun: int, lanes: int) -> int:
    """How many trials a worker takes at once: 1 where they are not packed.

    Args:
      config: the sweep's.
      begun: how many trials of it have begun.
      lanes: how many members may be trained in one program, faster than one trial after another.
    """
    members = config.base.members
    if not can_be_packed(config) or lanes < 2 * members:
        return 1
    most = lanes // members
    if config.sampler == "tpe" or config.pruner != "none":
        most = min(most, FEW)
    left = max(1, config.wanted - begun)
    # Packs of one size: each size is compiled.
    share = math.ceil(left / config.workers)
    return math.ceil(share / math.ceil(share / most))


def can_be_packed(config: SweepConfig) -> bool:
    """Whether trials differ in nothing but numbers of their members, and seconds are no matter."""
    alike = set(config.axes) <= set(varying.NAMES)
    return alike and config.base.groups == 1 and "seconds" not in config.goals


def lanes_here(config: EnsembleConfig) -> int:
    """How many members of such runs are trained at once on this machine, where that is faster.

    As many as one run has where more would gain nothing, or where it is not known what they take.
    """
    devices = cpu_devices()
    if devices is None:
        prepare_jax()
        import jax

        every = jax.local_devices()
        if jax.default_backend() != "cpu":
            every = every[: config.devices or None]
            limits = [(one.memory_stats() or {}).get("bytes_limit", 0) for one in every]
            return lanes_side_by_side(config, sum(limits))
        devices = len(every)
    devices = min(config.devices or devices, devices)
    return lanes_on_cpu(config, devices, machine().memory_bytes)


def lanes_on_cpu(config: EnsembleConfig, devices: int, memory_bytes: float) -> int:
    """As `lanes_here`, for so many cores, each a device, and so much memory."""
    cost = _cost(config)
    idle = config.members < devices
    if cost is None or not (idle or cost.flops * config.batch_size <= SMALL):
        return config.members
    return _fitting(config, cost, MOST_MEMBERS, devices, memory_bytes)


def lanes_side_by_side(config: EnsembleConfig, memory_bytes: float) -> int:
    """As `lanes_here`, for accelerators that have so much memory together."""
    cost = _cost(config)
    if cost is None or cost.flops * config.batch_size > SMALL_SIDE_BY_SIDE:
        return config.members
    return _fitting(config, cost, MOST_SIDE_BY_SIDE, MOST_SIDE_BY_SIDE, memory_bytes)


def _fitting(
    config: EnsembleConfig, cost: Cost, most: int, at_work: int, memory_bytes: float
) -> int:
    """The most members, of whole runs, of which `at_work` at a time fit into their memory."""
    members, data = config.members, find_data(config.dataset).nbytes_prepared
    for lanes in range(most - most % members, members, -members):
        whole = replace(config, members=lanes, vary="")
        needed = memory(whole, cost, 0, at_work) + min(lanes, at_work) * data
        if needed <= MEMORY_SHARE * memory_bytes:
            return lanes
    return members


def _cost(config: EnsembleConfig) -> Cost | None:
    """What a member takes; None where the network is a person's own, or the dataset is gone."""
    try:
        data = datasets.info(config.dataset)
    except ConfigError:
        return None
    classes = len(data.class_names)
    return network_cost.of(config.network, data.image_shape, classes, config.width)
