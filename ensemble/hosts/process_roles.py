"""The two kinds of process among several: the one that leads, and those that follow."""

import contextlib
import threading
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import numpy as np

from ensemble.hosts.message_connection import Message
from ensemble.hosts.process_exit import EndReason, exit_process, wait_for_exit
from ensemble.hosts.process_group import SETTLE_TIME_S, ProcessGroup


class LeaderProcess(ProcessGroup):
    """Process 0: it decides, and has what the others made."""

    def broadcast(
        self, kind: str, arrays: Callable[[int], Sequence[np.ndarray]] = lambda index: (), **values: Any
    ) -> None:
        """Tell every other process something; `arrays` gives what each of them gets."""
        for other, wire in self._wires.items():
            with contextlib.suppress(OSError):  # Who listens to it hears that it is gone.
                wire.send(kind, arrays(other), **values)

    def gather_rows(self, mine: np.ndarray, owners: np.ndarray) -> np.ndarray:
        """Rows of all processes, (D, …)."""
        whole = np.empty((len(owners), *mine.shape[1:]), mine.dtype)
        whole[owners == self.index] = mine
        for other in self._wires:
            (whole[owners == other],) = self._receive_from(other, "rows").arrays
        return whole

    def wait_at_barrier(self) -> None:
        """Wait for the others, and have them go on."""
        for other in self._wires:
            self._receive_from(other, "here")
        self.broadcast("go")

    def accept_end(self, end: EndReason) -> None:
        """One of the others cannot go on."""
        self.record_end(end)

    def end_all_processes(self, end: EndReason) -> NoReturn:
        """End every process, this one last."""
        self._broadcast_end(end)
        exit_process(end)

    def _exit_process(self, end: EndReason) -> None:
        self._broadcast_end(end)
        super()._exit_process(end)

    def _broadcast_end(self, end: EndReason) -> None:
        """Tell the others why; one that was stopped hears nothing, and holds nobody up."""
        self._closed.set()
        telling = [
            threading.Thread(target=self._send_end, args=(wire, end), daemon=True) for wire in self._wires.values()
        ]
        for thread in telling:
            thread.start()
        for thread in telling:
            thread.join(SETTLE_TIME_S)


class FollowerProcess(ProcessGroup):
    """Any other process: it does what it is told, at the same time as all."""

    def receive_order(self, *kinds: str) -> Message:
        """What to do next."""
        return self._receive_from(0, *kinds)

    def gather_rows(self, mine: np.ndarray, owners: np.ndarray) -> np.ndarray:
        """Gives its rows to the process that leads."""
        self._wires[0].send("rows", [mine])
        whole = np.zeros((len(owners), *mine.shape[1:]), mine.dtype)
        whole[owners == self.index] = mine
        return whole

    def wait_at_barrier(self) -> None:
        """Say that it is here, and wait for all."""
        self._wires[0].send("here")
        self._receive_from(0, "go")

    def accept_end(self, end: EndReason) -> None:
        """Process 0 has written down why: nothing is left to do."""
        exit_process(end)

    def end_all_processes(self, end: EndReason) -> NoReturn:
        """Have process 0 end all; this one alone where that takes too long."""
        self._send_end(self._wires[0], end)
        wait_for_exit(5 * SETTLE_TIME_S)
        exit_process(end)
