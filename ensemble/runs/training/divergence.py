"""Members whose loss is no longer a number: who, since when, and how the run ends by it.

Where members differ in a setting, one that diverges is frozen and the others continue: to find out
which values do is what such a run is for. So it is in a regression. Where all are alike it ends the run.
"""

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from ensemble.jobs.outcome import Outcome
from ensemble.runs.store import Run, require_run_settings
from ensemble.runs.training.progress import JudgedMembers, Progress, StepMetrics
from ensemble.runs.training.record_writer import RecordedStatus


class DivergenceMonitor:
    """Looks whose loss is not a number, sets them aside where others go on, and writes down who.

    A group of members alone ends with any of its own: the run's metrics are of all groups.

    Args:
      run: the run, or a group of one.
      aside: has members, by their places, trained no more.
      status: what its status.json comes to say.
      broken: why a very first loss is not a number.

    Attributes:
      outcome: how the run ended by what was last looked at; None if it goes on.
    """

    outcome: Outcome | None = None
    _progress: Progress

    def __init__(self, run: Run, aside: Callable[[Sequence[int]], None], status: RecordedStatus, broken: str) -> None:
        self._run, self._train_no_more, self._status, self._broken = run, aside, status, broken
        self._differ = require_run_settings(run).continues_without_diverged

    def watch_progress(self, progress: Progress) -> None:
        """Watch over this progress, from its place on: who diverged before it remains so."""
        self._progress = progress
        before = self._status.status.set_aside
        if before:
            self._status.update(set_aside={})
        self._freeze_members({place: step for place, step in before.items() if step <= progress.step})

    def check_step_losses(self, metrics: StepMetrics, count: int) -> tuple[int, Outcome | None]:
        """How many steps of a call count, and how the run ended by what they say.

        Args:
          metrics: of the steps.
          count: how many these are.
        """
        bad = ~np.isfinite(metrics.loss)
        bad[list(self._progress.diverged_members)] = False
        lost = {int(place): int(bad[place].argmax()) for place in np.flatnonzero(bad.any(axis=1))}
        if not lost:
            return count, None
        done = self._progress.step
        if not self._can_continue:
            first = min(lost, key=lambda place: (lost[place], place))
            return lost[first], self._build_member_outcome(first, "loss", done + lost[first], "at step {}")
        self._freeze_members({place: done + step + 1 for place, step in lost.items()})
        if self._has_members_left:
            return count, None
        last = max(lost.values())
        return last, self._build_final_outcome() if done + last else _build_first_loss_outcome(
            "Every member", self._broken
        )

    def check_epoch_losses(self, judged: Mapping[str, JudgedMembers]) -> bool:
        """Whether an epoch cannot be closed by these metrics: see `outcome`.

        Args:
          judged: the members by split.
        """
        lost: dict[int, str] = {}
        for split, evaluation in judged.items():
            for place in np.flatnonzero(~np.isfinite(evaluation.loss)).tolist():
                if place not in self._progress.diverged_members:
                    lost.setdefault(place, split)
        if not lost:
            return False
        step = self._progress.step
        if not self._can_continue:
            place, split = next(iter(lost.items()))
            self.outcome = self._build_member_outcome(place, f"{split} loss", step, f"after step {step}")
            return True
        self._freeze_members(dict.fromkeys(lost, step))
        self.outcome = None if self._has_members_left else self._build_final_outcome()
        return True

    @property
    def _can_continue(self) -> bool:
        return self._differ and self._run.has_all_members

    @property
    def _has_members_left(self) -> bool:
        return len(self._progress.diverged_members) < len(self._run.member_numbers)

    def _freeze_members(self, steps: dict[int, int]) -> None:
        if not steps:
            return
        every = {**self._status.status.set_aside, **steps}
        self._progress.diverged_members = tuple(sorted(every))
        self._train_no_more(sorted(steps))
        self._status.update(set_aside=every)

    def _build_member_outcome(self, place: int, what: str, done: int, where: str) -> Outcome:
        who = f"Member {self._run.member_numbers[place] + 1}"
        if not done:
            return _build_first_loss_outcome(who, self._broken)
        epoch = self._progress.evaluated + 1
        return build_diverged_outcome(f"{who}'s {what}", where.format(done + 1), epoch, self._differ)

    def _build_final_outcome(self) -> Outcome:
        last = max(self._status.status.set_aside.values())
        return _build_all_diverged_outcome(last, self._progress.evaluated + 1)


def build_diverged_outcome(what: str, where: str, epoch: int, differ: bool = False) -> Outcome:
    """The run ended since a loss is not a number.

    Args:
      what: whose loss: "Member 2's loss".
      where: "at step 12" or "after step 12".
      epoch: of the run, from 1.
      differ: whether members differ, and others would have gone on were they in one group.
    """
    advice = "The usual cause is a learning rate too high for this momentum: try a third of it, or a warm-up."
    if differ:
        advice = (
            "If all members are trained in one process, the others continue: set groups to 1, "
            "on this machine, or choose lower values."
        )
    return Outcome(
        "diverged", f"{what} is no longer a number {where} (epoch {epoch}). {advice} Everything before that is kept."
    )


def _build_all_diverged_outcome(step: int, epoch: int) -> Outcome:
    return Outcome(
        "diverged",
        f"No member's loss is a number any longer: the last one failed at step {step:,} (epoch "
        f"{epoch}). The usual cause is a learning rate too high for the momentum: try a tenth "
        "of these values. Everything before that is kept.",
    )


def _build_first_loss_outcome(who: str, broken: str) -> Outcome:
    """The run ended before its first step was done: who is "Member 2", or "Every member"."""
    return Outcome(
        "diverged",
        f"{who}'s very first loss is not a number, before any training: {broken}. "
        "Check the network for a division, a root or a logarithm of zero.",
    )
