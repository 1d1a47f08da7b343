"""A sweep's workers: one keeps its status and holds its turn, any number of others help.

Each claims trial after trial. Where the one that keeps the status is killed, one of the others
takes its place.
"""

import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext

from ensemble.errors import RunError
from ensemble.jobs import slots, worker
from ensemble.jobs.job import LOCK_FILE, STOP_FILE
from ensemble.jobs.launch import start_worker
from ensemble.jobs.outcome import Outcome, StopRequest
from ensemble.jobs.queue import wait_for_turn
from ensemble.jobs.remote import inside
from ensemble.jobs.status import StatusWriter
from ensemble.jobs.worker import Report
from ensemble.storage.lock import is_held
from ensemble.sweeps.archive import Archive
from ensemble.sweeps.claims import Claim, Nothing, claim
from ensemble.sweeps.status import SweepStatus
from ensemble.sweeps.store import Sweep, find
from ensemble.sweeps.tasks import WorkerTasks
from ensemble.sweeps.training import train_claimed

POLL_SECONDS, LOOK_SECONDS = 0.3, 1.0
LET_GO_SECONDS = 30.0
MOST_FAILURES = 3


def work(sweep_id: str, report: Report = lambda status: None) -> Sweep:
    """Work on a sweep in this process until there is nothing left to do.

    Args:
      sweep_id: one that is queued, or that others are at.
      report: called with each new status, where this process keeps it.

    Raises:
      RunError: it has ended.
    """
    while True:
        sweep = find(sweep_id)
        if sweep.status.state not in sweep.kind.active:
            raise RunError(
                f"The sweep “{sweep_id}” is {sweep.state}: there is nothing to do. Resume it, or "
                "give it more trials."
            )
        if not is_led(sweep) and not inside.is_inside(sweep):
            try:
                lead(sweep, report)
                return find(sweep_id)
            except RunError:
                if not is_led(find(sweep_id)):
                    raise
        if help_out(sweep):  # Another was quicker, or had it already.
            return find(sweep_id)


def is_led(sweep: Sweep) -> bool:
    """Whether a worker keeps the status: one of this host by its lock, else by its heartbeat."""
    elsewhere = sweep.awaited and sweep.status.pid is not None
    return bool(is_held(sweep.path / LOCK_FILE)) or elsewhere


def lead(sweep: Sweep, report: Report) -> None:
    """Be the worker that keeps the sweep's status; see `jobs.worker.do`."""

    def begin(status: StatusWriter[SweepStatus], stop: StopRequest) -> Outcome:
        return Leader(sweep, status, stop, report).search()

    worker.do(sweep, begin, report, devices=sweep.config.base.devices)


def help_out(sweep: Sweep) -> bool:
    """Do trials beside the worker that keeps the status.

    Returns:
      Whether that is all; not where that worker was killed.
    """
    with StopRequest(sweep.path / STOP_FILE) as stop, _own_cards(sweep, stop) as turn:
        if turn is None:
            return True
        archive = Archive(sweep.id, sweep.path, sweep.config)
        while not stop():
            found = claim(find(sweep.id), archive)
            if isinstance(found, Claim):
                train_claimed(sweep, archive, found, stop)
            elif found.over:
                return is_led(find(sweep.id)) or inside.is_inside(sweep)
            else:
                time.sleep(POLL_SECONDS)
            if not (is_led(now := find(sweep.id)) or inside.is_inside(sweep)):
                return now.status.state not in sweep.kind.active
        return True


def _own_cards(sweep: Sweep, stop: Callable[[], bool]) -> "AbstractContextManager[object]":
    """Slots of this process's own, where slots are cards; on a CPU workers share the sweep's."""
    if not slots.devices():
        return nullcontext(True)
    turn = wait_for_turn(sweep, stop, lambda: None, sweep.config.base.devices)
    if turn is None:
        return nullcontext(None)
    slots.keep_to(turn)
    return turn


class Leader:
    """The worker that keeps a sweep's status.

    Args:
      sweep: whose worker this process is.
      status: the hold on its status.json.
      stop: asked between trials, and as a trial trains.
      report: called with each new status.
    """

    def __init__(
        self, sweep: Sweep, status: StatusWriter[SweepStatus], stop: StopRequest, report: Report
    ) -> None:
        self._sweep, self._status, self._stop, self._report = sweep, status, stop, report
        self._archive = Archive(sweep.id, sweep.path, sweep.config)
        self._began, self._done_before, self._failures = time.monotonic(), 0, 0

    def search(self) -> Outcome:
        """Trial after trial until all have ended, here and in the other workers."""
        first = self._sweep.status.state == "queued"
        self._done_before = self._done()
        self._tell(state="searching", started=time.time())
        if self._sweep.placed:
            return self._follow()
        for _ in range(self._sweep.config.workers - 1 if first else 0):
            start_worker(self._sweep)
        while not self._stop():
            sweep = find(self._sweep.id)
            found = claim(sweep, self._archive)
            self._tell(trials=sweep.config.wanted)
            if isinstance(found, Nothing):
                if found.over:
                    return Outcome("finished")
                time.sleep(POLL_SECONDS)
            elif outcome := self._train(found):
                return outcome
        return self._stopped()

    def _follow(self) -> Outcome:
        """Have tasks elsewhere do the trials, and tell how far they are."""
        tasks = WorkerTasks(self._sweep)
        tasks.start()
        while not self._stop():
            wanted = find(self._sweep.id).config.wanted
            self._tell(trials=wanted)
            if self._done() >= wanted:
                return Outcome("finished")
            if tasks.gone():
                return Outcome(
                    "failed",
                    "All tasks of the sweep have ended, and trials are left: "
                    "see slurm/ in its folder for why, then resume it.",
                )
            time.sleep(LOOK_SECONDS)
        self._everyone_stops()
        tasks.take_back()
        return self._stopped()

    def _train(self, found: Claim) -> Outcome | None:
        for run in train_claimed(self._sweep, self._archive, found, self._stop):
            self._failures = self._failures + 1 if run.state == "failed" else 0
            if self._failures >= MOST_FAILURES:
                break
        else:
            return None
        self._everyone_stops()
        return Outcome(
            "failed",
            f"{MOST_FAILURES} trials failed one after the other, the last: {run.message} Mend "
            "that, then resume the sweep.",
        )

    def _stopped(self) -> Outcome:
        self._everyone_stops()
        end = time.monotonic() + LET_GO_SECONDS
        while self._others_at_work() and time.monotonic() < end:
            time.sleep(POLL_SECONDS)
        return Outcome("stopped", "Stopped. Resume continues from here.")

    def _everyone_stops(self) -> None:
        (self._sweep.path / STOP_FILE).touch()

    def _others_at_work(self) -> bool:
        from ensemble.sweeps.trials import trials_of

        return any(one.state == "running" for one in trials_of(self._sweep))

    def _done(self) -> int:
        return sum(one.state.is_finished() for one in self._archive.trials())

    def _tell(self, **changes: object) -> None:
        done = self._done()
        left = self._sweep.config.wanted - done
        here, spent = done - self._done_before, time.monotonic() - self._began
        seconds = round(spent / here * left, 1) if here else None
        self._status.update(done=done, seconds_left=seconds, **changes)
        self._report(self._status.status)
