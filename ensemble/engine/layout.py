"""Where the members live: M members on D devices, K = ceil(M / D) lanes on each.

Member m is lane m % K of device m // K. M need not divide: the last lanes are then
surplus, are given no steps, and are never reported. Where members take turns on their device,
forms/split_member_layout.py lets two devices take turns at one member, so that none of them idles.
These two modules are the ones that know; everywhere else arrays have a leading axis M.

The devices may be of several hosts, one process each. A process hands over, and sees, what is on
its own alone; the one that leads gathers the rest.
"""

import functools
import itertools
import math
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import jax
import numpy as np
from jax import Array

from ensemble.errors import ConfigError
from ensemble.hosts.process_group import get_process_group

AXIS = "devices"
# What a program is mapped over the devices by: the same program, and the same bits, by either.
MAPPING_VARIABLE = "ENSEMBLE_MAPPING"
MAPPINGS = ("pmap", "shard_map")


@dataclass(frozen=True)
class Layout:
    """M members laid out on devices; `devices` holds the D that are used.

    `idle` are those that could be used as well, but would hold no member.
    """

    members: int
    devices: tuple[jax.Device, ...]
    idle: tuple[jax.Device, ...] = ()

    @classmethod
    def over_devices(cls, members: int, devices: Sequence[jax.Device]) -> "Layout":
        """Spread evenly over `devices`; those that would hold no member are left out."""
        lanes = math.ceil(members / len(devices))
        used = math.ceil(members / lanes)
        return cls(members, tuple(devices[:used]), tuple(devices[used:]))

    @property
    def lanes(self) -> int:
        """K, members on one device."""
        return math.ceil(self.members / len(self.devices))

    @property
    def occupied_lanes(self) -> np.ndarray:
        """Which lanes hold a member: bool (D, K)."""
        lanes = len(self.devices) * self.lanes
        return (np.arange(lanes) < self.members).reshape(len(self.devices), self.lanes)

    @property
    def lane_members(self) -> np.ndarray:
        """Whose numbers are in each lane, those of a surplus lane repeat the last: (D, K)."""
        lanes = np.arange(len(self.devices) * self.lanes)
        return np.minimum(lanes, self.members - 1).reshape(len(self.devices), self.lanes)

    def active_lanes(self, active: np.ndarray) -> np.ndarray:
        """Which lanes hold one of these members at home, bool (M,) to bool (D, K)."""
        return self.occupied_lanes & active[self.lane_members]

    @functools.cached_property
    def local_device_mask(self) -> tuple[bool, ...]:
        """Which of the devices are this process's: all, where it is alone."""
        here = jax.process_index()
        return tuple(device.process_index == here for device in self.devices)

    @functools.cached_property
    def local_devices(self) -> tuple[jax.Device, ...]:
        """The devices that are this process's."""
        return tuple(itertools.compress(self.devices, self.local_device_mask))

    @property
    def is_single_process(self) -> bool:
        """Whether all devices are this process's."""
        return len(self.local_devices) == len(self.devices)

    @property
    def device_processes(self) -> np.ndarray:
        """The process that has each device, int (D,)."""
        return np.array([device.process_index for device in self.devices])

    def pmap(
        self,
        function: Callable[..., Any],
        donate_argnums: int | tuple[int, ...] = (),
        compiler_options: dict[str, str] | None = None,
    ) -> Callable[..., Any]:
        """`jax.pmap` over this process's devices, under the axis name `AXIS`.

        What is computed with no collective needs no other process. Where `ENSEMBLE_MAPPING` says
        so, it is `jax.shard_map` that does it, to the same bits.

        Raises:
          ConfigError: the variable names no way to map.
        """
        by_pmap = choose_mapping() == "pmap"
        if by_pmap and jax.process_count() == 1 and compiler_options is None:
            return jax.pmap(function, axis_name=AXIS, devices=self.devices, donate_argnums=donate_argnums)
        return _shard_map_over_devices(function, self.local_devices, donate_argnums, compiler_options)

    def pmap_over_processes(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """`pmap` over the devices of all processes, which have to call it together.

        Each gives and gets the rows of its own devices.
        """
        if self.is_single_process:
            return self.pmap(function)
        compiled, mine = (_shard_map_over_devices(function, self.devices), _build_sharding(self.local_devices))
        every = _build_sharding(self.devices)

        def join_shards(array: Array) -> Array:
            shape = (len(self.devices), *array.shape[1:])
            shards = [addressable_shard.data for addressable_shard in array.addressable_shards]
            return jax.make_array_from_single_device_arrays(shape, every, shards)

        def keep_local_shards(array: Array) -> Array:
            shape = (len(self.local_devices), *array.shape[1:])
            shards = [addressable_shard.data for addressable_shard in array.addressable_shards]
            return jax.make_array_from_single_device_arrays(shape, mine, shards)

        def run_on_all(*arguments: Any) -> Any:
            return jax.tree.map(keep_local_shards, compiled(*jax.tree.map(join_shards, arguments)))

        return run_on_all

    def spread(self, tree: Any) -> Any:
        """Arrays (M, …) to (D, K, …), each lane on its device, as `lane_members` says."""
        index = self.lane_members

        def lay_out(leaf: Any) -> Array:
            host = np.asarray(leaf)  # Taken apart by JAX, every shape would be a program.
            whose = zip(index, self.local_device_mask, strict=True)
            return self.put_shards([take_rows(host, row) if own else None for row, own in whose])

        return jax.tree.map(lay_out, tree)

    def replicate(self, tree: Any) -> Any:
        """Arrays (…) to (D, …), one copy on each device."""
        return jax.tree.map(lambda leaf: self.put_shards([leaf] * len(self.devices)), tree)

    @property
    def process_counts(self) -> dict[str, int]:
        """How many processes have the devices, and how many of them are this one's; {} of one."""
        if self.is_single_process:
            return {}
        return {"processes": len(set(self.device_processes.tolist())), "used_here": len(self.local_devices)}

    def put_shards(self, shards: Sequence[Any] | np.ndarray) -> Array:
        """One array (D, …) from D shards (…), the d-th on device d, without a host copy of all.

        Of several processes each makes one of its own devices' rows, and looks at no others.
        """
        placed = [
            jax.device_put(shard[None], device)
            for shard, device, mine in zip(shards, self.devices, self.local_device_mask, strict=True)
            if mine
        ]
        shape = (len(self.local_devices), *placed[0].shape[1:])
        return jax.make_array_from_single_device_arrays(shape, _build_sharding(self.local_devices), placed)

    def gather(self, tree: Any) -> Any:
        """Arrays (D, K, …) on devices to NumPy (M, …): the inverse of `spread`.

        In a process that only follows, members of other hosts are zero.
        """

        def join_rows(leaf: Array) -> np.ndarray:
            whole = self.fetch_rows(leaf)
            return whole.reshape(-1, *whole.shape[2:])[self.member_lanes]

        return jax.tree.map(join_rows, tree)

    def fetch_rows(self, array: Array) -> np.ndarray:
        """An array (D, …) on devices in NumPy, as it is; see `gather` for other hosts'."""
        mine, company = np.asarray(array), get_process_group()
        if self.is_single_process or company is None:
            return mine
        return company.gather_rows(mine, self.device_processes)

    def copy_to_host(self, leaf: Array) -> list[np.ndarray]:
        """An array (D, …) on devices as D NumPy arrays (…), without a copy where that can be."""
        return [np.asarray(shard)[0] for shard in self.list_shards(leaf)]

    def list_shards(self, leaf: Array) -> list[Array]:
        """What each device has of an array (D, …): (1, …), in the order of devices."""
        shards = {shard.device: shard.data for shard in leaf.addressable_shards}
        return [shards[device] for device in self.devices]

    @property
    def member_lanes(self) -> slice | np.ndarray:
        """Where each member is among all lanes of all devices."""
        return slice(self.members)


def _build_sharding(devices: tuple[jax.Device, ...]) -> jax.sharding.NamedSharding:
    mesh = jax.sharding.Mesh(np.array(devices), (AXIS,))
    return jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec(AXIS))


