"""Which groups have somebody at them, by what is heard of them and by this machine's clock alone.

The clock of a node may be an hour off, and its disk may show no lock to other hosts: a heartbeat
that changes is one all the same.
"""

import socket
import time
from collections.abc import Sequence

from ensemble.jobs.status import SILENCE_SECONDS
from ensemble.runs.groups.group import Group


class HeartbeatMonitor:
    """Remembers when the heartbeat of each group last changed."""

    def __init__(self) -> None:
        self._last: dict[int, tuple[object, ...]] = {}
        self._since: dict[int, float] = {}
        self._beats: set[int] = set()

    def update(self, groups: Sequence[Group]) -> None:
        """Take note of the groups' statuses as they were read just now."""
        for group in groups:
            status, number = group.status, group.number
            word = status.updated, status.pid, status.host, status.state
            if word == self._last.get(number):
                continue
            if number in self._last:
                self._beats.add(number)
            self._last[number], self._since[number] = word, time.monotonic()

    def is_alive(self, group: Group) -> bool:
        """Whether a process is at a group; one that is but asked for is not."""
        if not _claims_active_worker(group):
            return False
        if group.status.host == socket.gethostname():  # Its lock tells, and at once.
            return group.active
        beats = group.number in self._beats and not self._is_silent(group)
        return beats or group.active

    def is_stale(self, group: Group) -> bool:
        """Whether a process should be at a group, and nothing has been heard of it for a minute."""
        return _claims_active_worker(group) and self._is_silent(group)

    def _is_silent(self, group: Group) -> bool:
        since = self._since.get(group.number)
        return since is not None and time.monotonic() - since > SILENCE_SECONDS


def describe_stale_group(group: Group) -> str:
    status = group.status
    return (
        f"{group.title} has not responded for a minute: its process {status.pid} on "
        f"{status.host} is suspended, or cannot write. Let it continue; or stop the run, which "
        "ends it at its last checkpoint, and resume."
    )


def _claims_active_worker(group: Group) -> bool:
    return group.status.pid is not None and group.status.state in group.kind.active_states
