"""What a run writes down of its training: history, predictions, parameters, places, status.

It trains nothing, and is told what came of each call. So a run that is trained beside others in one
program leaves what it leaves alone.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import jax
import numpy as np

from ensemble.config import REGRESSION
from ensemble.jobs.outcome import STOPPED_OUTCOME, Outcome, limit_stop_checks
from ensemble.jobs.status import StatusWriter
from ensemble.machine.jax_settings import read_device_info
from ensemble.runs import status as statuses
from ensemble.runs.checkpoints.earlier_checkpoint import read_earlier_checkpoint
from ensemble.runs.checkpoints.manager import Checkpoints, count_tree_bytes
from ensemble.runs.epoch_files import write_epoch_arrays
from ensemble.runs.history import PREDICTION_FOLDERS, drop_predictions
from ensemble.runs.numeric.numeric_predictions import CURVE
from ensemble.runs.parameters import drop_excess_epochs, drop_parameters, write_parameters
from ensemble.runs.status import Status, build_blank_best_fields, build_epoch_status_fields, is_training_over
from ensemble.runs.store import Run, require_run_settings
from ensemble.runs.training import fold_predictions, weight_averages
from ensemble.runs.training.clock import TrainingClock
from ensemble.runs.training.divergence import DivergenceMonitor
from ensemble.runs.training.host_snapshot import HostSnapshot, copy_unless_owned
from ensemble.runs.training.progress import JudgedMembers, Progress, StepMetrics
from ensemble.runs.training.record_writer import RecordedStatus, RecordWriter
from ensemble.runs.training.task_records import AnyTrainer, create_task_records, describe_broken_network
from ensemble.storage.atomic_files import write_json
from ensemble.storage.records.json_lines import Line, append_line, convert_to_json, keep_matching_lines, read_lines

_CHECKPOINT_SECONDS = 60.0
_LINES_PER_EPOCH = 20  # about, of a group


@dataclass(frozen=True)
class TrainingTask:
    """A run that is to be trained.

    Attributes:
      run: whose worker this process is.
      status: the hold on its status.json.
      stop: asked between compiled calls, about once a second.
      report: called with each new status.
      in_background: whether what is recorded is written by a thread of its own. Not where `report`
        decides when to stop, or others train beside this process: then it is written before
        training goes on.
    """

    run: Run
    status: StatusWriter[Any]
    stop: Callable[[], bool]
    report: Callable[[Status], None]
    in_background: bool = False


class RunRecorder:
    """One run as it is trained, perhaps with others.

    Args:
      task: the run.
      trainer: what trains it.
      place: which of the trainer's ensembles it is.
      runs: how many these are.

    Attributes:
      run: as given.
      progress: where it stands; `restore_checkpoint` finds it.
      stop: whether it is to stop.
      place: as given.
      own_members: its members among the trainer's.
    """

    progress: Progress

    def __init__(self, task: TrainingTask, trainer: AnyTrainer, place: int = 0, runs: int = 1) -> None:
        self.run, self._report = task.run, task.report
        self.stop = limit_stop_checks(task.stop) if task.in_background else task.stop
        self._writer = RecordWriter(task.in_background)
        self._status = RecordedStatus(task.status, self._writer)
        self._config = require_run_settings(task.run)
        self._trainer, self.place, self._runs = trainer, place, runs
        self._records = create_task_records(trainer)
        if self._config.swa_epochs:
            weight_averages.check_weight_averaging(task.run)
        members = len(task.run.member_numbers)
        self.own_members = slice(place * members, (place + 1) * members)
        self._history = task.run.path / "history.jsonl"
        self._checkpoints = Checkpoints(task.run.path)
        self._saved = time.monotonic()
        self._clock = TrainingClock(
            self._config, trainer.steps_per_epoch, trainer.test_size, task.status.status.compile_seconds or 0.0
        )
        self._lost = DivergenceMonitor(task.run, self.freeze_members, self._status, describe_broken_network(trainer))
        # A group's lines stand at the same steps as those of the others.
        lines = max(1, trainer.steps_per_epoch // _LINES_PER_EPOCH)
        self._line_steps = None if task.run.has_all_members else lines

    def restore_checkpoint(self) -> Any:
        """The members at the run's last checkpoint, leaves (M, …); None at its beginning."""
        self._update_status(message="Compiling the training step.")
        blank = jax.tree.map(lambda leaf: leaf[self.own_members], self._trainer.create_blank_state())
        members, steps = len(self.run.member_numbers), self._trainer.steps_per_epoch
        place = Progress.blank(blank, members, steps, self.run.task)
        restored = self._checkpoints.restore(place) or read_earlier_checkpoint(self.run.path, place)
        self.progress = restored or place
        state, self.progress.state = self.progress.state, None  # A copy here would cost memory.
        return state if restored else None

    def start_recording(self) -> None:
        """Watch over the members, and drop what comes again after this place."""
        self._lost.watch_progress(self.progress)
        self._drop_after_checkpoint()
        layout, beside = self._trainer.layout, {"runs": self._runs} if self._runs > 1 else {}
        used: Line = {"used": self._trainer.device_count, "members_per_device": layout.lanes, **beside}
        if products := self._trainer.products:
            used["products"] = asdict(products)
        devices = {**read_device_info(), **used}
        self._writer.submit(lambda: write_json(self.run.path / "devices.json", devices))

    def record_compile_time(self, seconds: float, sharing: int = 1) -> None:
        """Note seconds of compiling for so many runs: each is told its share, as of training."""
        self._clock.record_compile_time(seconds / sharing)

    def record_steps(self, metrics: StepMetrics, count: int, seconds: float, sharing: int = 1) -> Outcome | None:
        """Write down a call of so many steps; how the run ended where it did by what they say.

        Args:
          metrics: of its members.
          count: steps.
          seconds: that they took for all runs that were trained.
          sharing: how many these are: together their seconds are those that passed.
        """
        progress = self.progress
        self._clock.record_steps(count, seconds, sharing)
        progress.seconds += seconds / sharing
        whole, outcome = self._lost.check_step_losses(metrics, count)
        if whole:
            for line in progress.record_history_lines(metrics, whole, self._records.summarize_steps, self._line_steps):
                self._append_line({**line, **self._clock.summarize_now(progress.seconds)})
        self._update_status(**self._build_progress_fields())
        return outcome

    def record_epoch(
        self, judged: Mapping[str, JudgedMembers], snapshot: HostSnapshot, seconds: float, sharing: int = 1
    ) -> Outcome | None:
        """Write down an epoch whose steps are done; how the run ended where it did by that.

        Args:
          judged: its members, by split.
          snapshot: the members as they are.
          seconds: that judging took for all runs.
          sharing: how many these are.
        """
        progress, began = self.progress, time.perf_counter()
        progress.seconds += seconds / sharing
        epoch = progress.evaluated + 1
        if self._lost.check_epoch_losses(judged):
            return self._lost.outcome  # None where others go on: they are judged again, alone
        line = {"kind": "epoch", **progress.history_position(), **self._records.summarize_steps(progress)}
        line |= self._records.summarize_epoch(judged, progress.diverged_members)
        line = convert_to_json({**line, **self._clock.summarize_now(progress.seconds)})
        summary = build_epoch_status_fields(self._status.status, line)
        best = summary.get("best_epoch") or self._status.status.best_epoch or epoch
        for folder, arrays in self._records.list_predictions(judged).items():
            self._write_predictions(folder, epoch, best, arrays)
        self._write_parameters(epoch, best, snapshot.select_params(self.own_members))
        self._append_line(line)
        progress.close_epoch()
        self._update_status(**summary, **self._build_progress_fields())
        last = is_training_over(self._status.status, self._config, epoch)
        if last or best == epoch or self._is_checkpoint_old:
            self.save_checkpoint(snapshot)
        # The others write as much.
        self._clock.record_epoch_end(seconds + sharing * (time.perf_counter() - began))
        return None

    def save_checkpoint(self, snapshot: HostSnapshot) -> None:
        """Keep this place as a checkpoint."""
        best = self._status.status.best_epoch
        whole = self.progress.steps_per_epoch + 1  # ticks of an epoch
        state, size = self._keep_arrays(snapshot.select_state(self.own_members))
        place = self.progress.copy_with_state(state)
        self._writer.submit(lambda: self._checkpoints.save(place, best and best * whole), size)
        self._saved = time.monotonic()

    def save_checkpoint_if_old(self, snapshot: HostSnapshot) -> None:
        """Keep this place where the last that was kept is old."""
        if self._is_checkpoint_old:
            self.save_checkpoint(snapshot)

    def finish_if_over(self) -> Outcome | None:
        """How the run ended, where all that it is to learn is learnt."""
        if not is_training_over(self._status.status, self._config, self.progress.evaluated):
            return None
        self._writer.drain()  # What is averaged is read from the disk.
        status, config = self._status.status, self._config
        if config.swa_epochs and self.run.has_all_members:
            weight_averages.save_weight_average(self.run)
        if config.folds and self.run.has_all_members:
            self._update_status(message=fold_predictions.PROGRESS_MESSAGE)
            if not fold_predictions.save_fold_predictions(self.run, self.stop):
                return STOPPED_OUTCOME
        sentence = statuses.describe_early_stop(status, config, self.progress.evaluated)
        if damaged := self._checkpoints.quarantined:
            again = "Training after the previous checkpoint was repeated, with identical results."
            sentence = " ".join([*damaged, again, sentence])
        aside = statuses.describe_diverged_members(status, config.members)
        return Outcome("finished", f"{sentence} {aside}".strip())

    def write_totals(self) -> None:
        """Write down what the whole took."""
        self._status.update(**self._clock.summarize_total(self.progress.seconds, self.progress.step))
        self._writer.drain()

    def freeze_members(self, members: Sequence[int]) -> None:
        """Train these of its members no more, by their places from 0."""
        self._trainer.freeze_members([self.own_members.start + member for member in members])

    def close(self) -> None:
        """Have all written that was recorded, and let go of its checkpoints."""
        self._writer.close()
        self._checkpoints.__exit__()

    def _drop_after_checkpoint(self) -> None:
        """Drop what was written after the checkpoint: it will be trained, and written, again."""
        done = self.progress

        def is_before_checkpoint(line: Line) -> bool:
            of_epoch = line["kind"] == "epoch"
            return line["epoch"] <= done.evaluated if of_epoch else line["step"] <= done.step

        keep_matching_lines(self._history, is_before_checkpoint)
        for what in (*PREDICTION_FOLDERS.values(), CURVE):
            drop_predictions(self.run.path, after=done.evaluated, what=what)
        drop_parameters(self.run.path, after=done.evaluated)
        self._status.update(**build_blank_best_fields(self._config))
        for line in read_lines(self._history, len(self.run.member_numbers)):
            if line["kind"] == "epoch" and (
                self.run.task == REGRESSION or line.get("ensemble_test_accuracy") is not None
            ):
                self._status.update(**build_epoch_status_fields(self._status.status, line))

    @property
    def _is_checkpoint_old(self) -> bool:
        return time.monotonic() - self._saved > _CHECKPOINT_SECONDS

    def _update_status(self, **changes: Any) -> None:
        self._status.update(self._report, **changes)

    def _append_line(self, line: Line) -> None:
        self._writer.submit(lambda: append_line(self._history, line))

    def _write_predictions(self, what: str, epoch: int, best: int, arrays: dict[str, np.ndarray]) -> None:
        (kept, size), folder = self._keep_arrays(arrays), self.run.path
        drops = self.run.task == REGRESSION and self.run.has_all_members

        def write_arrays() -> None:
            write_epoch_arrays(folder, what, epoch, kept)
            if drops:
                drop_excess_epochs(folder, what, epoch, best)

        self._writer.submit(write_arrays, size)

    def _write_parameters(self, epoch: int, best: int, params: Any) -> None:
        (kept, size), averaged = self._keep_arrays(params), self._config.averaged_epochs
        drop = best if self.run.has_all_members else None
        self._writer.submit(lambda: write_parameters(self.run.path, epoch, kept, drop, averaged), size)

    def _keep_arrays(self, tree: Any) -> tuple[Any, int]:
        """The arrays as they are now, also while the members learn on, and the bytes of them.

        What is written before that needs no copy, which a large run may have no memory for.
        """
        size = count_tree_bytes(tree)
        later = self._writer.is_written_later(size)
        return (jax.tree.map(copy_unless_owned, tree) if later else tree), size

    def _build_progress_fields(self) -> dict[str, Any]:
        progress, epochs = self.progress, self._config.epochs
        return {
            "state": "training",
            "message": "",
            "epoch": progress.evaluated,
            "epochs": epochs,
            "step": progress.step,
            "steps": epochs * progress.steps_per_epoch,
            **self._clock.summarize_progress(progress.seconds, progress.step, progress.evaluated),
        }
