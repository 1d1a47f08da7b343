"""The worker of a run in groups: sees to their tasks, merges what they write, tells how it ends."""

import contextlib
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from ensemble.cluster.task_array import describe_paused_tasks, describe_waiting_tasks
from ensemble.cluster.task_ends import TaskRestarts, describe_canceled_tasks, describe_task_end, find_task_end
from ensemble.errors import RunError
from ensemble.jobs.job import STOP_FILE, clear_stop_request
from ensemble.jobs.outcome import STOPPED_OUTCOME, Outcome
from ensemble.jobs.remote.takeover import COORDINATOR_FILE, TaskLease
from ensemble.jobs.status import StatusWriter, write_status
from ensemble.machine.jax_settings import prepare_jax
from ensemble.runs.groups.group import GROUPS_FOLDER, Group, create_group_folders, list_run_groups
from ensemble.runs.groups.heartbeat_monitor import HeartbeatMonitor, describe_stale_group
from ensemble.runs.groups.merging import GroupMerger
from ensemble.runs.groups.tasks import (
    KEPT_SENTENCE,
    LOCAL_TITLE,
    GroupTaskControl,
    TaskStatus,
    describe_lost_task,
    mark_completed_tasks,
    write_group_tasks,
)
from ensemble.runs.status import Status, build_blank_best_fields, describe_early_stop
from ensemble.runs.store import Run, require_run_settings

POLL_SECONDS = 0.3
ENDED_STATES = "finished", "diverged", "failed"
_COMPLETED_STATES = "finished", "diverged"
_MAX_FAILED_READS = 10  # looks in a row: a shared disk may have a file that is replaced gone meanwhile
_LAST_EPOCH_FIELDS = (
    "ensemble_test_accuracy",
    "ensemble_test_nll",
    "member_test_accuracy",
    "ensemble_test_rmse",
    "ensemble_test_crps",
    "member_test_rmse",
)


