"""A sweep's workers as tasks at a scheduler, which outlive the process that follows them."""

from collections.abc import Mapping
from functools import partial
from itertools import count, islice

from ensemble.cluster.task_array import TaskArray, TaskStatus, describe_paused_tasks, describe_waiting_tasks
from ensemble.cluster.task_ends import TaskRestarts, describe_canceled_tasks, find_task_end, summarize_task_ends
from ensemble.errors import RunError
from ensemble.jobs.job import Job, UnfollowedWork
from ensemble.jobs.outcome import Outcome
from ensemble.jobs.remote import task_process
from ensemble.jobs.remote.job_tasks import JobTasks, find_backend
from ensemble.jobs.remote.task_record import read_task_statuses, write_task_statuses
from ensemble.sweeps.store import Sweep

_TASKS_FILE, _NOUN = "tasks.json", "worker"
_UNKNOWN_END = "All its tasks have ended, but trials are left: see {}/ in its folder for the reason, then resume it."


def find_worker_tasks(job: Job) -> JobTasks | None:
    """Find the tasks of a sweep; None if it has none at a scheduler."""
    backend, recorded = find_backend(job.path, job.path), read_task_statuses(job.path / _TASKS_FILE)
    if backend is None or not recorded:
        return None

    def describe_end(tasks: Mapping[int, TaskStatus]) -> UnfollowedWork:
        words = {number: task.word for number, task in tasks.items()}
        advice, memory = job.kind.kept_sentence, backend.config.memory
        summary = summarize_task_ends(words, len(words), backend.title, advice, memory=memory, noun=_NOUN)
        return UnfollowedWork(*(summary or ("stopped", "Stopped. Resume continues from here.")))

    return JobTasks(TaskArray(backend, job.id, recorded, sure=1), {}, describe_end, _NOUN)


class WorkerTasks:
    """The tasks of a sweep, as the worker that keeps its status follows them.

    Args:
      sweep: placed at a scheduler.

    Raises:
      RunError: its placement cannot be read.
    """

    def __init__(self, sweep: Sweep) -> None:
        self._sweep, self._file = sweep, sweep.path / _TASKS_FILE
        if (backend := find_backend(sweep.path, sweep.path)) is None:
            raise RunError(f"The placement of the sweep “{sweep.id}” cannot be read: launch it again.")
        self._backend = backend
        self._array = TaskArray(backend, sweep.id, read_task_statuses(self._file))
        self._restarts = TaskRestarts(backend.title)
        self._recorded: Mapping[int, TaskStatus] = {}

    def submit_missing(self) -> None:
        """Submit as many tasks as the sweep has workers, less those that wait or run.

        Raises:
          ClusterError, ConfigError: the scheduler does not take them, with what to do.
        """
        alive = self._array.find_alive()
        self._array = TaskArray(self._backend, self._sweep.id, {number: self._array.tasks[number] for number in alive})
        free = (number for number in count(1) if number not in alive)
        self._submit(*islice(free, max(0, self._sweep.config.workers - len(alive))))

    def poll_tasks(self, done: int) -> Outcome | None:
        """Look at the tasks and submit lost ones again.

        Args:
          done: how many trials have ended.

        Returns:
          How the sweep ends because all its tasks have; None if some wait or run.
        """
        tasks = self._array.poll_tasks()
        self._record(tasks)
        ended = {number: task.word for number, task in tasks.items() if task.state == "ended"}
        lost = [number for number, word in ended.items() if not self._restart(number, word, done)]
        if len(lost) < len(tasks) or not tasks:
            return None
        advice, memory = self._sweep.kind.kept_sentence, self._backend.config.memory
        summary = summarize_task_ends(ended, len(ended), self._backend.title, advice, memory=memory, noun=_NOUN)
        return Outcome(*(summary or ("failed", _UNKNOWN_END.format(self._backend.scheduler.name))))

    @property
    def is_waiting(self) -> bool:
        """Whether no task runs, and some wait."""
        states = {task.state for task in self._array.tasks.values()}
        return "waiting" in states and "running" not in states

    def describe(self) -> str:
        """Describe what there is to know of the tasks while some wait or run; "" if they all run."""
        tasks, title = self._array.tasks, self._array.title
        waiting = [task for task in tasks.values() if task.state == "waiting"]
        sentences = (
            self.describe_canceled(),
            describe_waiting_tasks(waiting, len(tasks), title, _NOUN) if waiting else "",
            describe_paused_tasks(tasks.values(), len(tasks), _NOUN),
            self._array.refusal,
        )
        return " ".join(filter(None, sentences))

    def describe_canceled(self) -> str:
        """Name the tasks that somebody canceled; "" if there are none."""
        tasks = self._array.tasks
        canceled = [number for number, task in tasks.items() if find_task_end(task.word).canceled]
        return describe_canceled_tasks(canceled, len(tasks), self._array.title, _NOUN) if canceled else ""

    def cancel_waiting(self) -> None:
        """Cancel those that wait; those that run stop by themselves."""
        self._array.poll_tasks()
        self._array.take_back_waiting()

    def cancel_all(self) -> None:
        """Cancel those that have not stopped by themselves."""
        alive = [number for number, task in self._array.poll_tasks().items() if task.state != "ended"]
        if alive:
            self._array.try_to_cancel(*alive)

    def _restart(self, number: int, word: str, done: int) -> bool:
        title = f"Worker {number}"
        return self._restarts.try_restart(number, word, done, partial(self._submit, number), title)

    def _submit(self, *numbers: int) -> None:
        words = (self._sweep.kind.command, self._sweep.id)
        variables = {task_process.TASK_VARIABLE: task_process.format_task_key(self._sweep)}
        self._array.submit(dict.fromkeys(numbers, words), variables)
        self._record(self._array.tasks)

    def _record(self, tasks: Mapping[int, TaskStatus]) -> None:
        if tasks != self._recorded:
            write_task_statuses(self._file, tasks)
            self._recorded = dict(tasks)
