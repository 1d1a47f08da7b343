"""A run's worker: waits its turn, trains, and writes down how it ended."""

import os
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from ensemble.errors import EnsembleError
from ensemble.jobs.outcome import Outcome, StopRequest
from ensemble.jobs.queue import Place, before, wait_for_turn
from ensemble.jobs.status import Writer

NICE = 10


def give_way() -> None:
    """Let the page and its browser go first on this machine; idle cores are used all the same."""
    if hasattr(os, "nice") and os.nice(0) < NICE:
        os.nice(NICE - os.nice(0))


def outcome_of(work: Callable[[], Outcome], go_on: str) -> Outcome:
    """What came of it; what a person can mend is an outcome too, with advice.

    Args:
      work: what is to be done.
      go_on: what to press when there is room on the disk again.
    """
    try:
        return work()
    except EnsembleError as error:
        return Outcome("failed", str(error))
    except OSError as error:
        traceback.print_exc()
        return Outcome("failed", f"The disk said no ({error}). Make room, then {go_on}.")
    except MemoryError:
        traceback.print_exc()
        return Outcome("failed", "Memory ran out: try fewer members or a smaller batch.")


@contextmanager
def bugs_written_down(status: Writer[Any], what: str, kept: str) -> Iterator[None]:
    """An error that nobody expected ends the state as `failed`, and goes on to the log."""
    try:
        yield
    except BaseException as error:
        status.update(
            state="failed", message=f"An unexpected error ended {what} ({error!r:.200}). "
            f"The log has its details; {kept}.",
        )  # fmt: skip
        raise


def in_turn(
    place: Place,
    status: Writer[Any],
    stop: StopRequest,
    report: Callable[[Any], None],
    begin: Callable[[], Outcome],
) -> Outcome:
    """What `begin` comes to, called once this machine is free for it; or a stop before that.

    Args:
      place: its place among those who wait.
      status: says meanwhile who has the machine, then that it starts.
      stop: asked while it waits.
      report: called with each new status.
      begin: the work. It imports JAX itself: who waits needs none, and JAX reads its settings
        when it starts.
    """

    def waiting() -> None:
        first = next((one.name for one in before(place)), "another run")
        status.update(message=f"It waits its turn: {first} has this machine.")
        report(status.status)

    turn = wait_for_turn(place, stop, waiting)
    if turn is None:
        return Outcome("stopped", "Stopped while it waited its turn.")
    with turn:
        status.update(state="starting", message="")
        report(status.status)
        return begin()
