"""Where the members live: M members on D devices, K = ceil(M / D) lanes on each.

Member m is lane m % K of device m // K. M need not divide: the last lanes are then
surplus, are given no steps, and are never reported. Where members take turns on their device,
forms/split_member_layout.py lets two devices take turns at one member, so that none of them idles.
These two modules are the ones that know; everywhere else arrays have a leading axis M.
"""

import math
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import jax
import numpy as np
from jax import Array

from ensemble.errors import ConfigError

AXIS = "devices"
# What a program is mapped over the devices by: the same program, and the same bits, by either.
MAPPING_VARIABLE = "ENSEMBLE_MAPPING"
_MAPPINGS = ("pmap", "shard_map")


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

    def pmap(
        self,
        function: Callable[..., Any],
        donate_argnums: int | tuple[int, ...] = (),
        compiler_options: dict[str, str] | None = None,
    ) -> Callable[..., Any]:
        """Map a function over the devices by `jax.pmap`, under the axis name `AXIS`.

        If `ENSEMBLE_MAPPING` says so, `jax.shard_map` does it, with bit-identical results.

        Raises:
          ConfigError: the variable names no way to map.
        """
        if _choose_mapping() == "pmap" and compiler_options is None:
            return jax.pmap(function, axis_name=AXIS, devices=self.devices, donate_argnums=donate_argnums)
        return _shard_map_over_devices(function, self.devices, donate_argnums, compiler_options)

    def spread(self, tree: Any) -> Any:
        """Arrays (M, …) to (D, K, …), each lane on its device, as `lane_members` says."""
        index = self.lane_members

        def lay_out(leaf: Any) -> Array:
            host = np.asarray(leaf)  # Taken apart by JAX, every shape would be a program.
            return self.put_shards([_take_rows(host, row) for row in index])

        return jax.tree.map(lay_out, tree)

    def replicate(self, tree: Any) -> Any:
        """Arrays (…) to (D, …), one copy on each device."""
        return jax.tree.map(lambda leaf: self.put_shards([leaf] * len(self.devices)), tree)

    def put_shards(self, shards: Sequence[Any] | np.ndarray) -> Array:
        """One array (D, …) from D shards (…), the d-th on device d, without a host copy of all."""
        placed = [jax.device_put(shard[None], device) for shard, device in zip(shards, self.devices, strict=True)]
        shape = (len(self.devices), *placed[0].shape[1:])
        return jax.make_array_from_single_device_arrays(shape, _build_sharding(self.devices), placed)

    def gather(self, tree: Any) -> Any:
        """Arrays (D, K, …) on devices to NumPy (M, …): the inverse of `spread`."""

        def join_rows(leaf: Array) -> np.ndarray:
            whole = np.asarray(leaf)
            return whole.reshape(-1, *whole.shape[2:])[self.member_lanes]

        return jax.tree.map(join_rows, tree)

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


def _take_rows(host: np.ndarray, which: np.ndarray) -> np.ndarray:
    """These rows of an array; without a copy where they follow one another."""
    together = np.array_equal(which, np.arange(which[0], which[0] + len(which)))
    return host[which[0] : which[0] + len(which)] if together else host[which]


def _shard_map_over_devices(
    function: Callable[..., Any],
    devices: tuple[jax.Device, ...],
    donate_argnums: int | tuple[int, ...] = (),
    compiler_options: dict[str, str] | None = None,
) -> Callable[..., Any]:
    """What `jax.pmap` makes of it; that one takes no options for the compiler."""
    sharding = _build_sharding(devices)

    def run_on_shard(*arguments: Any) -> Any:
        result = function(*jax.tree.map(lambda leaf: leaf[0], arguments))
        return jax.tree.map(lambda leaf: leaf[None], result)

    spread = jax.shard_map(
        run_on_shard, mesh=sharding.mesh, in_specs=sharding.spec, out_specs=sharding.spec, check_vma=False
    )
    return jax.jit(spread, donate_argnums=donate_argnums, compiler_options=compiler_options)


def _choose_mapping() -> str:
    """What maps programs over devices, of `_MAPPINGS`: as `ENSEMBLE_MAPPING` says, else `pmap`.

    Raises:
      ConfigError: the variable has another word.
    """
    word = os.environ.get(MAPPING_VARIABLE, "").strip() or _MAPPINGS[0]
    if word not in _MAPPINGS:
        raise ConfigError(f"{MAPPING_VARIABLE} is {word!r:.80}: set it to {' or '.join(_MAPPINGS)}, or unset it.")
    return word


def choose_devices(count: int) -> list[jax.Device]:
    """The first `count` devices, or all for 0; ConfigError if there are fewer."""
    devices = jax.devices()
    if count > len(devices):
        raise ConfigError(
            f"devices is {count}, but this machine has {len(devices)}: choose at most that, or 0 for all."
        )
    return devices[:count] if count else devices
