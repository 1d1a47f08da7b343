"""Where members live that are fewer than the devices, and whose batches are learnt in parts."""

from dataclasses import dataclass
from typing import Any

import jax
import numpy as np

from ensemble.config.batch_sharing import count_devices_per_member
from ensemble.engine.layout import Layout


@dataclass(frozen=True)
class SharedBatchLayout(Layout):
    """M members, each on `copies` devices, which compute a part of its gradient each.

    A member's devices follow one another. All of them hold its numbers, and move them alike; the
    first is its home, which is asked for them.
    """

    copies: int = 1

    @classmethod
    def from_layout(cls, layout: Layout, parts: int) -> "SharedBatchLayout":
        """The layout with so many copies as parts can be shared among, one where nobody idles."""
        devices = (*layout.devices, *layout.idle)
        copies = count_devices_per_member(layout.members, len(devices), parts)
        if copies == 1:
            return cls(layout.members, layout.devices, layout.idle)
        used = layout.members * copies
        return cls(layout.members, devices[:used], devices[used:], copies)

    @property
    def lanes(self) -> int:
        """K, members on one device."""
        return -(-self.members // (len(self.devices) // self.copies))

    @property
    def occupied_lanes(self) -> np.ndarray:
        """Which lanes are some member's home: bool (D, K)."""
        occupied = np.zeros((len(self.devices), self.lanes), bool)
        homes = occupied[:: self.copies]
        homes[:] = (np.arange(homes.size) < self.members).reshape(homes.shape)
        return occupied

    @property
    def lane_members(self) -> np.ndarray:
        """Whose numbers are in each lane, those of a surplus lane repeat the last: (D, K)."""
        homes = np.arange(len(self.devices) // self.copies * self.lanes).reshape(-1, self.lanes)
        return np.repeat(np.minimum(homes, self.members - 1), self.copies, axis=0)

    @property
    def member_lanes(self) -> np.ndarray:
        """Where each member's home is among all lanes of all devices: (M,)."""
        return np.flatnonzero(self.occupied_lanes)

    @property
    def copy_numbers(self) -> np.ndarray:
        """Which copy of its members each device has, from 0: (D,)."""
        return np.arange(len(self.devices)) % self.copies

    def fetch_from_copy(self, tree: Any, copy: int) -> Any:
        """Arrays (D, …) with, on every device, what that copy of its members has."""
        if self.copies == 1:
            return tree
        leaves, shape = jax.tree.flatten(tree)
        by_leaf = [self.list_shards(leaf) for leaf in leaves]
        by_device = []
        for number, device in enumerate(self.devices):
            source = number - number % self.copies + copy
            there = [shards[source] for shards in by_leaf]
            by_device.append(there if source == number else jax.device_put(there, device))
        join = jax.make_array_from_single_device_arrays
        joined = [
            join(leaf.shape, leaf.sharding, list(shards))
            for leaf, shards in zip(leaves, zip(*by_device, strict=True), strict=True)
        ]
        return jax.tree.unflatten(shape, joined)
