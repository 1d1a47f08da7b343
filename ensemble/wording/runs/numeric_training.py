"""The training of a run that predicts numbers in words: how far it is, and what it came to."""

from collections.abc import Mapping
from typing import Any

from ensemble.runs import read_history
from ensemble.runs.store import Run
from ensemble.wording import formats


def find_epoch_line(run: Run, epoch: int | None) -> Mapping[str, Any]:
    """The line that closes an epoch; {} before it is closed."""
    lines = (line for line in read_history(run.id) if line["kind"] == "epoch" and line["epoch"] == epoch)
    return next(lines, {})


def describe_numeric_result(run: Run, chosen: Mapping[str, Any]) -> str:
    """Describe the test RMSE after an epoch and that of the mean member; "" if they are unknown."""
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


def describe_best_numeric_epoch(run: Run) -> str:
    """Which epoch validation rows chose, where it is not the last; "" where none did."""
    status = run.status
    if status.best_on != "validation" or status.best_epoch in (None, status.epoch):
        return ""
    error = formats.format_significant(find_epoch_line(run, status.best_epoch).get("ensemble_test_rmse"))
    return (
        f"Best epoch {status.best_epoch} of {status.epoch}, chosen by the ensemble's NLL on the "
        f"validation rows: RMSE {error} on the test rows, and predictions are of that epoch."
    )
