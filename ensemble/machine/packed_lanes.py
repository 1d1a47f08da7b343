"""How many members one program trains faster than several, one after the other.

Runs that differ in numbers of their members alone may be trained side by side (see
`runs.training.packed_training`). That is faster

- on an accelerator, where lanes run side by side, and a few small networks leave it idle;
- on a CPU, where lanes run one after the other on each core, if a run has fewer members than there
  are cores: those that would idle train its neighbours; and if a network is so small that steps
  cost no more than what is done around them. Elsewhere it would be as fast as one run after the
  other, and the first result would come last.

(`python -m benchmarks.sweeps.packed` measures both ways.) What is trained at once fits into half of
the memory.
"""

from dataclasses import replace

from ensemble import datasets
from ensemble.config import EnsembleConfig
from ensemble.datasets.registry import find_dataset_entry
from ensemble.errors import ConfigError
from ensemble.machine import network_cost
from ensemble.machine.jax_settings import count_cpu_devices, prepare_jax
from ensemble.machine.machine_info import read_machine_info
from ensemble.machine.network_cost import NetworkCost
from ensemble.machine.run_estimate import estimate_memory_bytes

# On a CPU more gain nothing and wait longer; on an accelerator.
_MAX_CPU_LANES, _MAX_ACCELERATOR_LANES = 16, 64
# Operations of a member's forward pass over a batch, up to which a network is small: on a CPU, as
# measured; on an accelerator by reckoning, as what takes one far less than a step's calls do.
_SMALL_CPU_FLOPS, _SMALL_ACCELERATOR_FLOPS = 1e8, 5e9
_MEMORY_SHARE = 0.5


def count_packed_lanes(config: EnsembleConfig) -> int:
    """How many members of such runs are trained at once on this machine, where that is faster.

    As many as one run has where more would gain nothing, or where it is not known what they take.
    """
    devices = count_cpu_devices()
    if devices is None:
        prepare_jax()
        import jax

        every = jax.local_devices()
        if jax.default_backend() != "cpu":
            every = every[: config.devices or None]
            limits = [(device.memory_stats() or {}).get("bytes_limit", 0) for device in every]
            return count_accelerator_lanes(config, sum(limits))
        devices = len(every)
    devices = min(config.devices or devices, devices)
    return count_cpu_lanes(config, devices, read_machine_info().memory_bytes)


def count_cpu_lanes(config: EnsembleConfig, devices: int, memory_bytes: float) -> int:
    """As `count_packed_lanes`, for so many cores, each a device, and so much memory."""
    cost = _compute_member_cost(config)
    idle = config.members < devices
    if cost is None or not (idle or cost.flops * config.batch_size <= _SMALL_CPU_FLOPS):
        return config.members
    return _count_fitting_members(config, cost, _MAX_CPU_LANES, devices, memory_bytes)


def count_accelerator_lanes(config: EnsembleConfig, memory_bytes: float) -> int:
    """As `count_packed_lanes`, for accelerators that have so much memory together."""
    cost = _compute_member_cost(config)
    if cost is None or cost.flops * config.batch_size > _SMALL_ACCELERATOR_FLOPS:
        return config.members
    return _count_fitting_members(config, cost, _MAX_ACCELERATOR_LANES, _MAX_ACCELERATOR_LANES, memory_bytes)


def _count_fitting_members(
    config: EnsembleConfig, cost: NetworkCost, most: int, at_work: int, memory_bytes: float
) -> int:
    """The most members, of whole runs, of which `at_work` at a time fit into their memory."""
    members, data = config.members, find_dataset_entry(config.dataset).nbytes_prepared
    for lanes in range(most - most % members, members, -members):
        whole = replace(config, members=lanes, vary="")
        needed = estimate_memory_bytes(whole, cost, 0, at_work) + min(lanes, at_work) * data
        if needed <= _MEMORY_SHARE * memory_bytes:
            return lanes
    return members


def _compute_member_cost(config: EnsembleConfig) -> NetworkCost | None:
    """What a member takes; None if the network is a person's own, or the dataset is gone."""
    try:
        data = datasets.find_dataset_info(config.dataset)
    except ConfigError:
        return None
    classes = len(data.class_names)
    return network_cost.compute_network_cost(config.network, data.image_shape, classes, config.width)
