"""A process among the others of its program: its links, and who notices when one is gone.

Each link says something every second, from a thread: who hears nothing for some seconds knows that
the other was stopped, or its cable cut, and a connection that closes tells of one that was killed.
Neither depends on how long a step, or compiling it, takes.
"""

import contextlib
import queue
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NoReturn

import numpy as np

from ensemble.errors import EnsembleError
from ensemble.hosts.message_connection import Message, MessageConnection
from ensemble.hosts.process_exit import (
    CONSEQUENCE,
    INTERNAL_ERROR,
    PROCESS_LOST,
    RETRY_EXIT_STATUS,
    USER_ERROR,
    EndReason,
    exit_process,
    wait_for_exit,
)

HEARTBEAT_INTERVAL_S = 1.0
HEARTBEAT_TIMEOUT_S = 8.0
# What happens to one is noticed by several, each its own way: the telling one is waited for.
SETTLE_TIME_S = 1.0
# Figures of all devices take a moment once every process is at them.
COLLECTIVE_TIMEOUT_S = 60.0


class ProcessGroup:
    """This process and its links; what leads and what follows are its two kinds.

    Args:
      index: this process's number, from 0.
      names: the hosts of all processes, by their numbers.
      wires: the links, by the number of the process at the other end.

    Attributes:
      on_fatal_error: called with a sentence before the program ends for it.
      stop_requested: whether any process was.
    """

    def __init__(self, index: int, names: Sequence[str], wires: dict[int, MessageConnection]) -> None:
        self.index, self.names = index, tuple(names)
        self.on_fatal_error: Callable[[str], None] | None = None
        self.stop_requested = False
        self._wires = wires
        self._inbox: dict[int, queue.Queue[Message]] = {process_index: queue.Queue() for process_index in wires}
        self._closed, self._ends = threading.Event(), list[EndReason]()
        self._together: float | None = None
        # When this process last looked, and for how long it had been held up by then.
        self._looked, self._held = time.monotonic(), 0.0
        self._news = threading.Lock()
        for peer, wire in wires.items():
            self._start_thread(self._listen_to_process, peer, wire)
            self._start_thread(self._send_heartbeats, wire)
        self._start_thread(self._watch_heartbeats)

    @property
    def process_count(self) -> int:
        """How many processes there are."""
        return len(self.names)

    @property
    def is_leader(self) -> bool:
        """Whether this process decides and writes."""
        return self.index == 0

    def describe_process(self, index: int) -> str:
        """A process as people tell it from others."""
        return f"process {index + 1} of {self.process_count} (on {self.names[index]})"

    def gather_rows(self, mine: np.ndarray, owners: np.ndarray) -> np.ndarray:
        """Rows of all processes at the one that leads; elsewhere those of others are zero.

        Args:
          mine: this process's rows, in order.
          owners: the process that has each of the D rows, int (D,).
        """
        raise NotImplementedError

    def wait_at_barrier(self) -> None:
        """Go on once every process is here."""
        raise NotImplementedError

    @contextmanager
    def guard_collective(self) -> Iterator[None]:
        """For what only goes on where every process does it: begun by all at once, and watched."""
        with self.abort_on_error():
            self.wait_at_barrier()
            self._together = time.monotonic()
            yield
            self._together = None

    @contextmanager
    def abort_on_error(self) -> Iterator[None]:
        """Where another process is gone, that is why this one cannot go on: it ends by that."""
        try:
            yield
        except Exception as error:
            if is_jax_error(error):
                wait_for_exit(HEARTBEAT_TIMEOUT_S + 2 * SETTLE_TIME_S)
            raise

    def close(self) -> None:
        """Let go of the others: the work is done."""
        self._closed.set()
        for wire in self._wires.values():
            with contextlib.suppress(OSError):
                wire.send("leaving")

    def accept_end(self, end: EndReason) -> None:
        """Another process says why all have to end."""
        raise NotImplementedError

    def end_by_error(self, error: BaseException) -> NoReturn:
        """End every process, since this one cannot go on."""
        if isinstance(error, EnsembleError):
            self.end_all_processes(EndReason(str(error), error.exit_code, USER_ERROR))
        if isinstance(error, KeyboardInterrupt | SystemExit):
            self.end_all_processes(EndReason("The training was interrupted.", 130, USER_ERROR))
        traceback.print_exception(error)
        self.end_all_processes(
            EndReason(
                f"An unexpected error ended {self.describe_process(self.index)} ({error!r:.200}). "
                "Its log has the details.",
                1,
                CONSEQUENCE if is_jax_error(error) else INTERNAL_ERROR,
            )
        )

    def end_all_processes(self, end: EndReason) -> NoReturn:
        """End every process, for a reason that this one has."""
        raise NotImplementedError

    def record_end(self, end: EndReason) -> None:
        """Note why the program ends; what is most telling within a second is said."""
        with self._news:
            self._ends.append(end)
            first = len(self._ends) == 1
        if first:
            self._start_thread(self._end_after_settling)

    def report_jax_abort(self) -> None:
        """JAX's own link gives up on this process: mostly this one finds why as well."""
        gone = EndReason("The connection of jax.distributed between the hosts broke.", RETRY_EXIT_STATUS, CONSEQUENCE)
        if 0 in self._wires:
            self._send_end(self._wires[0], gone)
        self.record_end(gone)
        wait_for_exit(3 * HEARTBEAT_TIMEOUT_S)

    def _end_after_settling(self) -> None:
        time.sleep(SETTLE_TIME_S)
        self._exit_process(min(self._ends, key=lambda end: end.rank))

    def _exit_process(self, end: EndReason) -> None:
        exit_process(end, self.on_fatal_error)

    def _listen_to_process(self, other: int, wire: MessageConnection) -> None:
        said_why = False
        try:
            while (message := wire.receive()).kind != "leaving":
                self._dispatch_message(other, message)
                said_why |= message.kind == "over"
        except (OSError, EOFError, ValueError):
            if not self._closed.is_set() and not said_why:
                self._report_lost_process(other, "exited unexpectedly: it was killed, or its host is down")
        finally:
            wire.close()

    def _dispatch_message(self, other: int, message: Message) -> None:
        if message.kind == "beat":
            self.stop_requested |= bool(message.values.get("stop"))
        elif message.kind == "over":
            values = message.values
            self.accept_end(EndReason(str(values["sentence"]), int(values["status"]), int(values["rank"])))
        else:
            self._inbox[other].put(message)

    def _report_lost_process(self, other: int, how: str) -> None:
        if (held := max(time.monotonic() - self._looked, self._held)) > HEARTBEAT_TIMEOUT_S:
            # It was this one that was stopped, and has woken: the others have given it up.
            other, how = self.index, f"was suspended for {held:.0f} seconds: the others went"
        who = self.describe_process(other)
        self.record_end(EndReason(f"{who[0].upper()}{who[1:]} {how}.", RETRY_EXIT_STATUS, PROCESS_LOST))

    def _receive_from(self, other: int, *kinds: str) -> Message:
        """The next message of one of these kinds, for which there is no other."""
        message = self._inbox[other].get()
        if kinds and message.kind not in kinds:
            raise RuntimeError(f"{self.describe_process(other)} said {message.kind}, not {kinds[0]}")
        return message

    def _send_end(self, wire: MessageConnection, end: EndReason) -> None:
        with contextlib.suppress(OSError):
            wire.send("over", **end._asdict())

    def _send_heartbeats(self, wire: MessageConnection) -> None:
        while not self._closed.wait(HEARTBEAT_INTERVAL_S):
            with contextlib.suppress(OSError):
                wire.send("beat", stop=self.stop_requested and not self.is_leader)

    def _watch_heartbeats(self) -> None:
        while not self._closed.wait(HEARTBEAT_INTERVAL_S / 2):
            now = time.monotonic()
            since, self._looked = now - self._looked, now
            self._held = max(since, self._held - since)  # forgotten after as long again
            if since < 2 * HEARTBEAT_INTERVAL_S:  # else this process was held up itself
                for other, wire in self._wires.items():
                    if now - wire.last_received > HEARTBEAT_TIMEOUT_S:
                        self._report_lost_process(
                            other,
                            f"has not responded for {HEARTBEAT_TIMEOUT_S:.0f} seconds: it was "
                            "suspended, or the network to its host is down",
                        )
            began = self._together
            if began is not None and now - began > COLLECTIVE_TIMEOUT_S:
                self.record_end(EndReason("The exchange between the hosts has hung for a minute.", RETRY_EXIT_STATUS))

    def _start_thread(self, target: Callable[..., None], *arguments: Any) -> None:
        threading.Thread(target=target, args=arguments, daemon=True).start()


def is_jax_error(error: BaseException) -> bool:
    """Whether an error is one of XLA's: a collective that lost another process, say."""
    return "JaxRuntimeError" in {base.__name__ for base in type(error).__mro__}


_current_group: list[ProcessGroup] = []


def get_process_group() -> ProcessGroup | None:
    """The processes that this one is among; None if it is alone."""
    return _current_group[0] if _current_group else None


def set_process_group(company: ProcessGroup) -> None:
    """From now on this process is among these."""
    _current_group[:] = [company]


def clear_process_group() -> None:
    """From now on this process is alone."""
    _current_group.clear()


@contextmanager
def guard_current_collective() -> Iterator[None]:
    """`ProcessGroup.guard_collective`, or nothing where this process is alone."""
    with company.guard_collective() if (company := get_process_group()) else contextlib.nullcontext():
        yield
