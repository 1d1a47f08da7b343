"""Who works when, where two devices take turns at a member (shared.py).

A call of n steps is n · M / D for each device, in this order: the first steps of a member that it
shares with the next device; all those of its own; the last steps of its guest. So a shared member's
first steps lie before its last ones wherever M > D (McNaughton 1959). Its numbers go from the one
device to the other in between, and back at the end. There all devices wait for each other: a call
is cut, at as few moments as will do, and always at one for two devices.
"""

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from ensemble.engine.forms.shared import Shared


class Part(NamedTuple):
    """What all devices do between two waits.

    Attributes:
      arriving: the devices whose guest is brought to them before.
      starts: the first step of each lane, from 0, (D, K).
      counts: how many steps each lane does, (D, K).
    """

    arriving: tuple[int, ...]
    starts: np.ndarray
    counts: np.ndarray


def parts(layout: Shared, steps: int) -> list[Part]:
    """A call of so many steps of every member, in parts to be done one after the other."""
    work, moves, kept = timetable(layout, steps), cuts(layout, steps), at_home(layout, steps)
    moments = sorted({0, *(moment for d, moment in moves.items() if kept[d])})
    found = []
    for begin, end in zip(moments, [*moments[1:], None], strict=True):
        # Who does nothing at home has the same numbers as a guest already.
        arriving = tuple(d for d, moment in moves.items() if moment == begin and kept[d])
        starts, counts = np.zeros((2, *layout.real.shape), np.int32)
        for device, turns in enumerate(work):
            time = 0
            for lane, start, count in turns:
                first = max(begin, time) - time
                last = count if end is None else min(end - time, count)
                if last > first:
                    starts[device, lane], counts[device, lane] = start + first, last - first
                time += count
        if counts.any():
            found.append(Part(arriving, starts, counts))
    return found


def timetable(layout: Shared, steps: int) -> list[list[tuple[int, int, int]]]:
    """What each device does, in order: (lane, first step, steps)."""
    kept, found = at_home(layout, steps), []
    count = len(layout.devices)
    for device in range(count):
        lanes = [(lane, 0, steps) for lane in np.flatnonzero(layout.real[device]).tolist()]
        if device + 1 < count and layout.guests[device + 1] >= 0:
            lanes = [(lanes[-1][0], 0, kept[device + 1]), *lanes[:-1]]
        if layout.guests[device] >= 0:
            lanes.append((layout.lanes - 1, kept[device], steps - kept[device]))
        found.append(lanes)
    return found


