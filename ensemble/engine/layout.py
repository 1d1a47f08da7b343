"""Where the members live: M members on D devices, K = ceil(M / D) lanes on each.

Member m is lane m % K of device m // K. M need not divide: the last lanes are then
surplus, are given no steps, and are never reported. Where members take turns on their device,
`Shared` lets two devices take turns at one member, so that none of them idles. This is the one
module that knows; everywhere else arrays have a leading axis M.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import jax
import numpy as np
from jax import Array

from ensemble.errors import ConfigError

AXIS = "devices"


@dataclass(frozen=True)
class Layout:
    """M members laid out on devices; `devices` holds the D that are used.

    `idle` are those that could be used as well, but would hold no member.
    """

    members: int
    devices: tuple[jax.Device, ...]
    idle: tuple[jax.Device, ...] = ()

    @classmethod
    def over(cls, members: int, devices: Sequence[jax.Device]) -> "Layout":
        """Spread evenly over `devices`; those that would hold no member are left out."""
        lanes = math.ceil(members / len(devices))
        used = math.ceil(members / lanes)
        return cls(members, tuple(devices[:used]), tuple(devices[used:]))

    @property
    def lanes(self) -> int:
        """K, members on one device."""
        return math.ceil(self.members / len(self.devices))

    @property
    def real(self) -> np.ndarray:
        """Which lanes hold a member: bool (D, K)."""
        lanes = len(self.devices) * self.lanes
        return (np.arange(lanes) < self.members).reshape(len(self.devices), self.lanes)

    @property
    def holds(self) -> np.ndarray:
        """Whose numbers are in each lane, those of a surplus lane repeat the last: (D, K)."""
        lanes = np.arange(len(self.devices) * self.lanes)
        return np.minimum(lanes, self.members - 1).reshape(len(self.devices), self.lanes)

    def pmap(self, function: Callable[..., Any], **options: Any) -> Callable[..., Any]:
        """`jax.pmap` over this layout's devices, under the axis name `AXIS`."""
        return jax.pmap(function, axis_name=AXIS, devices=self.devices, **options)

    def spread(self, tree: Any) -> Any:
        """Arrays (M, …) to (D, K, …), each lane on its device, as `holds` says."""
        index = self.holds

        def lay_out(leaf: Any) -> Array:
            host = np.asarray(leaf)  # Taken apart by JAX, every shape would be a program.
            return self.put([host[row] for row in index])

        return jax.tree.map(lay_out, tree)

    def replicate(self, tree: Any) -> Any:
        """Arrays (…) to (D, …), one copy on each device."""
        return jax.tree.map(lambda leaf: self.put([leaf] * len(self.devices)), tree)

    def put(self, shards: Sequence[Any] | np.ndarray) -> Array:
        """One array (D, …) from D shards (…), the d-th on device d, without a host copy of all."""
        mesh = jax.sharding.Mesh(np.array(self.devices), (AXIS,))
        sharding = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec(AXIS))
        placed = [
            jax.device_put(shard[None], device)
            for shard, device in zip(shards, self.devices, strict=True)
        ]
        return jax.make_array_from_single_device_arrays(
            (len(self.devices), *shards[0].shape), sharding, placed
        )

    def gather(self, tree: Any) -> Any:
        """Arrays (D, K, …) on devices to NumPy (M, …): the inverse of `spread`."""

        def join(leaf: Array) -> np.ndarray:
            whole = np.asarray(leaf)
            return whole.reshape(-1, *whole.shape[2:])[self._lane_of]

        return jax.tree.map(join, tree)

    def on_host(self, leaf: Array) -> list[np.ndarray]:
        """An array (D, …) on devices as D NumPy arrays (…), without a copy where that can be."""
        return [np.asarray(shard)[0] for shard in self.shards(leaf)]

    def shards(self, leaf: Array) -> list[Array]:
        """What each device has of an array (D, …): (1, …), in the order of devices."""
        found = {shard.device: shard.data for shard in leaf.addressable_shards}
        return [found[device] for device in self.devices]

    @property
    def _lane_of(self) -> slice | np.ndarray:
        """Where each member is among all lanes of all devices."""
        return slice(self.members)


class Shared(Layout):
    """M members on D devices that they do not divide among, with M > D: nobody idles.

    Laid end to end, M members are M / D for each device. A member that a border between two
    devices cuts is shared: its *home* is the device where it begins, and it is a *guest* on the
    next, in that one's last lane (McNaughton, "Scheduling with deadlines and loss functions",
    1959). Between calls both lanes hold the same numbers. Who works when is told by
    forms/sharing.py.
    """

    @classmethod
    def of(cls, layout: Layout) -> Layout:
        """The layout over its idle devices too, or itself where there is nothing to share."""
        devices = (*layout.devices, *layout.idle)
        here = jax.process_index()
        if layout.members <= len(devices) or layout.members % len(devices) == 0:
            return layout
        if any(one.process_index != here for one in devices):
            return layout  # A member's numbers go from device to device by this machine's memory.
        return cls(layout.members, devices)

    @property
    def guests(self) -> np.ndarray:
        """The member that is a guest on each device, or -1: (D,)."""
        count = len(self.devices)
        border = np.arange(count) * self.members
        return np.where(border % count > 0, border // count, -1)

    @property
    def homes(self) -> np.ndarray:
        """The device that each member begins on: (M,)."""
        return np.arange(self.members) * len(self.devices) // self.members

    @property
    def lanes(self) -> int:
        """K, members on one device, its guest among them."""
        return int(np.max(np.bincount(self.homes) + (self.guests >= 0)))

    @property
    def real(self) -> np.ndarray:
        """Which lanes are some member's home: bool (D, K)."""
        return np.arange(self.lanes) < np.bincount(self.homes)[:, None]

    @property
    def holds(self) -> np.ndarray:
        """Whose numbers are in each lane: first those at home, last the guest's: (D, K)."""
        begin = np.searchsorted(self.homes, np.arange(len(self.devices)))[:, None]
        lane = np.arange(self.lanes)
        member = np.minimum(begin + lane, self.members - 1)
        guests = self.guests[:, None]
        return np.where((lane == self.lanes - 1) & (guests >= 0), guests, member)

    @property
    def _lane_of(self) -> slice | np.ndarray:
        return np.flatnonzero(self.real)


def choose_devices(count: int) -> list[jax.Device]:
    """The first `count` local devices, or all for 0; ConfigError if there are fewer."""
    devices = jax.local_devices()
    if count > len(devices):
        raise ConfigError(
            f"devices is {count}, but this machine has {len(devices)}: choose at most that, "
            "or 0 for all."
        )
    return devices[:count] if count else devices
