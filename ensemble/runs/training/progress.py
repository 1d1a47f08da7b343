"""Where a run stands: all that it needs to go on as if it had never been interrupted.

A place is (steps done, epochs evaluated); `tick` numbers the places in order, so that the
one before an epoch's evaluation and the one after it are two. The running epoch's metrics
belong to it: that epoch's line in the history has to come out the same whether or not the
run was interrupted in it.
"""

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ensemble.analysis.members import disagreement
from ensemble.engine import Evaluation, Trainer, TrainingMetrics

_Metrics = dict[str, Any]


@dataclass
class Progress:
    """A place in a run.

    Attributes:
      state: the members, leaves (M, …).
      step: steps done in the whole run.
      evaluated: epochs whose evaluation is done.
      loss, accuracy: (M, S) of the running epoch, zero where it has not come to.
      ensemble_nll, ensemble_accuracy: (S,) likewise; NaN where members see different views.
      seconds: training time so far.
      diverged_members: the places of members that go on no more: they count in no mean. Not kept
        with the
        rest: the run's status says who.
    """

    state: Any
    step: int
    evaluated: int
    loss: np.ndarray
    accuracy: np.ndarray
    ensemble_nll: np.ndarray
    ensemble_accuracy: np.ndarray
    seconds: float
    diverged_members: tuple[int, ...] = ()

    @classmethod
    def blank(cls, state: Any, members: int, steps: int) -> "Progress":
        """The place before the first step, of M members and S steps an epoch."""
        wide, flat = np.zeros((members, steps), np.float32), np.zeros(steps, np.float32)
        return cls(
            state=state,
            step=0,
            evaluated=0,
            loss=wide,
            accuracy=wide.copy(),
            ensemble_nll=flat,
            ensemble_accuracy=flat.copy(),
            seconds=0.0,
        )

    @property
    def steps_per_epoch(self) -> int:
        """S, steps in an epoch."""
        return self.loss.shape[1]

    @property
    def tick(self) -> int:
        """This place's number: grows with every step and every evaluation."""
        return self.step + self.evaluated

    @property
    def step_in_epoch(self) -> int:
        """Steps done in the running epoch; S when only its evaluation is left."""
        return self.step - self.evaluated * self.steps_per_epoch

    def record_steps(self, metrics: TrainingMetrics, count: int) -> None:
        """Count `count` steps as done, and keep their metrics."""
        rows = slice(self.step_in_epoch, self.step_in_epoch + count)
        self.loss[:, rows] = metrics.loss[:, :count]
        self.accuracy[:, rows] = metrics.accuracy[:, :count]
        for kept, new in (
            (self.ensemble_nll, metrics.ensemble_nll),
            (self.ensemble_accuracy, metrics.ensemble_accuracy),
        ):
            kept[rows] = np.nan if new is None else new[:count]
        self.step += count

    def record_history_lines(
        self, metrics: TrainingMetrics, count: int, line_steps: int | None = None
    ) -> Iterator[_Metrics]:
        """`record_steps`, and a line of the history for each stretch of steps that is then done.

        Args:
          metrics: of the steps.
          count: how many of them are good.
          line_steps: steps of the epoch to a line, so that lines do not depend on how the work was
            cut into calls; None for one line of all `count`.
        """
        before = self.step_in_epoch
        self.record_steps(metrics, count)
        whole, done = self.step, self.step_in_epoch
        if line_steps is None:
            yield {"kind": "steps", **self.history_position(), **self.training_metrics(count)}
            return
        begin = before - before % line_steps
        for first in range(begin, done, line_steps):
            last = min(first + line_steps, self.steps_per_epoch)
            if last > done:
                break
            self.step = whole - done + last
            yield {"kind": "steps", **self.history_position(), **self.training_metrics(last - first)}
        self.step = whole

    def close_epoch(self) -> None:
        """Count the running epoch as evaluated, and begin the next."""
        self.evaluated += 1
        for metrics in (self.loss, self.accuracy, self.ensemble_nll, self.ensemble_accuracy):
            metrics[:] = 0

    def history_position(self) -> _Metrics:
        """Where the history's next line stands."""
        share = self.step / self.steps_per_epoch
        return {"epoch": self.evaluated + 1, "step": self.step, "progress": round(share, 6)}

    def training_metrics(self, last: int | None = None) -> _Metrics:
        """Means over the last so many steps of the running epoch, by default over all done."""
        done = self.step_in_epoch
        rows = slice(0 if last is None else done - last, done)
        loss = self.loss[:, rows].mean(-1, dtype=np.float64)
        return {
            "train_loss": loss,
            "train_accuracy": self.accuracy[:, rows].mean(-1, dtype=np.float64),
            "ensemble_train_loss": _mean_remaining_loss(loss, self.diverged_members),
            "ensemble_train_nll": self.ensemble_nll[rows].mean(dtype=np.float64),
            "ensemble_train_accuracy": self.ensemble_accuracy[rows].mean(dtype=np.float64),
            **({"set_aside": list(self.diverged_members)} if self.diverged_members else {}),
        }

    def copy_with_state(self, state: Any) -> "Progress":
        """This place with the members at it, which stays as it is while training goes on."""
        return dataclasses.replace(
            self,
            state=state,
            loss=self.loss.copy(),
            accuracy=self.accuracy.copy(),
            ensemble_nll=self.ensemble_nll.copy(),
            ensemble_accuracy=self.ensemble_accuracy.copy(),
        )

    def as_tree(self) -> _Metrics:
        """A tree of arrays, for a checkpoint."""
        whole = {name: np.array(getattr(self, name)) for name in ("step", "evaluated", "seconds")}
        kept = {name: value for name, value in vars(self).items() if name != "diverged_members"}
        return {**kept, **whole}

    @classmethod
    def from_tree(cls, tree: _Metrics) -> "Progress":
        """The inverse of `as_tree`."""
        return cls(
            state=tree["state"],
            step=int(tree["step"]),
            evaluated=int(tree["evaluated"]),
            loss=np.array(tree["loss"]),
            accuracy=np.array(tree["accuracy"]),
            ensemble_nll=np.array(tree["ensemble_nll"]),
            ensemble_accuracy=np.array(tree["ensemble_accuracy"]),
            seconds=float(tree["seconds"]),
        )


