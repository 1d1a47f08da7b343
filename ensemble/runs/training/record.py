"""What a run writes down of its training: history, predictions, parameters, places, status.

It trains nothing, and is told what came of each call. So a run that is trained beside others in one
program leaves what it leaves alone.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import jax

from ensemble import hosts
from ensemble.engine import Evaluation, StepFigures, Trainer
from ensemble.jobs.outcome import Outcome
from ensemble.jobs.status import StatusWriter
from ensemble.machine.jax_settings import describe_devices
from ensemble.runs import status as statuses
from ensemble.runs.checkpoints.manager import Checkpoints
from ensemble.runs.history import FOLDERS, drop_predictions, write_predictions
from ensemble.runs.parameters import drop_parameters, write_parameters
from ensemble.runs.status import Status, after_epoch, blank_best, is_over
from ensemble.runs.store import Run, trained_here
from ensemble.runs.training import averages
from ensemble.runs.training.clock import TrainingClock
from ensemble.runs.training.divergence import Lost
from ensemble.runs.training.progress import Progress, differences, figures_on
from ensemble.runs.training.taken import Taken
from ensemble.storage.atomic import write_json
from ensemble.storage.records.lines import Line, append_line, keep_lines, plain, read_lines

CHECKPOINT_SECONDS = 60.0
LINES_OF_AN_EPOCH = 20  # about, of a group


@dataclass(frozen=True)
class Task:
    """A run that is to be trained.

    Attributes:
      run: whose worker this process is.
      status: the hold on its status.json.
      stop: asked between compiled calls, about once a second.
      report: called with each new status.
    """

    run: Run
    status: StatusWriter[Any]
    stop: Callable[[], bool]
    report: Callable[[Status], None]


class Record:
    """One run as it is trained, perhaps with others.

    Args:
      task: the run.
      trainer: what trains it.
      place: which of the trainer's ensembles it is.
      runs: how many these are.

    Attributes:
      run: as given.
      progress: where it stands; `take_up` finds it.
      stop: whether it is to stop.
      place: as given.
      own: its members among the trainer's.
    """

    progress: Progress

    def __init__(self, task: Task, trainer: Trainer, place: int = 0, runs: int = 1) -> None:
        self.run, self._status, self.stop = task.run, task.status, task.stop
        self._config, self._report = trained_here(task.run), task.report
        self._trainer, self.place, self._runs = trainer, place, runs
        averages.check(task.run)
        members = len(task.run.numbers)
        self.own = slice(place * members, (place + 1) * members)
        self._history = task.run.path / "history.jsonl"
        self._checkpoints = Checkpoints(task.run.path)
        self._saved = time.monotonic()
        self._clock = TrainingClock(
            self._config,
            trainer.steps_per_epoch,
            len(trainer.digits.test_labels),
            task.status.status.compile_seconds or 0.0,
        )
        self._lost = Lost(task.run, self.set_aside, task.status)
        # A group's lines stand at the same steps as those of the others.
        lines = max(1, trainer.steps_per_epoch // LINES_OF_AN_EPOCH)
        self._line_steps = None if task.run.whole else lines

    def take_up(self) -> Any:
        """The members at the run's last checkpoint, leaves (M, …); None at its beginning."""
        self._tell(message="Compiling the training step.")
        blank = jax.tree.map(lambda leaf: leaf[self.own], self._trainer.blank())
        place = Progress.blank(blank, len(self.run.numbers), self._trainer.steps_per_epoch)
        restored = self._checkpoints.restore(place)
        self.progress = restored or place
        state, self.progress.state = self.progress.state, None  # A copy here would cost memory.
        return state if restored else None

    def begin(self) -> None:
        """Watch over the members, and drop what comes again after this place."""
        self._lost.begin(self.progress)
        self._forget_what_comes_again()
        layout, beside = self._trainer.layout, {"runs": self._runs} if self._runs > 1 else {}
        used: Line = {"used": self._trainer.devices, "members_per_device": layout.lanes, **beside}
        if products := self._trainer.products:
            used["products"] = asdict(products)
        write_json(self.run.path / "devices.json", {**describe_devices(), **used, **layout.hosts})

    def compiled(self, seconds: float, sharing: int = 1) -> None:
        """Note seconds of compiling for so many runs: each is told its share, as of training."""
        self._clock.compiled(seconds / sharing)

    def trained(
        self, figures: StepFigures, count: int, seconds: float, sharing: int = 1
    ) -> Outcome | None:
        """Write down a call of so many steps; how the run ended where it did by what they say.

        Args:
          figures: of its members.
          count: steps.
          seconds: that they took for all runs that were trained.
          sharing: how many these are: together their seconds are those that passed.
        """
        progress = self.progress
        self._clock.trained(count, seconds, sharing)
        progress.seconds += seconds / sharing
        whole, outcome = self._lost.in_training(figures, count)
        if whole:
            for line in progress.recorded(figures, whole, self._line_steps):
                append_line(self._history, {**line, **self._clock.now(progress.seconds)})
        self._tell(**self._place())
        return outcome

    def judged(
        self, judged: Mapping[str, Evaluation], taken: Taken, seconds: float, sharing: int = 1
    ) -> Outcome | None:
        """Write down an epoch whose steps are done; how the run ended where it did by that.

        Args:
          judged: its members, by split.
          taken: the members as they are.
          seconds: that judging took for all runs.
          sharing: how many these are.
        """
        progress, began = self.progress, time.perf_counter()
        progress.seconds += seconds / sharing
        epoch = progress.evaluated + 1
        if self._lost.in_judging(judged):
            return self._lost.outcome  # None where others go on: they are judged again, alone
        line = {"kind": "epoch", **progress.place(), **progress.training_figures()}
        for split, one in judged.items():
            write_predictions(self.run.path, epoch, one.probabilities, FOLDERS[split])
            line |= figures_on(split, one, progress.aside)
        differ = differences(judged["test"], progress.aside)
        line = plain({**line, **differ, **self._clock.now(progress.seconds)})
        summary = after_epoch(self._status.status, line)
        best = summary.get("best_epoch") or self._status.status.best_epoch or epoch
        params = taken.params(self.own)
        drop = best if self.run.whole else None
        write_parameters(self.run.path, epoch, params, drop, self._config.averaged_epochs)
        append_line(self._history, line)
        progress.close_epoch()
        self._tell(**summary, **self._place())
        last = is_over(self._status.status, self._config, epoch)
        if last or best == epoch or self._checkpoint_is_old:
            self.save(taken)
        # The others write as much.
        self._clock.closed(seconds + sharing * (time.perf_counter() - began))
        return None

    def save(self, taken: Taken) -> None:
        """Keep this place as a checkpoint."""
        best = self._status.status.best_epoch
        whole = self.progress.steps_per_epoch + 1  # ticks of an epoch
        self.progress.state = taken.state(self.own)
        self._checkpoints.save(self.progress, best and best * whole)
        self.progress.state = None
        self._saved = time.monotonic()

    def save_if_old(self, taken: Taken) -> None:
        """Keep this place where the last that was kept is old."""
        if self._checkpoint_is_old:
            self.save(taken)

    def finished(self) -> Outcome | None:
        """How the run ended, where all that it is to learn is learnt."""
        if not is_over(self._status.status, self._config, self.progress.evaluated):
            return None
        status, config = self._status.status, self._config
        if config.swa_epochs and self.run.whole and not hosts.current():
            averages.keep(self.run)  # elsewhere whoever first asks makes it
        said = statuses.how_it_ended(status, config, self.progress.evaluated)
        if damaged := self._checkpoints.set_aside:
            again = "What was learnt after the one before it was learnt again, to the same bits."
            said = " ".join([*damaged, again, said])
        aside = statuses.who_was_set_aside(status, config.members)
        return Outcome("finished", f"{said} {aside}".strip())

    def sum_up(self) -> None:
        """Write down what the whole took."""
        self._status.update(**self._clock.whole(self.progress.seconds, self.progress.step))

    def set_aside(self, members: Sequence[int]) -> None:
        """Train these of its members no more, by their places from 0."""
        self._trainer.set_aside([self.own.start + member for member in members])

    def close(self) -> None:
        """Let go of its checkpoints."""
        self._checkpoints.__exit__()

    def _forget_what_comes_again(self) -> None:
        """Drop what was written after the checkpoint: it will be trained, and written, again."""
        done = self.progress

        def came_before(line: Line) -> bool:
            of_epoch = line["kind"] == "epoch"
            return line["epoch"] <= done.evaluated if of_epoch else line["step"] <= done.step

        keep_lines(self._history, came_before)
        drop_predictions(self.run.path, after=done.evaluated)
        drop_predictions(self.run.path, after=done.evaluated, what="validation")
        drop_parameters(self.run.path, after=done.evaluated)
        self._status.update(**blank_best(self._config))
        for line in read_lines(self._history, len(self.run.numbers)):
            if line["kind"] == "epoch" and line.get("ensemble_test_accuracy") is not None:
                self._status.update(**after_epoch(self._status.status, line))

    @property
    def _checkpoint_is_old(self) -> bool:
        return time.monotonic() - self._saved > CHECKPOINT_SECONDS

    def _tell(self, **changes: Any) -> None:
        self._status.update(**changes)
        self._report(self._status.status)

    def _place(self) -> dict[str, Any]:
        """How far the run has come, for the status."""
        progress, epochs = self.progress, self._config.epochs
        return {
            "state": "training",
            "message": "",
            "epoch": progress.evaluated,
            "epochs": epochs,
            "step": progress.step,
            "steps": epochs * progress.steps_per_epoch,
            **self._clock.place(progress.seconds, progress.step, progress.evaluated),
        }
