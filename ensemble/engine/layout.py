"""Where the members live: M members on D devices, K = ceil(M / D) lanes on each.

Member m is lane m % K of device m // K. M need not divide: the last lanes are then
surplus, are given no steps, and are never reported. This is the one module that knows;
everywhere else arrays have a leading axis M.
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
    """M members laid out on devices; `devices` holds the D that are used."""

    members: int
    devices: tuple[jax.Device, ...]

    @classmethod
    def over(cls, members: int, devices: Sequence[jax.Device]) -> "Layout":
        """Spread evenly over `devices`; those that would hold no member are left out."""
        lanes = math.ceil(members / len(devices))
        return cls(members, tuple(devices[: math.ceil(members / lanes)]))

    @property
    def lanes(self) -> int:
        """K, members on one device."""
        return math.ceil(self.members / len(self.devices))

    @property
    def real(self) -> np.ndarray:
        """Which lanes hold a member: bool (D, K)."""
        lanes = len(self.devices) * self.lanes
        return (np.arange(lanes) < self.members).reshape(len(self.devices), self.lanes)

    def pmap(self, function: Callable[..., Any], **options: Any) -> Callable[..., Any]:
        """`jax.pmap` over this layout's devices, under the axis name `AXIS`."""
        return jax.pmap(function, axis_name=AXIS, devices=self.devices, **options)

    def spread(self, tree: Any) -> Any:
        """Arrays (M, …) to (D, K, …), each lane on its device; surplus lanes repeat the last."""
        index = np.minimum(np.arange(self.real.size), self.members - 1).reshape(self.real.shape)

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
            return whole.reshape(-1, *whole.shape[2:])[: self.members]

        return jax.tree.map(join, tree)


def choose_devices(count: int) -> list[jax.Device]:
    """The first `count` local devices, or all for 0; ConfigError if there are fewer."""
    devices = jax.local_devices()
    if count > len(devices):
        raise ConfigError(
            f"devices is {count}, but this machine has {len(devices)}: choose at most that, "
            "or 0 for all."
        )
    return devices[:count] if count else devices
