"""Members whose loss is no longer a number: who, since when, and how the run ends by it.

Where members differ in a setting, one that diverges is set aside and the others go on: to find out
which values do is what such a run is for. Where all are alike it ends the run.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ensemble.engine import Evaluation, StepFigures
from ensemble.jobs.outcome import Outcome
from ensemble.jobs.status import StatusWriter
from ensemble.runs.store import Run, trained_here
from ensemble.runs.training.progress import Progress


class Lost:
    """Looks whose loss is no number, sets them aside where others go on, and writes down who.

    A group of members alone ends with any of its own: the run's figures are of all groups.

    Args:
      run: the run, or a group of one.
      aside: has members, by their places, trained no more.
      status: the hold on its status.json.

    Attributes:
      outcome: how the run ended by what was last looked at; None where it goes on.
    """

    outcome: Outcome | None = None
    _progress: Progress

    def __init__(
        self, run: Run, aside: Callable[[Sequence[int]], None], status: StatusWriter[Any]
    ) -> None:
        self._run, self._train_no_more, self._status = run, aside, status
        self._differ = bool(trained_here(run).vary)

    def begin(self, progress: Progress) -> None:
        """Watch over this progress, from its place on: who was set aside before it still is."""
        self._progress = progress
        before = self._status.status.set_aside
        if before:
            self._status.update(set_aside={})
        self._set_aside({place: step for place, step in before.items() if step <= progress.step})

    def in_training(self, figures: StepFigures, count: int) -> tuple[int, Outcome | None]:
        """How many steps of a call count, and how the run ended by what they say.

        Args:
          figures: of the steps.
          count: how many these are.
        """
        bad = ~np.isfinite(figures.loss)
        bad[list(self._progress.aside)] = False
        lost = {int(place): int(bad[place].argmax()) for place in np.flatnonzero(bad.any(axis=1))}
        if not lost:
            return count, None
        done = self._progress.step
        if not self._goes_on:
            first = min(lost, key=lambda place: (lost[place], place))
            return lost[first], self._end(first, "loss", done + lost[first], "at step {}")
        self._set_aside({place: done + step + 1 for place, step in lost.items()})
        if self._anyone_left:
            return count, None
        last = max(lost.values())
        return last, self._all_lost() if done + last else no_number_at_all("Every member")

    def in_judging(self, judged: Mapping[str, Evaluation]) -> bool:
        """Whether an epoch cannot be closed by these figures: see `outcome`.

        Args:
          judged: the members by split.
        """
        lost: dict[int, str] = {}
        for split, one in judged.items():
            for place in np.flatnonzero(~np.isfinite(one.loss)).tolist():
                if place not in self._progress.aside:
                    lost.setdefault(place, split)
        if not lost:
            return False
        step = self._progress.step
        if not self._goes_on:
            place, split = next(iter(lost.items()))
            self.outcome = self._end(place, f"{split} loss", step, f"after step {step}")
            return True
        self._set_aside(dict.fromkeys(lost, step))
        self.outcome = None if self._anyone_left else self._all_lost()
        return True

    @property
    def _goes_on(self) -> bool:
        return self._differ and self._run.whole

    @property
    def _anyone_left(self) -> bool:
        return len(self._progress.aside) < len(self._run.numbers)

    def _set_aside(self, steps: dict[int, int]) -> None:
        """Train and ask these members no more, each since a step."""
        if not steps:
            return
        every = {**self._status.status.set_aside, **steps}
        self._progress.aside = tuple(sorted(every))
        self._train_no_more(sorted(steps))
        self._status.update(set_aside=every)

    def _end(self, place: int, what: str, done: int, where: str) -> Outcome:
        who = f"Member {self._run.numbers[place] + 1}"
        if not done:
            return no_number_at_all(who)
        epoch = self._progress.evaluated + 1
        return diverged(f"{who}'s {what}", where.format(done + 1), epoch, self._differ)

    def _all_lost(self) -> Outcome:
        last = max(self._status.status.set_aside.values())
        return all_diverged(last, self._progress.evaluated + 1)


def diverged(what: str, where: str, epoch: int, differ: bool = False) -> Outcome:
    """The run ended since a loss is no number.

    Args:
      what: whose loss: "Member 2's loss".
      where: "at step 12" or "after step 12".
      epoch: of the run, from 1.
      differ: whether members differ, and others would have gone on were they in one group.
    """
    advice = (
        "The usual cause is a learning rate too high for this momentum: try a third of it, or a "
        "warm-up."
    )
    if differ:
        advice = (
            "Where all members are trained in one process the others go on: set groups to 1, on "
            "this machine, or choose lower values."
        )
    return Outcome(
        "diverged",
        f"{what} is no longer a number {where} (epoch {epoch}). {advice} Everything up to there is "
        "kept.",
    )


def all_diverged(step: int, epoch: int) -> Outcome:
    """The run ended since every member that it had was set aside, the last at this step."""
    return Outcome(
        "diverged",
        f"No member's loss is a number any more: the last went at step {step:,} (epoch {epoch}). "
        "The usual cause is a learning rate too high for the momentum: try a tenth of these "
        "values. Everything up to there is kept.",
    )


def no_number_at_all(who: str) -> Outcome:
    """The run ended before its first step was done: who is "Member 2", or "Every member"."""
    return Outcome(
        "diverged",
        f"{who}'s very first loss is no number, before anything was learnt: the network's logits "
        "are not finite for images from 0 to 1. Look in it for a division, a root or a logarithm "
        "of zero.",
    )
