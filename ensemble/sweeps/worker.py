"""A sweep's workers: one keeps its status and holds its turn, any number of others help.

Each claims trial after trial. Where the one that keeps the status is killed, one of the others
takes its place.
"""

import os
import sys
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from functools import partial

from ensemble.errors import RunError
from ensemble.jobs import slots, worker
from ensemble.jobs.job import LOCK_FILE, STOP_FILE
from ensemble.jobs.launch import start_worker
from ensemble.jobs.outcome import Outcome, StopRequest
from ensemble.jobs.queue import wait_for_turn
from ensemble.jobs.remote import task_process
from ensemble.jobs.remote.coordinator_process import CoordinatorProcess, is_only_process_stopping
from ensemble.jobs.remote.takeover import COORDINATOR_FILE, TaskLease
from ensemble.jobs.remote.worker_variables import PARENT_VARIABLE
from ensemble.jobs.status import StatusWriter
from ensemble.jobs.worker import ReportStatus
from ensemble.storage.file_lock import is_locked
from ensemble.sweeps.claims import NoTrial, TrialClaim, claim_trial, count_ended_trials, fail_trials_for_good
from ensemble.sweeps.patient_storage import Patience
from ensemble.sweeps.status import SweepStatus
from ensemble.sweeps.store import Sweep, find_sweep
from ensemble.sweeps.study import MACHINE_FAULT_NOTE, SweepStudy, has_trial_failed, has_trial_finished
from ensemble.sweeps.training import train_claimed_trials
from ensemble.sweeps.worker_tasks import WorkerTasks

_CLAIM_POLL_INTERVAL_S, _TASK_POLL_INTERVAL_S = 0.3, 1.0
_STOP_TIMEOUT_S = 30.0
_MAX_CONSECUTIVE_FAILURES = 3


def work_on_sweep(sweep_id: str, report: ReportStatus = lambda status: None) -> Sweep:
    """Work on a sweep in this process until there is nothing left to do.

    Args:
      sweep_id: one that is queued, or that others are at.
      report: called with each new status, where this process keeps it.

    Raises:
      RunError: it has ended.
    """
    while True:
        sweep = find_sweep(sweep_id)
        if sweep.status.state not in sweep.kind.active_states:
            raise RunError(
                f"The sweep “{sweep_id}” is {sweep.state}: there is nothing to do. Resume it, or give it more trials."
            )
        if os.environ.get(PARENT_VARIABLE):  # A task started this because nobody follows the sweep.
            _lead_sweep(sweep, report)
            return find_sweep(sweep_id)
        if not _has_leader(sweep) and not task_process.is_inside_task(sweep):
            try:
                _lead_sweep(sweep, report)
                return find_sweep(sweep_id)
            except RunError:
                if not _has_leader(find_sweep(sweep_id)):
                    raise
        if _help_in_task(sweep) if task_process.is_inside_task(sweep) else _help_with_trials(sweep):
            return find_sweep(sweep_id)  # Another was quicker, or had it already.


def _has_leader(sweep: Sweep) -> bool:
    """Whether a worker keeps the status: one of this host by its lock, else by its heartbeat."""
    elsewhere = sweep.has_pending_or_remote_worker and sweep.status.pid is not None
    return bool(is_locked(sweep.path / LOCK_FILE)) or elsewhere


def _lead_sweep(sweep: Sweep, report: ReportStatus) -> None:
    """Be the worker that keeps the sweep's status; see `jobs.worker.execute_job`."""

    def run_leader(status: StatusWriter[SweepStatus], stop: StopRequest) -> Outcome:
        return _SweepLeader(sweep, status, stop, report).run_search()

    worker.execute_job(sweep, run_leader, report, devices=sweep.config.base.devices)


def _help_in_task(sweep: Sweep) -> bool:
    """Do trials in a task at a scheduler, and see to it that somebody keeps the sweep's status meanwhile."""
    stop = StopRequest(sweep.path / STOP_FILE)
    with CoordinatorProcess(partial(find_sweep, sweep.id), list, "", stop):
        return _help_with_trials(sweep, stop)


