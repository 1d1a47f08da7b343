"""The training of a run that predicts numbers in words: how far it is, and what it came to."""

from collections.abc import Mapping, Sequence
from typing import Any

from ensemble.numeric.numeric_status import NumericStatus
from ensemble.numeric.numeric_store import NumericRun
from ensemble.runs import read_history
from ensemble.wording import formats


def describe_numeric_progress(status: NumericStatus) -> str:
    """How far a run is, in a line: "training · epoch 2 of 10 · … · RMSE 12.3 · 12 s left"."""
    words = [status.state]
    if status.steps:
        at = status.epoch if status.state == "finished" else status.epoch + 1
        words.append(f"epoch {min(at, status.epochs)} of {status.epochs}")
        words.append(f"step {status.step:,} of {status.steps:,}")
    if status.ensemble_test_rmse is not None:
        words.append(f"ensemble RMSE {formats.format_significant(status.ensemble_test_rmse)}")
    if status.ensemble_test_nll is not None:
        words.append(f"NLL {formats.format_significant(status.ensemble_test_nll)}")
    if status.seconds_left:
        words.append(f"{formats.format_duration(status.seconds_left)} left")
    if status.message and status.state in status.kind.active_states:
        words.append(status.message.rstrip("."))
    return " · ".join(words)


def select_shown_line(run: NumericRun, rows: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    """The epoch whose figures are shown: the last, or of an ended run the one that was chosen.

    Args:
      rows: the lines of its epochs, one at least.
    """
    if run.status.best_on != "validation" or run.active:
        return rows[-1]
    return next((row for row in rows if row["epoch"] == run.status.best_epoch), rows[-1])


def describe_numeric_result(run: NumericRun, rows: Sequence[Mapping[str, Any]]) -> str:
    """How far off it is on the test rows, and what it gains over a member; "" before an epoch."""
    if not rows:
        return ""
    chosen = select_shown_line(run, rows)
    whole = chosen.get("ensemble_test_rmse")
    each = [value for value in chosen.get("test_rmse") or () if value is not None]
    if whole is None or not each:
        return ""
    unit = f" {run.unit}" if run.unit else ""
    target = run.target_name or "the target"
    sentence = (
        f"The ensemble is off by {formats.format_significant(whole)}{unit} in {target} (RMSE, epoch {chosen['epoch']})"
    )
    if len(each) < 2:
        return f"{sentence}."
    mean = sum(each) / len(each)
    return f"{sentence}; its mean member by {formats.format_significant(mean)}{unit}."


def describe_best_numeric_epoch(run: NumericRun) -> str:
    """Which epoch validation rows chose, where it is not the last; "" where none did."""
    status = run.status
    if status.best_on != "validation" or status.best_epoch in (None, status.epoch):
        return ""
    lines = (line for line in read_history(run.id) if line.get("epoch") == status.best_epoch)
    error = formats.format_significant(next(lines, {}).get("ensemble_test_rmse"))
    return (
        f"Best epoch {status.best_epoch} of {status.epoch}, chosen by the ensemble's NLL on the "
        f"validation rows: RMSE {error} on the test rows, and predictions are of that epoch."
    )
