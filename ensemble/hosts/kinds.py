"""The two kinds of process among several: the one that leads, and those that follow."""

import contextlib
import threading
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import numpy as np

from ensemble.hosts.company import SETTLE_SECONDS, Company
from ensemble.hosts.ending import End, leave, wait_for_the_end
from ensemble.hosts.wire import Message


class Leader(Company):
    """Process 0: it decides, and has what the others made."""

    def announce(
        self,
        kind: str,
        arrays: Callable[[int], Sequence[np.ndarray]] = lambda index: (),
        **said: Any,
    ) -> None:
        """Tell every other process something; `arrays` gives what each of them gets."""
        for other, wire in self._wires.items():
            with contextlib.suppress(OSError):  # Who listens to it hears that it is gone.
                wire.send(kind, arrays(other), **said)

    def gathered(self, mine: np.ndarray, owners: np.ndarray) -> np.ndarray:
        """Rows of all processes, (D, …)."""
        whole = np.empty((len(owners), *mine.shape[1:]), mine.dtype)
        whole[owners == self.index] = mine
        for other in self._wires:
            (whole[owners == other],) = self._next(other, "rows").arrays
        return whole

    def meet(self) -> None:
        """Wait for the others, and have them go on."""
        for other in self._wires:
            self._next(other, "here")
        self.announce("go")

    def told(self, end: End) -> None:
        """One of the others cannot go on."""
        self.ended(end)

    def tell_why(self, end: End) -> NoReturn:
        """End every process, this one last."""
        self._tell(end)
        leave(end)

    def _leave(self, end: End) -> None:
        self._tell(end)
        super()._leave(end)

    def _tell(self, end: End) -> None:
        """Tell the others why; one that was stopped hears nothing, and holds nobody up."""
        self._closed.set()
        telling = [
            threading.Thread(target=self._say, args=(wire, end), daemon=True)
            for wire in self._wires.values()
        ]
        for one in telling:
            one.start()
        for one in telling:
            one.join(SETTLE_SECONDS)


class Follower(Company):
    """Any other process: it does what it is told, at the same time as all."""

    def hear(self, *kinds: str) -> Message:
        """What to do next."""
        return self._next(0, *kinds)

    def gathered(self, mine: np.ndarray, owners: np.ndarray) -> np.ndarray:
        """Gives its rows to the process that leads."""
        self._wires[0].send("rows", [mine])
        whole = np.zeros((len(owners), *mine.shape[1:]), mine.dtype)
        whole[owners == self.index] = mine
        return whole

    def meet(self) -> None:
        """Say that it is here, and wait for all."""
        self._wires[0].send("here")
        self._next(0, "go")

    def told(self, end: End) -> None:
        """Process 0 has written down why: nothing is left to do."""
        leave(end)

    def tell_why(self, end: End) -> NoReturn:
        """Have process 0 end all; this one alone where that takes too long."""
        self._say(self._wires[0], end)
        wait_for_the_end(5 * SETTLE_SECONDS)
        leave(end)