def at_home(layout: Shared, steps: int) -> list[int]:
    """For each device, how many steps its guest does before it comes."""
    count = len(layout.devices)
    return [steps * (device * layout.members % count) // count for device in range(count)]


def cuts(layout: Shared, steps: int) -> dict[int, int]:
    """When the guest of a device is brought to it, in steps from the beginning.

    That is between its last step at home and its first as a guest. Each moment serves as many as
    can wait for it.
    """
    kept, work = at_home(layout, steps), timetable(layout, steps)
    visited = np.flatnonzero(layout.guests >= 0).tolist()
    latest = {device: sum(turn[2] for turn in work[device][:-1]) for device in visited}
    moments: list[int] = []
    found = {}
    for device in sorted(visited, key=latest.__getitem__):
        if not moments or moments[-1] < kept[device]:
            moments.append(latest[device])
        found[device] = next(moment for moment in moments if moment >= kept[device])
    return found


class Sharing:
    """Takes guests' numbers to where they are guests, and home again; and who does what, when.

    Args:
      layout: where members live.
    """

    def __init__(self, layout: Shared) -> None:
        self._layout = layout
        self._take, self._give = _programs(layout)
        self._home_lanes = [int(n) - 1 for n in layout.real.sum(1)]

    def parts(self, steps: int, active: np.ndarray) -> list[Part]:
        """A call of so many steps of the active members (M,), one part after the other."""
        return [self._of(active, part) for part in parts(self._layout, steps)]

    def at_once(self, start: int, units: int, active: np.ndarray) -> Part:
        """What need not be done in order, `units` of each active member from `start`."""
        starts, counts = np.full((2, *self._layout.real.shape), start, np.int32)
        counts[:] = 0
        for device, turns in enumerate(timetable(self._layout, units)):
            for lane, first, count in turns:
                starts[device, lane], counts[device, lane] = start + first, count
        return self._of(active, Part((), starts, counts))

    def collect(self, whole: np.ndarray, pieces: Array, part: Part, relative: bool) -> None:
        """Fill into `whole` (M, S, …) what the lanes have found, (D, K, rows, …).

        Args:
          whole: all members' figures.
          pieces: the lanes' figures, on the devices.
          part: what they have done.
          relative: whether a lane's rows begin at its own first step.
        """
        holds, found = self._layout.holds, self._layout.on_host(pieces)
        for device, lane in np.argwhere(part.counts):
            first, count = part.starts[device, lane], part.counts[device, lane]
            rows = slice(0, count) if relative else slice(first, first + count)
            whole[holds[device, lane], first : first + count] = found[device][lane, rows]

    def arrive(self, state: Any, devices: tuple[int, ...]) -> Any:
        """The state with the guests of these devices brought to them; gives up `state`."""
        pairs = [(device - 1, device) for device in devices]
        return self._moved(state, pairs, self._home_lanes, self._guest_lanes)

    def go_home(self, state: Any) -> Any:
        """The state with all guests' numbers at home, too; gives up `state`."""
        visited = np.flatnonzero(self._layout.guests >= 0).tolist()
        pairs = [(device, device - 1) for device in visited]
        return self._moved(state, pairs, self._guest_lanes, self._home_lanes)

    def _of(self, active: np.ndarray, part: Part) -> Part:
        """The part without what members would do that are set aside."""
        return part._replace(counts=part.counts * active[self._layout.holds])

    @property
    def _guest_lanes(self) -> list[int]:
        return [self._layout.lanes - 1] * len(self._layout.devices)

    def _moved(
        self, state: Any, pairs: list[tuple[int, int]], out: list[int], into: list[int]
    ) -> Any:
        """Lanes copied from the first device of each pair to the second."""
        if not pairs:
            return state
        layout, source = self._layout, {to: of for of, to in pairs}
        taken = jax.block_until_ready(self._take(state, layout.put(np.array(out, np.int32))))
        changed = np.array([d in source for d in range(len(layout.devices))])

        leaves, shape = jax.tree.flatten(taken)
        old = [layout.shards(leaf) for leaf in leaves]  # By leaf, then by device.
        new = [list(shards) for shards in old]
        for device, of in source.items():
            moved = jax.device_put([shards[of] for shards in old], layout.devices[device])
            for shards, one in zip(new, moved, strict=True):
                shards[device] = one
        join = jax.make_array_from_single_device_arrays
        joined = [
            join(leaf.shape, leaf.sharding, shards)
            for leaf, shards in zip(leaves, new, strict=True)
        ]
        brought = jax.tree.unflatten(shape, joined)
        lanes = layout.put(np.array(into, np.int32))
        return self._give(state, brought, lanes, layout.put(changed))


@functools.lru_cache(maxsize=64)
def _programs(layout: Shared) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """Out of a lane of each device, and into one."""

    def take(state: Any, lane: Array) -> Any:
        return jax.tree.map(lambda leaf: leaf[lane], state)

    def give(state: Any, member: Any, lane: Array, changed: Array) -> Any:
        def put_in(leaf: Array, one: Array) -> Array:
            # As a slice, which XLA writes in place; a scatter is many times slower on a CPU.
            kept = jnp.where(changed, one, leaf[lane])
            return jax.lax.dynamic_update_index_in_dim(leaf, kept, lane, 0)

        return jax.tree.map(put_in, state, member)

    return layout.pmap(take), layout.pmap(give, donate_argnums=0)
