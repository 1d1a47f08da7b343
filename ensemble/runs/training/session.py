"""One stretch of training: from a run's last checkpoint to its end, or to a stop.

Several runs that differ in nothing but numbers of their members train side by side, in one program;
each has a `RunRecorder` that writes down what happens to it, and may end before the others.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple

import numpy as np

from ensemble.config import MIN_GROUP_MEMBERS, member_values
from ensemble.engine import CallPacer, choose_devices
from ensemble.jobs.outcome import STOPPED_OUTCOME, Outcome, run_to_outcome
from ensemble.machine.bfloat16_plans import Bfloat16Methods
from ensemble.runs.store import Run, require_run_settings
from ensemble.runs.training.host_snapshot import HostSnapshot
from ensemble.runs.training.progress import evaluate_splits
from ensemble.runs.training.run_recorder import RunRecorder, TrainingTask
from ensemble.runs.training.start_state import create_start_state
from ensemble.runs.training.task_records import create_run_trainer
from ensemble.storage.atomic_files import read_json
from ensemble.storage.records.field_checks import NumberRange, parse_dataclass


@dataclass(frozen=True)
class _DevicesFile:
    """What is read of a devices.json: how many devices the run began with."""

    used: Annotated[int, NumberRange(1, 2**20)]


class _EndedRun(NamedTuple):
    """How one of the runs ended, by its place among them."""

    place: int
    outcome: Outcome


class TrainingSession:
    """Trains runs and has each write down what happens. Use as a context manager.

    Args:
      tasks: the runs. Several differ in nothing but `member_values.VARIABLE_SETTINGS`, and none has
        begun.
    """

    def __init__(self, tasks: Sequence[TrainingTask]) -> None:
        runs = [task.run for task in tasks]
        first, together = runs[0], _combine_run_members(runs) if len(runs) > 1 else {}
        devices, products = _choose_run_devices(first), _load_product_plan(first)
        self._trainer = create_run_trainer(first, devices, products, **together)
        self._live = [RunRecorder(task, self._trainer, place, len(runs)) for place, task in enumerate(tasks)]
        self._alone = len(runs) == 1
        self._pace, self._can_test = CallPacer(), False

    def __enter__(self) -> "TrainingSession":
        return self

    def __exit__(self, *error: object) -> None:
        for record in self._live:
            record.close()

    def train_runs(self) -> Iterator[_EndedRun]:
        """Go on from the last checkpoint, until every run is finished, stopped or diverged.

        Each is told of as it ends, its record closed; the others go on after that.
        """
        yield from self._start_training()
        yield from self._apply_to_runs(RunRecorder.finish_if_over)
        while self._live:
            progress = self._live[0].progress
            ready_to_test = progress.step_in_epoch == progress.steps_per_epoch
            yield from self._evaluate_epoch() if ready_to_test else self._train_chunk()
            yield from self._save_stopped_runs()
            yield from self._apply_to_runs(RunRecorder.finish_if_over)

    def _start_training(self) -> Iterator[_EndedRun]:
        states = [record.restore_checkpoint() for record in self._live]
        began = time.perf_counter()
        state = states[0]
        if state is None and self._alone:
            state = create_start_state(self._live[0].run, self._trainer)
        self._state = self._trainer.start(state)
        self._record_compile_time(time.perf_counter() - began)
        yield from self._apply_to_runs(RunRecorder.start_recording)

    def _train_chunk(self) -> Iterator[_EndedRun]:
        progress, sharing = self._live[0].progress, len(self._live)
        epoch, start = progress.evaluated + 1, progress.step_in_epoch
        count = self._pace.choose_units(progress.steps_per_epoch - start)
        began = time.perf_counter()
        self._state, metrics = self._trainer.train(self._state, epoch, start, count)
        seconds = time.perf_counter() - began
        self._pace.record_duration(count, seconds)
        each = _split_by_ensemble(metrics)
        host_snapshot = HostSnapshot(self._trainer, self._state)

        def write_steps(recorder: RunRecorder) -> Outcome | None:
            if outcome := recorder.record_steps(each[recorder.place], count, seconds, sharing):
                return outcome
            recorder.save_checkpoint_if_old(host_snapshot)
            return None

        return self._apply_to_runs(write_steps)

    def _evaluate_epoch(self) -> Iterator[_EndedRun]:
        live = self._live
        if not self._can_test:
            began = time.perf_counter()
            self._trainer.compile_evaluation(self._state)
            self._record_compile_time(time.perf_counter() - began)
            self._can_test = True
        began = time.perf_counter()
        judged = evaluate_splits(self._trainer, self._state, lambda: all(recorder.stop() for recorder in live))
        seconds, sharing = time.perf_counter() - began, len(live)
        host_snapshot = HostSnapshot(self._trainer, self._state)

        def write_epoch(recorder: RunRecorder) -> Outcome | None:
            own = {split: _split_by_ensemble(evaluation)[recorder.place] for split, evaluation in judged.items()}
            return recorder.record_epoch(own, host_snapshot, seconds, sharing)

        return self._apply_to_runs(write_epoch if judged else lambda recorder: None)

    def _save_stopped_runs(self) -> Iterator[_EndedRun]:
        host_snapshot = HostSnapshot(self._trainer, self._state)

        def save_if_stopped(recorder: RunRecorder) -> Outcome | None:
            if not recorder.stop():
                return None
            recorder.save_checkpoint(host_snapshot)
            return STOPPED_OUTCOME

        return self._apply_to_runs(save_if_stopped)

    def _record_compile_time(self, seconds: float) -> None:
        for record in self._live:
            record.record_compile_time(seconds, len(self._live))

    def _apply_to_runs(self, ask: Callable[[RunRecorder], Outcome | None]) -> Iterator[_EndedRun]:
        """Ask every run that goes on; those that ended by it, one after the other."""
        for record in list(self._live):
            if outcome := self._apply_to_run(record, ask):
                self._live.remove(record)
                record.close()
                if self._live:
                    record.freeze_members(range(len(record.run.member_numbers)))
                yield _EndedRun(record.place, outcome)

    def _apply_to_run(self, record: RunRecorder, ask: Callable[[RunRecorder], Outcome | None]) -> Outcome | None:
        def apply_and_sum_up() -> Outcome | None:
            if outcome := ask(record):
                record.write_totals()
            return outcome

        return apply_and_sum_up() if self._alone else run_to_outcome(record.run, apply_and_sum_up)


def _split_by_ensemble(figures: Any) -> Sequence[Any]:
    """The figures of each run, where several are trained in one program; of the only one otherwise."""
    return getattr(figures, "by_ensemble", ()) or (figures,)


def _combine_run_members(runs: Sequence[Run]) -> dict[str, Any]:
    """What a trainer is told of several runs: their members one run after the other."""
    each = [require_run_settings(run).member_values for run in runs]
    values = {
        name: np.concatenate([run_values[name] for run_values in each]) for name in member_values.VARIABLE_SETTINGS
    }
    numbers = [number for run in runs for number in run.member_numbers]
    return {"numbers": numbers, "values": values, "ensembles": len(runs)}


def _load_product_plan(run: Run) -> Bfloat16Methods | None:
    """How bfloat16 is multiplied, where the run has begun so: it goes on to the same bits."""
    try:
        product_plan = read_json(run.path / "devices.json").get("products")
        return parse_dataclass(Bfloat16Methods, product_plan) if isinstance(product_plan, dict) else None
    except (OSError, ValueError):
        return None


def _choose_run_devices(run: Run) -> list[Any]:
    """The devices to train on; a resumed run keeps the number it began with, for the same bits.

    Each has two members of a group or more: one alone on its device may round otherwise.
    """
    most = None if run.has_all_members else max(1, len(run.member_numbers) // MIN_GROUP_MEMBERS)
    try:
        used = parse_dataclass(_DevicesFile, read_json(run.path / "devices.json")).used
    except (OSError, ValueError):
        return choose_devices(require_run_settings(run).devices)[:most]
    return choose_devices(0)[:used]
