"""A sweep's workers as tasks of a scheduler's, which outlive whoever follows them."""

from ensemble.cluster.schedulers import SCHEDULERS
from ensemble.cluster.task_array import TaskArray, TaskStatus
from ensemble.errors import RunError
from ensemble.jobs.placement import create_scheduler_backend, read_placement
from ensemble.jobs.remote import task_process
from ensemble.storage.atomic_files import read_json, write_json
from ensemble.sweeps.store import Sweep

_TASKS_FILE = "tasks.json"


class WorkerTasks:
    """The tasks of one sweep.

    Args:
      sweep: placed at a scheduler.

    Raises:
      RunError: where it is placed cannot be read.
      ConfigError: what is asked for is out of its range.
    """

    def __init__(self, sweep: Sweep) -> None:
        self._sweep = sweep
        try:
            placement = read_placement(sweep.path)
            record = read_json(sweep.path / _TASKS_FILE) if (sweep.path / _TASKS_FILE).exists() else {}
        except (OSError, ValueError) as error:
            raise RunError(
                f"The placement of the sweep “{sweep.id}” cannot be read ({error}): launch it again."
            ) from error
        if placement is None or placement.on not in SCHEDULERS:
            raise RunError(f"The sweep “{sweep.id}” is on no cluster: launch it again.")
        ids = filter(None, map(str, record.get("ids", [])))
        self._array = TaskArray(
            create_scheduler_backend(placement, sweep.path),
            sweep.id,
            {number: TaskStatus("running", task_id) for number, task_id in enumerate(ids, 1)},
        )

    def submit_missing(self) -> None:
        """Submit as many as there are to be workers, less those that wait or work still.

        Raises:
          ClusterError, ConfigError: the scheduler does not take them, with what to do.
        """
        alive = self._array.find_alive()
        missing = self._sweep.config.workers - len(alive)
        first = len(self._array.tasks) + 1
        words = (self._sweep.kind.command, self._sweep.id)
        new = dict.fromkeys(range(first, first + missing), words)
        self._array.submit(new, {task_process.TASK_VARIABLE: task_process.format_task_key(self._sweep)})
        ids = [self._array.tasks[number].id for number in (*alive, *new)]
        write_json(self._sweep.path / _TASKS_FILE, {"ids": ids})

    def have_all_ended(self) -> bool:
        """Whether all have ended: that was said several times; not where nothing is said."""
        return all(task.state == "ended" for task in self._array.poll_tasks().values())

    def cancel_waiting(self) -> None:
        """Cancel those that wait; those that work stop of themselves."""
        self._array.poll_tasks()
        self._array.take_back_waiting()
