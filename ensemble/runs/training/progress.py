"""Where a run stands: all that it needs to go on as if it had never been interrupted.

A place is (steps done, epochs evaluated); `tick` numbers the places in order, so that the
one before an epoch's evaluation and the one after it are two. The running epoch's metrics
belong to it: that epoch's line in the history has to come out the same whether or not the
run was interrupted in it.
"""

import dataclasses
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from ensemble.config import CLASSIFICATION, REGRESSION
from ensemble.engine import Trainer
from ensemble.engine.numeric import NumericTrainer

Fields = dict[str, Any]
# What is kept of each step, by task: of members (M, S), and of the ensemble (S,).
_MEMBER_METRICS = {CLASSIFICATION: ("loss", "accuracy"), REGRESSION: ("loss", "squared_error")}
_ENSEMBLE_METRICS = {CLASSIFICATION: ("ensemble_nll", "ensemble_accuracy"), REGRESSION: ()}


class StepMetrics(Protocol):
    """What steps report, whatever the task; the other fields are those named above."""

    @property
    def loss(self) -> np.ndarray:
        """(M, S), in nats; NaN of members set aside."""


class JudgedMembers(Protocol):
    """Members on the examples of a split, whatever the task."""

    @property
    def loss(self) -> np.ndarray:
        """(M,), in nats; NaN of members set aside."""


@dataclass
class Progress:
    """A place in a run.

    Attributes:
      state: the members, leaves (M, …).
      step: steps done in the whole run.
      evaluated: epochs whose evaluation is done.
      metrics: of the running epoch, zero where it has not come to: of members (M, S), such as
        `loss`, and of the ensemble (S,), NaN where members see different views.
      seconds: training time so far.
      diverged_members: the places of members that go on no more: they count in no mean. Not kept
        with the
        rest: the run's status says who.
    """

    state: Any
    step: int
    evaluated: int
    metrics: dict[str, np.ndarray]
    seconds: float
    diverged_members: tuple[int, ...] = ()

    @classmethod
    def blank(cls, state: Any, members: int, steps: int, task: str = CLASSIFICATION) -> "Progress":
        """The place before the first step, of M members and S steps an epoch."""
        metrics: dict[str, np.ndarray] = {
            name: np.zeros((members, steps), np.float32) for name in _MEMBER_METRICS[task]
        }
        metrics |= {name: np.zeros(steps, np.float32) for name in _ENSEMBLE_METRICS[task]}
        return cls(state=state, step=0, evaluated=0, metrics=metrics, seconds=0.0)

    @property
    def steps_per_epoch(self) -> int:
        """S, steps in an epoch."""
        return self.metrics["loss"].shape[1]

    @property
    def tick(self) -> int:
        """This place's number: grows with every step and every evaluation."""
        return self.step + self.evaluated

    @property
    def step_in_epoch(self) -> int:
        """Steps done in the running epoch; S when only its evaluation is left."""
        return self.step - self.evaluated * self.steps_per_epoch

    def record_steps(self, metrics: StepMetrics, count: int) -> None:
        """Count `count` steps as done, and keep their metrics."""
        rows = slice(self.step_in_epoch, self.step_in_epoch + count)
        for name, kept in self.metrics.items():
            new = getattr(metrics, name)
            kept[..., rows] = np.nan if new is None else new[..., :count]
        self.step += count

    def record_history_lines(
        self,
        metrics: StepMetrics,
        count: int,
        summarize_steps: Callable[["Progress", int | None], Fields],
        line_steps: int | None = None,
    ) -> Iterator[Fields]:
        """`record_steps`, and a line of the history for each stretch of steps that is then done.

        Args:
          metrics: of the steps.
          count: how many of them are good.
          summarize_steps: what a line says about the last so many steps.
          line_steps: steps of the epoch to a line, so that lines do not depend on how the work was
            cut into calls; None for one line of all `count`.
        """
        before = self.step_in_epoch
        self.record_steps(metrics, count)
        whole, done = self.step, self.step_in_epoch
        if line_steps is None:
            yield {"kind": "steps", **self.history_position(), **summarize_steps(self, count)}
            return
        begin = before - before % line_steps
        for first in range(begin, done, line_steps):
            last = min(first + line_steps, self.steps_per_epoch)
            if last > done:
                break
            self.step = whole - done + last
            yield {"kind": "steps", **self.history_position(), **summarize_steps(self, last - first)}
        self.step = whole

    def close_epoch(self) -> None:
        """Count the running epoch as evaluated, and begin the next."""
        self.evaluated += 1
        for values in self.metrics.values():
            values[:] = 0

    def history_position(self) -> Fields:
        """Where the history's next line stands."""
        share = self.step / self.steps_per_epoch
        return {"epoch": self.evaluated + 1, "step": self.step, "progress": round(share, 6)}

    def select_last_steps(self, name: str, last: int | None = None) -> np.ndarray:
        """A metric of the last so many steps of the running epoch, by default of all done."""
        done = self.step_in_epoch
        return self.metrics[name][..., 0 if last is None else done - last : done]

    def copy_with_state(self, state: Any) -> "Progress":
        """This place with the members at it, which stays as it is while training goes on."""
        metrics = {name: values.copy() for name, values in self.metrics.items()}
        return dataclasses.replace(self, state=state, metrics=metrics)

    def as_tree(self) -> Fields:
        """A tree of arrays, for a checkpoint."""
        whole = {name: np.array(getattr(self, name)) for name in ("step", "evaluated", "seconds")}
        return {"state": self.state, **whole, **self.metrics}

    @classmethod
    def from_tree(cls, tree: Fields) -> "Progress":
        """The inverse of `as_tree`."""
        tree = dict(tree)
        state, step, evaluated = tree.pop("state"), int(tree.pop("step")), int(tree.pop("evaluated"))
        seconds = float(tree.pop("seconds"))
        metrics = {name: np.array(values) for name, values in tree.items()}
        return cls(state=state, step=step, evaluated=evaluated, metrics=metrics, seconds=seconds)


def evaluate_splits(trainer: Trainer | NumericTrainer, state: Any, stop: Callable[[], bool]) -> dict[str, Any]:
    """The members on the examples held out, where some are, and on the test examples, by split.

    Empty where `stop`, asked about once a second, says so meanwhile.
    """
    ask: dict[str, Callable[..., Any]] = {"test": trainer.evaluate}
    if trainer.has_validation_set:
        ask = {"validation": trainer.validate, **ask}
    judged: dict[str, Any] = {}
    for split, evaluate in ask.items():
        if (evaluation := evaluate(state, stop)) is None:
            return {}
        judged[split] = evaluation
    return judged
