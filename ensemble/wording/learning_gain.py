"""Whether choosing labels pays, in words: the difference of two learning curves, and on what."""

from typing import Any

import numpy as np

from ensemble.acquisition.learning_job import LearningConfig
from ensemble.acquisition.learning_results import LearningCurves
from ensemble.analysis.acquisition.learning_gain import MIN_SEEDS
from ensemble.analysis.inference.crossed_means import CrossedMean
from ensemble.wording import formats
from ensemble.wording.verdicts.ensemble_gain import format_signed

_POINT_PLACES = 1


def describe_learning_answer(curves: LearningCurves, config: LearningConfig) -> str:
    """Return the verdict in one sentence: "Better than chance: +1.5 points on average (…)"."""
    gain = curves.gain
    if gain is None:
        return (
            f"{formats.format_count(curves.complete, 'seed')} of {config.seeds:,} "
            f"{'has' if curves.complete == 1 else 'have'} all rounds: two are needed for a first difference."
        )
    interval = _format_point_ends(gain.area)
    over = f"over {formats.format_count(gain.seeds, 'seed')}"
    if not gain.has_enough_seeds:
        return (
            f"Too few seeds to tell: {_format_points(gain.area.mean)} on average "
            f"({interval} {over}; {MIN_SEEDS} are needed)."
        )
    if gain.sign == 0:
        return f"No difference from chance is shown so far ({interval} points {over})."
    verb = "Better" if gain.sign > 0 else "Worse"
    return f"{verb} than chance: {_format_points(gain.area.mean)} on average ({interval} {over})."


def describe_last_round(curves: LearningCurves) -> str:
    """The difference with the most labels: "With 200 labels: +1.8 points (0.9 to 2.7)"; or ""."""
    if curves.gain is None:
        return ""
    last = curves.gain.rounds[-1]
    none = ""
    if last.low <= 0 <= last.high:
        none = ", which shows no difference"
    elif not curves.gain.sign:
        none = f", which is one of {len(curves.gain.rounds):,} rounds and decides nothing alone"
    return f"With {curves.label_counts[-1]:,} labels: {_format_points(last.mean)} ({_format_point_ends(last)}){none}."


def describe_learning_basis(curves: LearningCurves, config: LearningConfig, noun: str) -> str:
    """What the answer rests on: which images, what the arms share, what the interval is of."""
    counts = curves.label_counts
    images = formats.format_count(curves.images, f"test {noun}")
    return (
        f"Accuracy of the ensemble on {images}: the arm that chooses by {config.by} less the random arm, "
        f"on average along the curve from {counts[0]:,} to {counts[-1]:,} labels (the area between the curves). "
        "Each seed has the same first labels, network and epochs in both arms. "
        "The intervals (95 %) are for other seeds and other test images; the area's alone decides."
    )


def describe_first_labels(config: LearningConfig) -> str:
    counts = config.label_counts
    return (
        f"It hides the labels of {config.base.dataset}, begins with {counts[0]:,} of them, and "
        f"adds {config.step:,} a round in two arms, up to {counts[-1]:,}: chosen by {config.by}, "
        f"and drawn at random. {config.seeds:,} seeds, {config.training_count:,} trainings."
    )


def _format_points(value: float) -> str:
    """A difference in accuracy: "+1.8 points"."""
    return f"{format_signed(100 * value, _POINT_PLACES)} points"


def _format_point_ends(mean: CrossedMean) -> str:
    """The ends of an interval in points: "0.9 to 2.7"; with their signs where one is below 0."""
    low, high = 100 * mean.low, 100 * mean.high
    if mean.low < 0:
        return f"{_format_end(low)} to {_format_end(high)}"
    return f"{low:.{_POINT_PLACES}f} to {high:.{_POINT_PLACES}f}"


def _format_end(value: float) -> str:
    """An end of an interval, with a minus where it is below 0: "−0.2", "0.5"."""
    text = f"{abs(value):.{_POINT_PLACES}f}"
    return f"−{text}" if value < 0 and float(text) else text


def serialize_learning_curves(curves: LearningCurves, config: LearningConfig, noun: str) -> dict[str, Any]:
    """Both arms and their difference for JSON; docs/command-line.md says what each name is."""
    gain = curves.gain
    ended = [("chosen", curves.chosen), ("random", curves.at_random)]
    return {
        "answer": describe_learning_answer(curves, config),
        "by": config.by,
        "label_counts": list(curves.label_counts),
        "seeds": config.seeds,
        "complete": curves.complete,
        "images": curves.images,
        "noun": noun,
        "accuracy": {
            arm: [[None if np.isnan(value) else float(value) for value in row] for row in values]
            for arm, values in ended
        },
        "rounds": []
        if gain is None
        else [
            {"labels": labels, **_serialize_difference(each)}
            for labels, each in zip(curves.label_counts[1:], gain.rounds, strict=True)
        ],
        "area": None if gain is None else _serialize_difference(gain.area),
        "sign": None if gain is None or not gain.has_enough_seeds else gain.sign,
    }


def _serialize_difference(mean: CrossedMean) -> dict[str, float]:
    return {"points": 100 * mean.mean, "low": 100 * mean.low, "high": 100 * mean.high, "p": mean.p}
