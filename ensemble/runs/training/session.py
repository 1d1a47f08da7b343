"""One stretch of training: from a run's last checkpoint to its end, or to a stop."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any

from ensemble import hosts
from ensemble.config import LEAST_IN_A_GROUP
from ensemble.engine import Pace, Trainer, choose_devices
from ensemble.jobs.outcome import Outcome
from ensemble.jobs.status import StatusWriter
from ensemble.machine.jax_settings import describe_devices
from ensemble.runs.checkpoints.manager import Checkpoints
from ensemble.runs.history import FOLDERS, drop_predictions, write_predictions
from ensemble.runs.parameters import drop_parameters, write_parameters
from ensemble.runs.status import (
    Status,
    after_epoch,
    blank_best,
    how_it_ended,
    is_over,
    who_was_set_aside,
)
from ensemble.runs.store import Run, trained_here
from ensemble.runs.test_set import dataset_of
from ensemble.runs.training import averages
from ensemble.runs.training.clock import TrainingClock
from ensemble.runs.training.divergence import Lost
from ensemble.runs.training.progress import Progress, differences, figures_on, judge
from ensemble.storage.atomic import read_json, write_json
from ensemble.storage.records.fields import Within, read_as
from ensemble.storage.records.lines import Line, append_line, keep_lines, plain, read_lines

CHECKPOINT_SECONDS = 60.0
LINES_OF_AN_EPOCH = 20  # about, of a group


@dataclass(frozen=True)
class Used:
    """What is read of a devices.json: how many devices the run began with."""

    used: Annotated[int, Within(1, 2**20)]


class Session:
    """Trains a run and writes down what happens. Use as a context manager.

    Args:
      run: the run, whose worker this process is.
      status: the hold on its status.json.
      stop: asked between compiled calls, about once a second.
      report: called with each new status.
      trainer: makes what trains, of settings, images and devices.
    """

    def __init__(
        self,
        run: Run,
        status: StatusWriter[Any],
        stop: Callable[[], bool],
        report: Callable[[Status], None],
        trainer: Callable[..., Trainer] = Trainer,
    ) -> None:
        self._run, self._status, self._stop, self._report = run, status, stop, report
        self._config = config = trained_here(run)
        self._trainer = trainer(config, dataset_of(run), _devices(run), numbers=run.numbers)
        averages.check(run)
        self._history = run.path / "history.jsonl"
        self._checkpoints = Checkpoints(run.path)
        self._saved = time.monotonic()
        self._pace = Pace()
        self._clock = TrainingClock(
            config, self._trainer.steps_per_epoch, len(self._trainer.digits.test_labels),
            status.status.compile_seconds or 0.0,
        )  # fmt: skip
        self._can_test = False
        self._lost = Lost(run, self._trainer, status)
        # A group's lines stand at the same steps as those of the others.
        lines = max(1, self._trainer.steps_per_epoch // LINES_OF_AN_EPOCH)
        self._line_steps = None if run.whole else lines

    def __enter__(self) -> "Session":
        return self

    def __exit__(self, *error: object) -> None:
        self._checkpoints.__exit__(*error)

    def train(self) -> Outcome:
        """Go on from the last checkpoint until the run is finished, stopped or diverged."""
        outcome = self._stretch()
        self._status.update(**self._clock.whole(self._progress.seconds, self._progress.step))
        return outcome

    def _stretch(self) -> Outcome:
        progress = self._begin()
        while not is_over(self._status.status, self._config, progress.evaluated):
            ready_to_test = progress.step_in_epoch == progress.steps_per_epoch
            outcome = self._close_epoch() if ready_to_test else self._advance()
            if outcome:
                return outcome
            if self._stop():
                self._save()
                return Outcome("stopped", "Stopped. Resume continues from here.")
        if self._config.swa_epochs and self._run.whole and not hosts.current():
            averages.keep(self._run)  # elsewhere whoever first asks makes it
        said = how_it_ended(self._status.status, self._config, progress.evaluated)
        if damaged := self._checkpoints.set_aside:
            again = "What was learnt after the one before it was learnt again, to the same bits."
            said = " ".join([*damaged, again, said])
        aside = who_was_set_aside(self._status.status, self._config.members)
        return Outcome("finished", f"{said} {aside}".strip())

    def _begin(self) -> Progress:
        """Take up the last checkpoint, or the beginning, while training is compiled."""
        trainer = self._trainer
        self._tell(message="Compiling the training step.")
        members = len(self._run.numbers)
        blank = Progress.blank(trainer.blank(), members, trainer.steps_per_epoch)
        restored = self._checkpoints.restore(blank)
        self._progress = restored or blank
        kept = restored.state if restored else None
        self._state = self._clock.compiling(lambda: trainer.start(kept))
        self._progress.state = None  # It is on the devices now: a copy here would cost memory.
        self._lost.begin(self._progress)
        self._forget_what_comes_again()
        layout = trainer.layout
        used = {"used": trainer.devices, "members_per_device": layout.lanes}
        write_json(self._run.path / "devices.json", {**describe_devices(), **used, **layout.hosts})
        return self._progress

    def _forget_what_comes_again(self) -> None:
        """Drop what was written after the checkpoint: it will be trained, and written, again."""
        done = self._progress

        def came_before(line: Line) -> bool:
            of_epoch = line["kind"] == "epoch"
            return line["epoch"] <= done.evaluated if of_epoch else line["step"] <= done.step

        keep_lines(self._history, came_before)
        drop_predictions(self._run.path, after=done.evaluated)
        drop_predictions(self._run.path, after=done.evaluated, what="validation")
        drop_parameters(self._run.path, after=done.evaluated)
        self._status.update(**blank_best(self._config))
        for line in read_lines(self._history, len(self._run.numbers)):
            if line["kind"] == "epoch" and line.get("ensemble_test_accuracy") is not None:
                self._status.update(**after_epoch(self._status.status, line))

    def _advance(self) -> Outcome | None:
        """One compiled call of training."""
        progress = self._progress
        epoch, start = progress.evaluated + 1, progress.step_in_epoch
        count = self._pace.next(progress.steps_per_epoch - start)
        began = time.perf_counter()
        self._state, figures = self._trainer.train(self._state, epoch, start, count)
        seconds = time.perf_counter() - began
        self._pace.took(count, seconds)
        self._clock.trained(count, seconds)
        progress.seconds += seconds
        whole, outcome = self._lost.in_training(figures, count)
        if whole:
            for line in progress.recorded(figures, whole, self._line_steps):
                append_line(self._history, {**line, **self._clock.now(progress.seconds)})
        self._tell(**self._place())
        if outcome:
            return outcome
        if time.monotonic() - self._saved > CHECKPOINT_SECONDS:
            self._save()
        return None

    def _close_epoch(self) -> Outcome | None:
        """Validate, test, and write down, an epoch whose steps are done."""
        progress = self._progress
        if not self._can_test:
            self._clock.compiling(lambda: self._trainer.compile_evaluation(self._state))
            self._can_test = True
        began = time.perf_counter()
        if not (judged := judge(self._trainer, self._state, self._stop)):
            return None
        progress.seconds += time.perf_counter() - began
        epoch = progress.evaluated + 1
        if self._lost.in_judging(judged):
            return self._lost.outcome  # None where others go on: they are judged again, alone
        line = {"kind": "epoch", **progress.place(), **progress.training_figures()}
        for split, one in judged.items():
            write_predictions(self._run.path, epoch, one.probabilities, FOLDERS[split])
            line |= figures_on(split, one, progress.aside)
        differ = differences(judged["test"], progress.aside)
        line = plain({**line, **differ, **self._clock.now(progress.seconds)})
        summary = after_epoch(self._status.status, line)
        best = summary.get("best_epoch") or self._status.status.best_epoch or epoch
        params = self._trainer.get_params(self._state)
        drop = best if self._run.whole else None
        write_parameters(self._run.path, epoch, params, drop, self._config.averaged_epochs)
        append_line(self._history, line)
        progress.close_epoch()
        self._tell(**summary, **self._place())
        last = is_over(self._status.status, self._config, epoch)
        if last or best == epoch or self._checkpoint_is_old():
            self._save()
        self._clock.closed(time.perf_counter() - began)
        return None

    def _checkpoint_is_old(self) -> bool:
        return time.monotonic() - self._saved > CHECKPOINT_SECONDS

    def _save(self) -> None:
        best = self._status.status.best_epoch
        whole = self._progress.steps_per_epoch + 1  # ticks of an epoch
        self._progress.state = self._trainer.get(self._state)
        self._checkpoints.save(self._progress, best and best * whole)
        self._progress.state = None
        self._saved = time.monotonic()

    def _tell(self, **changes: Any) -> None:
        self._status.update(**changes)
        self._report(self._status.status)

    def _place(self) -> dict[str, Any]:
        """How far the run has come, for the status."""
        progress, epochs = self._progress, self._config.epochs
        return {
            "state": "training",
            "message": "",
            "epoch": progress.evaluated,
            "epochs": epochs,
            "step": progress.step,
            "steps": epochs * progress.steps_per_epoch,
            **self._clock.place(progress.seconds, progress.step, progress.evaluated),
        }


def _devices(run: Run) -> list[Any]:
    """The devices to train on; a resumed run keeps the number it began with, for the same bits.

    Each has two members of a group or more: one alone on its device may round otherwise.
    """
    most = None if run.whole or hosts.current() else max(1, len(run.numbers) // LEAST_IN_A_GROUP)
    try:
        used = read_as(Used, read_json(run.path / "devices.json")).used
    except (OSError, ValueError):
        return choose_devices(trained_here(run).devices)[:most]
    return choose_devices(0)[:used]
