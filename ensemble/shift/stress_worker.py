"""The job that measures a run's last checkpoint, from the first task that is not done yet."""

import time
from collections.abc import Callable
from typing import Any

from ensemble.engine import ForwardPass
from ensemble.jobs.outcome import Outcome
from ensemble.jobs.status import StatusWriter
from ensemble.runs.checkpoints.members import read_progress
from ensemble.runs.members import select_members_epoch
from ensemble.runs.parameters import load_run_network
from ensemble.runs.store import Run
from ensemble.shift.results import StressResults, count_measured_images, read_stress_results, write_stress_results
from ensemble.shift.tasks import StressTask, list_stress_tasks

_REPORT_INTERVAL_S = 0.5


class StressWorker:
    """Measures a run; what is done is written at once, and not done again.

    Args:
      run: the run, which nobody trains meanwhile.
      status: the writer of the job's status.json.
      stop: whether to stop; called about once a second.
      report: called with each new status.
    """

    def __init__(
        self, run: Run, status: StatusWriter[Any], stop: Callable[[], bool], report: Callable[[Any], None]
    ) -> None:
        self._run, self._status, self._stop, self._report = run, status, stop, report
        self._clock: tuple[float, float] | None = None
        self._told = 0.0

    def work(self) -> Outcome:
        """Do all tasks that are not done yet; returns what came of it."""
        results, forward = self._open_members()
        every = list_stress_tasks(self._run, results)
        left = [task for task in every if not task.is_done]
        while left:
            done = len(every) - len(left)
            self._update_status(message=left[0].title, steps=done, total=len(every))
            probabilities = forward(left[0].images(), self._build_progress_callback(left, len(every)))
            if probabilities is None:
                return Outcome("stopped", "Stopped. Starting it again goes on from here.")
            results = left.pop(0).add_to_results(probabilities, results)
            write_stress_results(self._run.path, results)
        self._update_status(message="", steps=len(every), total=len(every), progress=1.0)
        return Outcome("finished")

    def _open_members(self) -> tuple[StressResults, ForwardPass]:
        progress = read_progress(self._run, select_members_epoch(self._run))
        limit = self._status.status.limit
        info = self._run.data
        images = count_measured_images(info.test_size, info.image_shape)
        images = images if limit is None else min(limit, images)
        forward = ForwardPass(load_run_network(self._run), progress.state.params, images)
        results = StressResults(
            tick=progress.tick,
            epoch=progress.evaluated,
            steps_after=progress.step_in_epoch,
            dataset=self._run.config.dataset,
            images=images,
            members=forward.members,
            side=min(info.image_shape[:2]),
        )
        self._update_status(state="measuring", epoch=progress.evaluated, message="Compiling the network.")
        stress_results = read_stress_results(self._run.path)
        return stress_results if stress_results and stress_results.has_same_subject(results) else results, forward

    def _build_progress_callback(self, left: list[StressTask], total: int) -> Callable[[float], bool]:
        """A function that reports progress in the first of `left`; it returns whether to stop."""

        def report_and_check_stop(done: float) -> bool:
            self._report_progress(len(left) - done, total)
            return self._stop()

        return report_and_check_stop

    def _report_progress(self, ahead: float, total: int) -> None:
        now = time.monotonic()
        # The first call compiles: the clock starts after it.
        since, from_there = self._clock = self._clock or (now, ahead)
        if now - self._told < _REPORT_INTERVAL_S or ahead == from_there:
            return
        self._told = now
        pace = (now - since) / (from_there - ahead)
        self._update_status(progress=round(1 - ahead / total, 4), seconds_left=round(ahead * pace, 1))

    def _update_status(self, **changes: Any) -> None:
        self._status.update(**changes)
        self._report(self._status.status)
