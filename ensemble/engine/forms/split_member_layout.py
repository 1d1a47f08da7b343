"""Where members live whose number the devices do not divide: a layout without surplus lanes."""

import numpy as np

from ensemble.engine.layout import Layout


class SplitMemberLayout(Layout):
    """M members on D devices that they do not divide among, with M > D: nobody idles.

    Laid end to end, M members are M / D for each device. A member that a border between two
    devices cuts is shared: its *home* is the device where it begins, and it is a *guest* on the
    next, in that one's last lane (McNaughton, "Scheduling with deadlines and loss functions",
    1959). Between calls both lanes hold the same numbers. Who works when is told by
    forms/split_member_schedule.py.
    """

    @classmethod
    def from_layout(cls, layout: Layout) -> Layout:
        """The layout over its idle devices too, or itself where there is nothing to share."""
        devices = (*layout.devices, *layout.idle)
        if layout.members <= len(devices) or layout.members % len(devices) == 0:
            return layout
        return cls(layout.members, devices)

    @property
    def continued_members(self) -> np.ndarray:
        """The member that is a guest on each device, or -1: (D,)."""
        count = len(self.devices)
        border = np.arange(count) * self.members
        return np.where(border % count > 0, border // count, -1)

    @property
    def first_devices(self) -> np.ndarray:
        """The device that each member begins on: (M,)."""
        return np.arange(self.members) * len(self.devices) // self.members

    @property
    def lanes(self) -> int:
        """K, members on one device, its guest among them."""
        return int(np.max(np.bincount(self.first_devices) + (self.continued_members >= 0)))

    @property
    def occupied_lanes(self) -> np.ndarray:
        """Which lanes are some member's home: bool (D, K)."""
        return np.arange(self.lanes) < np.bincount(self.first_devices)[:, None]

    @property
    def lane_members(self) -> np.ndarray:
        """Whose numbers are in each lane: first those at home, last the guest's: (D, K)."""
        begin = np.searchsorted(self.first_devices, np.arange(len(self.devices)))[:, None]
        lane = np.arange(self.lanes)
        member = np.minimum(begin + lane, self.members - 1)
        guests = self.continued_members[:, None]
        return np.where((lane == self.lanes - 1) & (guests >= 0), guests, member)

    @property
    def member_lanes(self) -> slice | np.ndarray:
        """Where each member is at home among all lanes of all devices."""
        return np.flatnonzero(self.occupied_lanes)