def _help_with_trials(sweep: Sweep, stop: StopRequest | None = None) -> bool:
    """Do trials beside the worker that keeps the status.

    Args:
      sweep: whose.
      stop: asked whether to stop, if the caller wants to know as well.

    Returns:
      Whether that is all; not where that worker was killed.
    """
    with stop or StopRequest(sweep.path / STOP_FILE) as stop, _wait_for_own_slots(sweep, stop) as turn:
        if turn is None:
            return True
        patience = Patience(_print_wait, stop)
        archive = SweepStudy(sweep.id, sweep.path, sweep.config, patience)
        while not stop():
            claim = claim_trial(find_sweep(sweep.id), archive)
            if isinstance(claim, TrialClaim):
                train_claimed_trials(sweep, archive, claim, stop)
            elif claim.all_ended:
                return _has_leader(find_sweep(sweep.id)) or task_process.is_inside_task(sweep)
            else:
                time.sleep(_CLAIM_POLL_INTERVAL_S)
            if not (_has_leader(now := find_sweep(sweep.id)) or task_process.is_inside_task(sweep)):
                return now.status.state not in sweep.kind.active_states
        return True


def _wait_for_own_slots(sweep: Sweep, stop: Callable[[], bool]) -> "AbstractContextManager[object]":
    """Slots of this process's own, where slots are cards; on a CPU workers share the sweep's."""
    if not slots.list_cards():
        return nullcontext(True)
    turn = wait_for_turn(sweep, stop, lambda: None, sweep.config.base.devices)
    if turn is None:
        return nullcontext(None)
    slots.restrict_to_slots(turn)
    return turn


def _conclude_sweep(sweep: Sweep, archive: SweepStudy) -> Outcome:
    """How a sweep ended whose trials have all ended: finished where one is, if it was not cut off.

    Trials that failed of the machine are tried again once the sweep is resumed, and so are all that
    failed where none finished; of others it is told that they failed.
    """
    trials = archive.read_trials()
    failed = [trial for trial in trials if has_trial_failed(trial, sweep.status.queued)]
    lost = [trial for trial in failed if trial.user_attrs.get(MACHINE_FAULT_NOTE)]
    count, whole = len(lost or failed), len(trials)
    again = "Fix that, then resume the sweep: it tries them again."
    if lost:
        message = lost[-1].user_attrs.get("message", "")
        return Outcome("failed", f"{count} of {whole} trials failed. The last: {message} {again}")
    if any(has_trial_finished(trial) for trial in trials):
        fail_trials_for_good(sweep, archive)
        return Outcome("finished")
    last = max(trials, key=lambda trial: (has_trial_failed(trial, sweep.status.queued), trial.number))
    sentence = f"None of {whole} trials finished. The last: {last.user_attrs.get('message', '')}"
    other = "Launch a sweep of other values, or give this one more trials."
    return Outcome("failed", f"{sentence} {again if failed else other}")


def _print_wait(sentence: str) -> None:
    print(sentence or "The storage of the trials answers again.", file=sys.stderr, flush=True)


