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
from ensemble.hosts.ending import BUG, FOLLOWS, GO_ON, GONE, MENDED, End, leave, wait_for_the_end
from ensemble.hosts.wire import Message, Wire

BEAT_SECONDS = 1.0
SILENCE_SECONDS = 8.0
# What happens to one is noticed by several, each its own way: the telling one is waited for.
SETTLE_SECONDS = 1.0
# Figures of all devices take a moment once every process is at them.
HANG_SECONDS = 60.0


class Company:
    """This process and its links; what leads and what follows are its two kinds.

    Args:
      index: this process's number, from 0.
      names: the hosts of all processes, by their numbers.
      wires: the links, by the number of the process at the other end.

    Attributes:
      last_words: called with a sentence before the program ends for it.
      asked_to_stop: whether any process was.
    """

    def __init__(self, index: int, names: Sequence[str], wires: dict[int, Wire]) -> None:
        self.index, self.names = index, tuple(names)
        self.last_words: Callable[[str], None] | None = None
        self.asked_to_stop = False
        self._wires = wires
        self._inbox: dict[int, queue.Queue[Message]] = {one: queue.Queue() for one in wires}
        self._closed, self._ends = threading.Event(), list[End]()
        self._together: float | None = None
        # When this process last looked, and for how long it had been held up by then.
        self._looked, self._held = time.monotonic(), 0.0
        self._news = threading.Lock()
        for one, wire in wires.items():
            self._thread(self._listen, one, wire)
            self._thread(self._beat, wire)
        self._thread(self._watch)

    @property
    def count(self) -> int:
        """How many processes there are."""
        return len(self.names)

    @property
    def leads(self) -> bool:
        """Whether this process decides and writes."""
        return self.index == 0

    def who(self, index: int) -> str:
        """A process as people tell it from others."""
        return f"process {index + 1} of {self.count} (on {self.names[index]})"

    def gathered(self, mine: np.ndarray, owners: np.ndarray) -> np.ndarray:
        """Rows of all processes at the one that leads; elsewhere those of others are zero.

        Args:
          mine: this process's rows, in order.
          owners: the process that has each of the D rows, int (D,).
        """
        raise NotImplementedError

    def meet(self) -> None:
        """Go on once every process is here."""
        raise NotImplementedError

    @contextmanager
    def together(self) -> Iterator[None]:
        """For what only goes on where every process does it: begun by all at once, and watched."""
        with self.blaming():
            self.meet()
            self._together = time.monotonic()
            yield
            self._together = None

    @contextmanager
    def blaming(self) -> Iterator[None]:
        """Where another process is gone, that is why this one cannot go on: it ends by that."""
        try:
            yield
        except Exception as error:
            if of_jax(error):
                wait_for_the_end(SILENCE_SECONDS + 2 * SETTLE_SECONDS)
            raise

    def close(self) -> None:
        """Let go of the others: the work is done."""
        self._closed.set()
        for wire in self._wires.values():
            with contextlib.suppress(OSError):
                wire.send("leaving")

    def told(self, end: End) -> None:
        """Another process says why all have to end."""
        raise NotImplementedError

    def fail(self, error: BaseException) -> NoReturn:
        """End every process, since this one cannot go on."""
        if isinstance(error, EnsembleError):
            self.tell_why(End(str(error), error.exit_code, MENDED))
        if isinstance(error, KeyboardInterrupt | SystemExit):
            self.tell_why(End("The training was interrupted.", 130, MENDED))
        traceback.print_exception(error)
        self.tell_why(
            End(
                f"An unexpected error ended {self.who(self.index)} ({error!r:.200}). Its log has "
                "the details.",
                1,
                FOLLOWS if of_jax(error) else BUG,
            )
        )

    def tell_why(self, end: End) -> NoReturn:
        """End every process, for a reason that this one has."""
        raise NotImplementedError

    def ended(self, end: End) -> None:
        """Note why the program ends; what is most telling within a second is said."""
        with self._news:
            self._ends.append(end)
            first = len(self._ends) == 1
        if first:
            self._thread(self._settle)

    def aborted(self) -> None:
        """JAX's own link gives up on this process: mostly this one finds why as well."""
        gone = End("The link of jax.distributed between the hosts broke.", GO_ON, FOLLOWS)
        if 0 in self._wires:
            self._say(self._wires[0], gone)
        self.ended(gone)
        wait_for_the_end(3 * SILENCE_SECONDS)

    def _settle(self) -> None:
        time.sleep(SETTLE_SECONDS)
        self._leave(min(self._ends, key=lambda end: end.rank))

    def _leave(self, end: End) -> None:
        leave(end, self.last_words)

    def _listen(self, other: int, wire: Wire) -> None:
        said_why = False
        try:
            while (message := wire.receive()).kind != "leaving":
                self._hear(other, message)
                said_why |= message.kind == "over"
        except (OSError, EOFError, ValueError):
            if not self._closed.is_set() and not said_why:
                self._lost(other, "ended without a word: it was killed, or its host is gone")
        finally:
            wire.close()

    def _hear(self, other: int, message: Message) -> None:
        if message.kind == "beat":
            self.asked_to_stop |= bool(message.said.get("stop"))
        elif message.kind == "over":
            said = message.said
            self.told(End(str(said["sentence"]), int(said["status"]), int(said["rank"])))
        else:
            self._inbox[other].put(message)

    def _lost(self, other: int, how: str) -> None:
        if (held := max(time.monotonic() - self._looked, self._held)) > SILENCE_SECONDS:
            # It was this one that was stopped, and has woken: the others have given it up.
            other, how = self.index, f"was stopped for {held:.0f} seconds: the others went"
        who = self.who(other)
        self.ended(End(f"{who[0].upper()}{who[1:]} {how}.", GO_ON, GONE))

    def _next(self, other: int, *kinds: str) -> Message:
        """The next message of one of these kinds, for which there is no other."""
        message = self._inbox[other].get()
        if kinds and message.kind not in kinds:
            raise RuntimeError(f"{self.who(other)} said {message.kind}, not {kinds[0]}")
        return message

    def _say(self, wire: Wire, end: End) -> None:
        with contextlib.suppress(OSError):
            wire.send("over", **end._asdict())

    def _beat(self, wire: Wire) -> None:
        while not self._closed.wait(BEAT_SECONDS):
            with contextlib.suppress(OSError):
                wire.send("beat", stop=self.asked_to_stop and not self.leads)

    def _watch(self) -> None:
        while not self._closed.wait(BEAT_SECONDS / 2):
            now = time.monotonic()
            since, self._looked = now - self._looked, now
            self._held = max(since, self._held - since)  # forgotten after as long again
            if since < 2 * BEAT_SECONDS:  # else this process was held up itself
                for other, wire in self._wires.items():
                    if now - wire.heard > SILENCE_SECONDS:
                        self._lost(
                            other,
                            f"has said nothing for {SILENCE_SECONDS:.0f} seconds: "
                            "it was stopped, or the network to its host is cut",
                        )
            began = self._together
            if began is not None and now - began > HANG_SECONDS:
                self.ended(End("The exchange between the hosts has hung for a minute.", GO_ON))

    def _thread(self, target: Callable[..., None], *arguments: Any) -> None:
        threading.Thread(target=target, args=arguments, daemon=True).start()


def of_jax(error: BaseException) -> bool:
    """Whether an error is one of XLA's: a collective that lost another process, say."""
    return "JaxRuntimeError" in {one.__name__ for one in type(error).__mro__}


_here: list[Company] = []


def current() -> Company | None:
    """The processes that this one is among; None where it is alone."""
    return _here[0] if _here else None


def enter(company: Company) -> None:
    """From now on this process is among these."""
    _here[:] = [company]


def depart() -> None:
    """From now on this process is alone."""
    _here.clear()


@contextmanager
def together() -> Iterator[None]:
    """`Company.together`, or nothing where this process is alone."""
    with company.together() if (company := current()) else contextlib.nullcontext():
        yield