def evaluate_splits(trainer: Trainer, state: Any, stop: Callable[[], bool]) -> dict[str, Evaluation]:
    """The members on the images held out, where some are, and on the test images, by split.

    Empty where `stop`, asked about once a second, says so meanwhile.
    """
    ask = {"test": trainer.evaluate}
    if trainer.has_validation_set:
        ask = {"validation": trainer.validate, **ask}
    judged: dict[str, Evaluation] = {}
    for split, evaluate in ask.items():
        if (evaluation := evaluate(state, stop)) is None:
            return {}
        judged[split] = evaluation
    return judged


def _mean_remaining_loss(loss: np.ndarray, aside: Sequence[int]) -> np.float64:
    """The mean over members (M,) but for those that diverged; NaN where nobody is left."""
    left = np.delete(loss, list(aside))
    return left.mean() if len(left) else np.float64(np.nan)


def compute_split_metrics(split: str, evaluation: Evaluation, aside: Sequence[int] = ()) -> _Metrics:
    """What an epoch's line says of the "test" or the "validation" images.

    Args:
      split: which.
      evaluation: the members on them; NaN of those set aside.
      aside: the places of these.
    """
    return {
        f"{split}_loss": evaluation.loss,
        f"{split}_accuracy": evaluation.accuracy,
        f"ensemble_{split}_loss": _mean_remaining_loss(evaluation.loss, aside),
        f"ensemble_{split}_nll": evaluation.ensemble_nll,
        f"ensemble_{split}_accuracy": evaluation.ensemble_accuracy,
    }


def compute_member_disagreement(evaluation: Evaluation, aside: Sequence[int] = ()) -> _Metrics:
    """What an epoch's line says of how often members differ on the test images.

    Args:
      evaluation: the members on them.
      aside: the places of members set aside, who are left out; their metrics are NaN.
    """
    members = np.arange(len(evaluation.loss))
    there = np.setdiff1d(members, np.array(aside, np.intp))
    whole = len(there) == len(members)
    differ = disagreement.measure_disagreement(evaluation.probabilities[slice(None) if whole else there])
    each = np.full(len(members), np.nan)
    each[there] = differ.of_members
    return {"disagreement": differ.pairwise, "member_disagreement": each}
