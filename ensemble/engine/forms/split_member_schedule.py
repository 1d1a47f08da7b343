"""Who works when, where two devices take turns at a member (split_member_layout.py).

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

from ensemble.engine.forms.split_member_layout import SplitMemberLayout


class ScheduleSegment(NamedTuple):
    """What all devices do between two waits.

    Attributes:
      receiving_devices: the devices whose guest is brought to them before.
      starts: the first step of each lane, from 0, (D, K).
      counts: how many steps each lane does, (D, K).
    """

    receiving_devices: tuple[int, ...]
    starts: np.ndarray
    counts: np.ndarray


def build_schedule_segments(layout: SplitMemberLayout, steps: int) -> list[ScheduleSegment]:
    """A call of so many steps of every member, in parts to be done one after the other."""
    work, moves, kept = (
        _build_timetable(layout, steps),
        _compute_handover_steps(layout, steps),
        _count_first_device_steps(layout, steps),
    )
    moments = sorted({0, *(moment for d, moment in moves.items() if kept[d])})
    segments = []
    for begin, end in zip(moments, [*moments[1:], None], strict=True):
        # Who does nothing at home has the same numbers as a guest already.
        arriving = tuple(d for d, moment in moves.items() if moment == begin and kept[d])
        starts, counts = np.zeros((2, *layout.occupied_lanes.shape), np.int32)
        for device, turns in enumerate(work):
            time = 0
            for lane, start, count in turns:
                first = max(begin, time) - time
                last = count if end is None else min(end - time, count)
                if last > first:
                    starts[device, lane], counts[device, lane] = start + first, last - first
                time += count
        if counts.any():
            segments.append(ScheduleSegment(arriving, starts, counts))
    return segments


def _build_timetable(layout: SplitMemberLayout, steps: int) -> list[list[tuple[int, int, int]]]:
    """What each device does, in order: (lane, first step, steps)."""
    kept, timetable = _count_first_device_steps(layout, steps), []
    count = len(layout.devices)
    for device in range(count):
        lanes = [(lane, 0, steps) for lane in np.flatnonzero(layout.occupied_lanes[device]).tolist()]
        if device + 1 < count and layout.continued_members[device + 1] >= 0:
            lanes = [(lanes[-1][0], 0, kept[device + 1]), *lanes[:-1]]
        if layout.continued_members[device] >= 0:
            lanes.append((layout.lanes - 1, kept[device], steps - kept[device]))
        timetable.append(lanes)
    return timetable


def _count_first_device_steps(layout: SplitMemberLayout, steps: int) -> list[int]:
    count = len(layout.devices)
    return [steps * (device * layout.members % count) // count for device in range(count)]


def _compute_handover_steps(layout: SplitMemberLayout, steps: int) -> dict[int, int]:
    """When the guest of a device is brought to it, in steps from the beginning.

    That is between its last step at home and its first as a guest. Each moment serves as many as
    can wait for it.
    """
    kept, work = _count_first_device_steps(layout, steps), _build_timetable(layout, steps)
    visited = np.flatnonzero(layout.continued_members >= 0).tolist()
    latest = {device: sum(turn[2] for turn in work[device][:-1]) for device in visited}
    moments: list[int] = []
    handovers = {}
    for device in sorted(visited, key=latest.__getitem__):
        if not moments or moments[-1] < kept[device]:
            moments.append(latest[device])
        handovers[device] = next(moment for moment in moments if moment >= kept[device])
    return handovers


class SplitMemberSchedule:
    """Takes guests' numbers to where they are guests, and home again; and who does what, when.

    Args:
      layout: where members live.
    """

    def __init__(self, layout: SplitMemberLayout) -> None:
        self._layout = layout
        self._take, self._give = _build_lane_programs(layout)
        self._home_lanes = [int(n) - 1 for n in layout.occupied_lanes.sum(1)]

    def build_segments(self, steps: int, active: np.ndarray) -> list[ScheduleSegment]:
        """A call of so many steps of the active members (M,), one part after the other."""
        return [self._drop_frozen(active, part) for part in build_schedule_segments(self._layout, steps)]

    def build_unordered_segment(self, start: int, units: int, active: np.ndarray) -> ScheduleSegment:
        """What need not be done in order, `units` of each active member from `start`."""
        starts, counts = np.full((2, *self._layout.occupied_lanes.shape), start, np.int32)
        counts[:] = 0
        for device, turns in enumerate(_build_timetable(self._layout, units)):
            for lane, first, count in turns:
                starts[device, lane], counts[device, lane] = start + first, count
        return self._drop_frozen(active, ScheduleSegment((), starts, counts))

    def collect_rows(self, whole: np.ndarray, pieces: Array, part: ScheduleSegment, relative: bool) -> None:
        """Fill into `whole` (M, S, …) what the lanes have found, (D, K, rows, …).

        Args:
          whole: all members' metrics.
          pieces: the lanes' metrics, on the devices.
          part: what they have done.
          relative: whether a lane's rows begin at its own first step.
        """
        holds, lane_rows = self._layout.lane_members, self._layout.copy_to_host(pieces)
        for device, lane in np.argwhere(part.counts):
            first, count = part.starts[device, lane], part.counts[device, lane]
            rows = slice(0, count) if relative else slice(first, first + count)
            whole[holds[device, lane], first : first + count] = lane_rows[device][lane, rows]

    def move_to_next_devices(self, state: Any, devices: tuple[int, ...]) -> Any:
        """The state with the guests of these devices brought to them; gives up `state`."""
        pairs = [(device - 1, device) for device in devices]
        return self._copy_lanes(state, pairs, self._home_lanes, self._continued_lanes)

    def return_to_first_devices(self, state: Any) -> Any:
        """The state with all guests' numbers at home, too; gives up `state`."""
        visited = np.flatnonzero(self._layout.continued_members >= 0).tolist()
        pairs = [(device, device - 1) for device in visited]
        return self._copy_lanes(state, pairs, self._continued_lanes, self._home_lanes)

    def _drop_frozen(self, active: np.ndarray, part: ScheduleSegment) -> ScheduleSegment:
        return part._replace(counts=part.counts * active[self._layout.lane_members])

    @property
    def _continued_lanes(self) -> list[int]:
        return [self._layout.lanes - 1] * len(self._layout.devices)

    def _copy_lanes(self, state: Any, pairs: list[tuple[int, int]], out: list[int], into: list[int]) -> Any:
        if not pairs:
            return state
        layout, source = self._layout, {to: origin_device for origin_device, to in pairs}
        lane_arrays = jax.block_until_ready(self._take(state, layout.put_shards(np.array(out, np.int32))))
        changed = np.array([d in source for d in range(len(layout.devices))])

        leaves, shape = jax.tree.flatten(lane_arrays)
        old = [layout.list_shards(leaf) for leaf in leaves]  # By leaf, then by device.
        new = [list(shards) for shards in old]
        for device, origin in source.items():
            moved = jax.device_put([shards[origin] for shards in old], layout.devices[device])
            for shards, shard in zip(new, moved, strict=True):
                shards[device] = shard
        join = jax.make_array_from_single_device_arrays
        joined = [join(leaf.shape, leaf.sharding, shards) for leaf, shards in zip(leaves, new, strict=True)]
        brought = jax.tree.unflatten(shape, joined)
        lanes = layout.put_shards(np.array(into, np.int32))
        return self._give(state, brought, lanes, layout.put_shards(changed))


@functools.lru_cache(maxsize=64)
def _build_lane_programs(layout: SplitMemberLayout) -> tuple[Callable[..., Any], Callable[..., Any]]:
    def read_lane(state: Any, lane: Array) -> Any:
        return jax.tree.map(lambda leaf: leaf[lane], state)

    def write_lane(state: Any, member: Any, lane: Array, changed: Array) -> Any:
        def write_leaf(leaf: Array, update: Array) -> Array:
            # As a slice, which XLA writes in place; a scatter is many times slower on a CPU.
            kept = jnp.where(changed, update, leaf[lane])
            return jax.lax.dynamic_update_index_in_dim(leaf, kept, lane, 0)

        return jax.tree.map(write_leaf, state, member)

    return layout.pmap(read_lane), layout.pmap(write_lane, donate_argnums=0)