def take_rows(host: np.ndarray, which: np.ndarray) -> np.ndarray:
    """These rows of an array; without a copy where they follow one another."""
    together = np.array_equal(which, np.arange(which[0], which[0] + len(which)))
    return host[which[0] : which[0] + len(which)] if together else host[which]


def _shard_map_over_devices(
    function: Callable[..., Any],
    devices: tuple[jax.Device, ...],
    donate_argnums: int | tuple[int, ...] = (),
    compiler_options: dict[str, str] | None = None,
) -> Callable[..., Any]:
    """What `jax.pmap` makes of it.

    That one takes no options for the compiler, and among several processes it would copy what is
    donated.
    """
    sharding = _build_sharding(devices)

    def run_on_shard(*arguments: Any) -> Any:
        result = function(*jax.tree.map(lambda leaf: leaf[0], arguments))
        return jax.tree.map(lambda leaf: leaf[None], result)

    spread = jax.shard_map(
        run_on_shard, mesh=sharding.mesh, in_specs=sharding.spec, out_specs=sharding.spec, check_vma=False
    )
    return jax.jit(spread, donate_argnums=donate_argnums, compiler_options=compiler_options)


def choose_mapping() -> str:
    """What maps programs over devices, of `MAPPINGS`: as `ENSEMBLE_MAPPING` says, else `pmap`.

    Raises:
      ConfigError: the variable has another word.
    """
    word = os.environ.get(MAPPING_VARIABLE, "").strip() or MAPPINGS[0]
    if word not in MAPPINGS:
        raise ConfigError(f"{MAPPING_VARIABLE} is {word!r:.80}: set it to {' or '.join(MAPPINGS)}, or unset it.")
    return word


def choose_devices(count: int) -> list[jax.Device]:
    """The first `count` devices, or all for 0; ConfigError if there are fewer.

    In one program of several hosts they are those of all hosts.
    """
    devices = jax.devices()
    if count > len(devices):
        hosts = jax.process_count()
        place = "this machine has" if hosts == 1 else f"these {hosts} processes have"
        raise ConfigError(f"devices is {count}, but {place} {len(devices)}: choose at most that, or 0 for all.")
    return devices[:count] if count else devices
