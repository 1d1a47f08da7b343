"""A run's training in words: how far it is, how fast it was, its best epoch, and why a curve is not there."""

from collections.abc import Mapping
from typing import Any

from ensemble.runs import ACTIVE, Run, Status
from ensemble.wording import formats
from ensemble.wording.verdicts import chance_level, selection_basis


def describe_training_progress(status: Status) -> str:
    """How far a run is, in a line: "training · epoch 2 of 10 · … · 12 s left".

    Of one that is going on also what holds it up; how one ended is said apart.
    """
    words = [status.state]
    if status.steps:
        # One that patience has ended is not in the next epoch.
        at = status.epoch if status.state == "finished" else status.epoch + 1
        words.append(f"epoch {min(at, status.epochs)} of {status.epochs}")
        words.append(f"step {status.step:,} of {status.steps:,}")
    if status.img_member_per_s:
        what = "img" if status.ensemble_test_rmse is None else "rows"
        words.append(f"{status.img_member_per_s:,.0f} {what}·member/s")
    if status.ensemble_test_accuracy is not None:
        words.append(f"ensemble {formats.format_percent(status.ensemble_test_accuracy)}")
    if status.ensemble_test_rmse is not None:
        words.append(f"ensemble RMSE {formats.format_significant(status.ensemble_test_rmse)}")
        if status.ensemble_test_nll is not None:
            words.append(f"NLL {formats.format_significant(status.ensemble_test_nll)}")
    if status.seconds_left:
        words.append(f"{formats.format_duration(status.seconds_left)} left")
    if status.message and status.state in ACTIVE:
        words.append(status.message.rstrip("."))
    return " · ".join(words)


def describe_training_speed(run: Run) -> str:
    """An ended run's speed over all of it, and what compiling took beside; else ""."""
    speed = _compute_whole_run_speed(run)
    if run.active or speed is None:
        return ""
    more = run.status.compile_seconds or 0.0
    compiled = f"; compiling took {formats.format_duration(more)} more" if more >= 0.5 else ""
    return f"At {formats.format_throughput(speed)} over the whole run{compiled}."


def _compute_whole_run_speed(run: Run) -> float | None:
    """Images times members a second over all of a run; None before it has trained.

    From what every version has written: what earlier ones call the speed is that of the end.
    """
    status, config = run.status, run.training_config
    if config is None or not status.step or not status.seconds:
        return None
    return status.step * config.batch_size * config.members / status.seconds


def describe_best_epoch(run: Run, reported: Mapping[str, Any], last: Mapping[str, Any]) -> str:
    """Describe the best epoch and the images it was chosen on; "" if it is the last epoch.

    Args:
      reported: history row of the epoch whose metrics are shown.
      last: history row of the last epoch.
    """
    status = run.status
    if reported is not last:
        last_share = formats.format_percent(last.get("ensemble_test_accuracy"), run.data.test_size)
        return (
            f"After epoch {reported['epoch']}, {selection_basis.CHOSEN_ON_VALIDATION}; after epoch "
            f"{last['epoch']}, the last: {last_share}."
        )
    share, reached = status.best_ensemble_test_accuracy, last.get("ensemble_test_accuracy")
    if chance_level.is_chance_accuracy(share, run.data) or chance_level.is_run_at_chance(run):
        return ""
    by_test = bool(share and reached and share > reached)
    by_validation = share is not None and status.best_epoch != last["epoch"]
    if not (by_validation if status.best_on == "validation" else by_test):
        return ""
    text = formats.format_percent(share, run.data.test_size)
    return (
        f"Best: {text} after epoch {status.best_epoch} (kept: other screens show it when you "
        f"choose it there); {selection_basis.describe_selection_basis(status.best_on)}."
    )


def explain_missing_training_curve(run: Run) -> str:
    """Why the ensemble has no training curve, where it has none; else "".

    Each member sees its own views of the images, or nobody trains all of them.
    """
    config = run.training_config
    if config is None or config.members < 2:
        return ""
    if not config.has_member_views:
        apart = "The ensemble has no training curve: its members are trained apart, in groups."
        return apart if config.groups > 1 else ""
    if config.shift_pixels or config.rotation_degrees:
        return "The ensemble has no training curve: each member shifts and turns its images anew."
    if config.has_warping or config.photo_effects:
        return "The ensemble has no training curve: each member distorts its images anew."
    if config.flip:
        return "The ensemble has no training curve: each member mirrors its images anew."
    return "The ensemble has no training curve: each member learns from its own images."