class _SweepLeader:
    """The worker that keeps a sweep's status.

    Args:
      sweep: whose worker this process is.
      status: the hold on its status.json.
      stop: asked between trials, and as a trial trains.
      report: called with each new status.
    """

    def __init__(
        self, sweep: Sweep, status: StatusWriter[SweepStatus], stop: StopRequest, report: ReportStatus
    ) -> None:
        self._sweep, self._status, self._stop, self._report = sweep, status, stop, report
        patience = Patience(self._report_wait, stop)
        self._archive = SweepStudy(sweep.id, sweep.path, sweep.config, patience)
        self._began, self._done_before, self._failures = time.monotonic(), 0, 0

    def run_search(self) -> Outcome:
        """Trial after trial until all have ended, here and in the other workers."""
        first = self._sweep.status.state == "queued"
        self._done_before = self._count_ended_trials()
        self._update_status(state="searching", started=time.time())
        if self._sweep.is_placed:
            return self._follow_tasks()
        for _ in range(self._sweep.config.workers - 1 if first else 0):
            start_worker(self._sweep)
        while not self._stop():
            sweep = find_sweep(self._sweep.id)
            claim = claim_trial(sweep, self._archive)
            self._update_status(trials=sweep.config.trial_count)
            if isinstance(claim, NoTrial):
                if claim.all_ended:
                    return _conclude_sweep(sweep, self._archive)
                time.sleep(_CLAIM_POLL_INTERVAL_S)
            elif outcome := self._train_claim(claim):
                return outcome
        return self._stop_workers()

    def _follow_tasks(self) -> Outcome:
        """Follow the tasks that do the trials until all have ended; see `WorkerTasks`."""
        tasks, lease = WorkerTasks(self._sweep), TaskLease(self._sweep.path / COORDINATOR_FILE, "The sweep")
        if not self._is_in_task:
            tasks.submit_missing()
        while not (self._stop() or self._is_leaving()):
            lease.exit_if_taken_over()
            sweep, done = find_sweep(self._sweep.id), self._count_ended_trials()
            if done >= sweep.config.trial_count:
                concluded = _conclude_sweep(sweep, self._archive)
                return replace(concluded, message=concluded.message or tasks.describe_canceled())
            if ended := tasks.poll_tasks(done):
                return ended
            state = "queued" if tasks.is_waiting else "searching"
            self._update_status(state=state, message=tasks.describe(), trials=sweep.config.trial_count)
            time.sleep(_TASK_POLL_INTERVAL_S)
        if self._is_leaving():
            return Outcome("searching")  # Another task follows the sweep next.
        self._request_stop()
        tasks.cancel_waiting()
        outcome = self._stop_workers()
        if self._has_running_trials():
            tasks.cancel_all()
        return outcome

    @property
    def _is_in_task(self) -> bool:
        return bool(os.environ.get(PARENT_VARIABLE))

    def _is_leaving(self) -> bool:
        return self._is_in_task and is_only_process_stopping(self._sweep, self._stop)

    def _train_claim(self, claim: TrialClaim) -> Outcome | None:
        for run in train_claimed_trials(self._sweep, self._archive, claim, self._stop):
            self._failures = self._failures + 1 if run.state == "failed" else 0
            if self._failures >= _MAX_CONSECUTIVE_FAILURES:
                break
        else:
            return None
        self._request_stop()
        return Outcome(
            "failed",
            f"{_MAX_CONSECUTIVE_FAILURES} trials failed one after the other. The last: "
            f"{run.message} Fix that, then resume the sweep: it tries them again.",
        )

    def _stop_workers(self) -> Outcome:
        self._request_stop()
        end = time.monotonic() + _STOP_TIMEOUT_S
        while self._has_running_trials() and time.monotonic() < end:
            time.sleep(_CLAIM_POLL_INTERVAL_S)
        return Outcome("stopped", "Stopped. Resume continues from here.")

    def _request_stop(self) -> None:
        (self._sweep.path / STOP_FILE).touch()

    def _has_running_trials(self) -> bool:
        from ensemble.sweeps.trials import read_trials

        return any(trial.state == "running" for trial in read_trials(self._sweep))

    def _report_wait(self, sentence: str) -> None:
        _print_wait(sentence)
        self._status.update(message=sentence)
        self._report(self._status.status)

    def _count_ended_trials(self) -> int:
        return count_ended_trials(self._archive.read_trials(), self._status.status.queued)

    def _update_status(self, **changes: object) -> None:
        done = self._count_ended_trials()
        left = self._sweep.config.trial_count - done
        here, spent = done - self._done_before, time.monotonic() - self._began
        seconds = round(spent / here * left, 1) if here else None
        self._status.update(done=done, seconds_left=seconds, **changes)
        self._report(self._status.status)
