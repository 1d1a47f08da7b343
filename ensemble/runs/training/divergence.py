"""Members whose loss is no longer a number: who, since when, and how the run ends by it.

Where members differ in a setting, one that diverges is set aside and the others go on: to find out
which values do is what such a run is for. Where all are alike it ends the run.
"""

from collections.abc import Collection, Mapping, Sequence

import numpy as np

from ensemble.engine import Evaluation, StepFigures
from ensemble.jobs.outcome import Outcome


def lost_in_training(figures: StepFigures, known: Collection[int]) -> dict[int, int]:
    """The step, from 0, of the first loss that is no number, by the member's place.

    Args:
      figures: of the steps.
      known: places of members that are set aside already.
    """
    bad = ~np.isfinite(figures.loss)
    return {
        place: int(row.argmax())
        for place, row in enumerate(bad)
        if place not in known and row.any()
    }


def lost_in_judging(judged: Mapping[str, Evaluation], known: Collection[int]) -> dict[int, str]:
    """The first split on which a loss is no number, by the member's place.

    Args:
      judged: the members by split.
      known: places of members that are set aside already.
    """
    found: dict[int, str] = {}
    for split, one in judged.items():
        for place in np.flatnonzero(~np.isfinite(one.loss)).tolist():
            if place not in known:
                found.setdefault(place, split)
    return found


def diverged(what: str, where: str, epoch: int, goes_on_alone: bool = False) -> Outcome:
    """The run ended since a loss is no number.

    Args:
      what: whose loss: "Member 2's loss".
      where: "at step 12" or "after step 12".
      epoch: of the run, from 1.
      goes_on_alone: whether members differ, and others would go on were they in one group.
    """
    if goes_on_alone:
        advice = (
            "Members that differ go on without it where all are trained in one process: set groups "
            "to 1, on this machine; or choose values less high."
        )
    else:
        advice = (
            "The usual cause is a learning rate too high for this momentum: try a third of it, or "
            "a warm-up."
        )
    return Outcome(
        "diverged",
        f"{what} is no longer a number {where} (epoch {epoch}). {advice} Everything up to there is "
        "kept.",
    )


def all_diverged(steps: Mapping[int, int], epoch: int) -> Outcome:
    """The run ended since every member that it had was set aside.

    Args:
      steps: of each, the step from which on its loss is no number.
      epoch: of the run, from 1.
    """
    return Outcome(
        "diverged",
        f"No member's loss is a number any more: the last went at step {max(steps.values()):,} "
        f"(epoch {epoch}). The usual cause is a learning rate too high for the momentum: let the "
        "values begin, and end, at a tenth of these. Everything up to there is kept.",
    )


def no_number_at_all(who: str) -> Outcome:
    """The run ended before its first step was done.

    Args:
      who: "Member 2", or "Every member".
    """
    return Outcome(
        "diverged",
        f"{who}'s very first loss is no number, before anything was learnt: the network's logits "
        "are not finite for images from 0 to 1. Look in it for a division, a root or a logarithm "
        "of zero.",
    )


def without(rows: np.ndarray, places: Sequence[int]) -> np.ndarray:
    """The rows of an array (M, …) but for those of these members."""
    return np.delete(rows, list(places), axis=0) if places else rows