class GroupCoordinator:
    """Follows the groups of a run to their end.

    Args:
      run: the run, whose worker this process is.
      status: the hold on its status.json.
      stop: asked whether to stop.
      report: called with each new status.
      tasks: who starts the groups' tasks.
    """

    def __init__(
        self,
        run: Run,
        status: StatusWriter[Status],
        stop: Callable[[], bool],
        report: Callable[[Status], None],
        tasks: GroupTaskControl,
    ) -> None:
        self._run, self._config = run, require_run_settings(run)
        self._status, self._stop, self._report, self._tasks = status, stop, report, tasks
        self._restarts = TaskRestarts(tasks.place_title)
        self._told: tuple[Any, ...] = ()
        self._noted: Mapping[int, TaskStatus] = {}
        self._stopping, self._unread = False, 0
        self._hearing = HeartbeatMonitor()
        # Of training, by whichever groups were running.
        self._seconds, self._looked = status.status.seconds, time.monotonic()

    def follow_groups(self) -> Outcome:
        """Go on until every group has ended, or the run is stopped.

        Raises:
          RunError: a group is missing, or its files belong to another run or are damaged.
        """
        self._groups = create_group_folders(self._run)
        lease = TaskLease(self._run.path / GROUPS_FOLDER / COORDINATOR_FILE, "The run")
        for group in self._groups:
            self._restarts.record_start(group.number, group.status.step)
        self._merger = GroupMerger(self._run, self._groups)
        try:
            self._start_missing_tasks()
            while not self._poll_groups():
                lease.exit_if_taken_over()
                time.sleep(POLL_SECONDS)
        finally:
            self._stop_groups()
        self._merger.merge_groups(hold=0.0)
        self._update_status()
        return self._build_outcome()

    def _start_missing_tasks(self) -> None:
        for group in self._groups:
            clear_stop_request(group.path)
        self._hearing.update(self._groups)
        # The last heartbeat of a task that was killed is fresh for a minute, its end is known.
        ended = self._tasks.find_ended_groups()
        missing = [
            group
            for group in self._groups
            if group.status.state not in _COMPLETED_STATES
            and (group.number in ended or not self._hearing.is_alive(group))
        ]
        for group in missing:
            now = time.time()
            again = replace(
                group.status, state="queued", message="", pid=None, queued=now, updated=now, seconds_left=None
            )
            write_status(group.path, again)
        self._groups = list_run_groups(self._run)
        self._tasks.start_tasks(missing)

    def _read_groups(self) -> list[Group]:
        """The groups as they stand; as they stood where the disk fails for a moment."""
        try:
            run_groups, self._unread = list_run_groups(self._run), 0
        except RunError:
            self._unread += 1
            if self._unread > _MAX_FAILED_READS:
                raise
            return self._groups
        return run_groups

    def _poll_groups(self) -> bool:
        """One look at everything; whether all is over."""
        self._groups = self._read_groups()
        self._hearing.update(self._groups)
        before, self._looked = self._looked, time.monotonic()
        tasks = mark_completed_tasks(self._tasks.poll_tasks(), self._groups)
        if tasks != self._noted:
            write_group_tasks(self._run.path, tasks)
            self._noted = dict(tasks)
        if any(run_group.status.state == "training" for run_group in self._working_groups):
            self._seconds += self._looked - before
        self._merger.merge_groups()
        self._update_status()
        if not self._stopping and (self._stop() or self._merger.is_over_early or self._has_diverged_group):
            self._stop_groups()
        for group in self._groups:
            if self._stopping and self._hearing.is_stale(group):
                self._tasks.kill_task(group)
        ended = [self._is_group_over(run_group, tasks) for run_group in self._groups]
        return all(ended)

    def _is_group_over(self, group: Group, tasks: Mapping[int, TaskStatus]) -> bool:
        """Whether nothing is at a group any more; a task that was lost is started again."""
        task = tasks.get(group.number)
        if self._is_group_alive(group):
            return False
        if group.status.state in _COMPLETED_STATES or (task and task.state != "ended"):
            return group.status.state in _COMPLETED_STATES  # One that failed may be put back by Slurm.
        if group.status.state in ENDED_STATES or self._stopping:
            return True
        # Whoever looked at the file before the task ended has not seen its last word.
        group = self._read_groups()[group.number - 1]
        if group.status.state in ENDED_STATES or self._is_group_alive(group):
            return group.status.state in ENDED_STATES
        word = task.word if task else ""
        start = partial(self._tasks.start_tasks, [group])
        return not self._restarts.try_restart(group.number, word, group.status.step, start, group.title)

    def _is_group_alive(self, group: Group) -> bool:
        """Whether a process is at a group: none is whose task the scheduler says has ended."""
        task = self._noted.get(group.number)
        if task and task.state == "ended" and task.word:
            return False
        return self._hearing.is_alive(group)

    def _get_end_word(self, group: Group) -> str:
        task = self._noted.get(group.number)
        said = group.status.state in ENDED_STATES or task is None or task.state != "ended"
        return "" if said or task is None else task.word

    @property
    def _working_groups(self) -> list[Group]:
        return [group for group in self._groups if self._is_group_alive(group)]

    @property
    def _has_diverged_group(self) -> bool:
        return any(group.status.state == "diverged" for group in self._groups)

    def _stop_groups(self) -> None:
        """Ask every group to stop; each does within about a second of training."""
        self._stopping = True
        for group in self._groups:
            if group.status.state not in ENDED_STATES and group.path.is_dir():
                with contextlib.suppress(OSError):  # The others are to be told all the same.
                    (group.path / STOP_FILE).touch()
        self._tasks.cancel_waiting()

    def _build_outcome(self) -> Outcome:
        groups = self._groups = list_run_groups(self._run)
        if self._merger.is_over:
            if self._config.folds and not self._save_fold_predictions():
                return STOPPED_OUTCOME
            epochs = len(self._merger.merged_lines)
            return Outcome("finished", describe_early_stop(self._merger.status, self._config, epochs))
        numbers = {group.number for group in groups if find_task_end(self._get_end_word(group)).canceled}
        for state in ("diverged", "failed"):
            for group in groups:
                if group.number in numbers or group.state != state:
                    continue
                if state == "diverged" or not self._stop():
                    return self._build_group_outcome(group, state)
        if self._stop():
            return Outcome("stopped", "Stopped. Resume continues from here.")
        for group in groups:
            if group.status.state != "finished" and group.number not in numbers:
                return self._build_group_outcome(group, "failed")
        if numbers:
            sentence = describe_canceled_tasks(numbers, len(groups), self._tasks.place_title, "group")
            return Outcome("stopped", f"{sentence} {KEPT_SENTENCE}")
        return Outcome("failed", self._merger.describe_missing_epoch())

    def _save_fold_predictions(self) -> bool:
        """Have the merged members judge the training examples; whether they did."""
        prepare_jax()
        from ensemble.runs.training import fold_predictions

        self._status.update(message=fold_predictions.PROGRESS_MESSAGE)
        self._report(self._status.status)
        return fold_predictions.save_fold_predictions(self._run, self._stop)

    def _build_group_outcome(self, group: Group, state: str) -> Outcome:
        lost = group.has_died or group.status.machine_fault
        return Outcome(state, self._describe_group_end(group), machine_fault=lost)

    def _describe_group_end(self, group: Group) -> str:
        if group.status.state == "diverged":
            return group.message
        sentence = describe_task_end(self._get_end_word(group), self._tasks.place_title, self._tasks.memory) or (
            group.message if group.state == "failed" else describe_lost_task(self._tasks.place_title)
        )
        if group.group_count == 1:
            return f"{sentence[0].upper()}{sentence[1:]}"
        rest = "resume trains those that have not finished."
        return f"{group.title}: {sentence} What the other groups have learned is kept; {rest}"

    def _update_status(self) -> None:
        changes = {**self._build_progress_fields(), **self._build_best_fields()}
        now = tuple((name, str(value)) for name, value in changes.items())
        if now != self._told:
            self._told = now
            self._status.update(**changes)
            self._report(self._status.status)

    def _build_best_fields(self) -> dict[str, Any]:
        names = (*build_blank_best_fields(self._config), *_LAST_EPOCH_FIELDS)
        return {name: getattr(self._merger.status, name) for name in names}

    def _build_progress_fields(self) -> dict[str, Any]:
        """How far the run has come: as its groups together."""
        every = [group.status for group in self._groups]
        left = [status.seconds_left for status in every if status.state not in ENDED_STATES]
        estimates = [seconds for seconds in left if seconds is not None]
        return {
            "state": self._compute_state(),
            "message": self._describe_wait(),
            "started": min((status.started for status in every if status.started), default=None),
            "epoch": len(self._merger.merged_lines),
            "epochs": self._config.epochs,
            "step": sum(status.step for status in every) // len(every),
            "steps": max(status.steps for status in every),
            "seconds": round(max(self._seconds, *(status.seconds for status in every)), 3),
            "compile_seconds": max(status.compile_seconds or 0.0 for status in every),
            "img_member_per_s": self._compute_speed(self._working_groups),
            "seconds_left": max(estimates) if estimates and len(estimates) == len(left) else None,
        }

    def _compute_speed(self, working: list[Group]) -> float | None:
        """Images times members a second: of those running; at the end, over all the time."""
        if working:
            rates = [group.status.img_member_per_s or 0.0 for group in working]
            return round(sum(rates), 1) or None
        members = sum(group.status.step * len(group.member_numbers) for group in self._groups)  # times steps
        seconds = max(self._seconds, *(group.status.seconds for group in self._groups))
        return round(members * self._config.batch_size / seconds, 1) if seconds else None

    def _compute_state(self) -> str:
        states = {group.status.state for group in self._working_groups}
        waits = any(task.state == "waiting" for task in self._noted.values())
        if waits and not states and not self._stopping and self._tasks.place_title != LOCAL_TITLE:
            return "queued"  # however far it had come before
        if "training" in states or any(group.status.step for group in self._groups):
            return "training"
        return "starting" if states or self._tasks.place_title == LOCAL_TITLE else "queued"

    def _describe_wait(self) -> str:
        """What holds groups up: the wait of their tasks for a place, or that they are stopped."""
        for group in filter(self._hearing.is_stale, self._groups):
            task = self._noted.get(group.number, TaskStatus("running"))
            if task.state == "running" and not task.reason:
                return describe_stale_group(group)
        # A node that is cut off goes on at what waits for another.
        busy = {run_group.number for run_group in self._groups if run_group.status.state in ENDED_STATES}
        busy |= {run_group.number for run_group in self._working_groups}
        tasks = [task for number, task in self._noted.items() if number not in busy]
        waiting = [task for task in tasks if task.state == "waiting"]
        if not waiting or self._stopping:
            paused = describe_paused_tasks(self._noted.values(), len(self._groups), "group")
            return "" if self._stopping else paused or self._tasks.refusal
        wait = describe_waiting_tasks(waiting, len(self._groups), self._tasks.place_title, "group")
        return f"{wait} {self._tasks.refusal}".rstrip()
