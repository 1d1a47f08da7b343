"""Which epoch of a run is meant where none is named: one rule for screens, commands and files.

Of a run that holds validation images or rows out it is the epoch with the ensemble's lowest NLL on them;
of any other the last one: never the best on the test images.
"""

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ensemble.errors import RunError
from ensemble.runs.store import Run
from ensemble.storage.folder_index import file_version
from ensemble.storage.records.json_lines import Line
from ensemble.storage.records.jsonl_tail import JsonlTail

CHOSEN_ON_VALIDATION, CHOSEN_LAST = "validation", "last"


def is_chosen_on_validation(run: Run, epoch: int) -> bool:
    """Whether it is the epoch with the ensemble's lowest NLL on the run's validation images."""
    return run.status.best_on == "validation" and run.status.best_epoch == epoch


def select_default_epoch(run: Run, kept: Sequence[int]) -> int:
    """The epoch that is shown, compared, exported and asked unless another is named.

    Args:
      run: the run.
      kept: the epochs to choose among, from 1, rising; at least one.
    """
    return next((epoch for epoch in kept if is_chosen_on_validation(run, epoch)), kept[-1])


@dataclass(frozen=True)
class _ReportedMetrics:
    """What a run's status says of the epoch that it is shown by.

    Attributes:
      epoch: from 1; 0 before the first has ended.
      accuracy: the ensemble's, on the test images, in [0, 1].
      nll: the ensemble's, in nats.
      member_accuracies: (M,), in [0, 1]; None of those that diverged; () where none is known.
      rmse: of a regression's ensemble, in the unit of the targets.
      crps: likewise.
    """

    epoch: int
    accuracy: float | None
    nll: float | None
    member_accuracies: tuple[float | None, ...]
    rmse: float | None = None
    crps: float | None = None


def read_reported_metrics(run: Run) -> _ReportedMetrics:
    """The metrics after the epoch chosen on validation images; else, and while active, the last."""
    status = run.status
    last = _ReportedMetrics(
        status.epoch,
        status.ensemble_test_accuracy,
        status.ensemble_test_nll,
        tuple(status.member_test_accuracy),
        rmse=status.ensemble_test_rmse,
        crps=status.ensemble_test_crps,
    )
    best = status.best_epoch
    if run.active or best is None or best == status.epoch or not is_chosen_on_validation(run, best):
        return last
    accuracy, members = status.best_ensemble_test_accuracy, status.best_member_test_accuracy
    if members:
        return _ReportedMetrics(best, accuracy, status.best_ensemble_test_nll, tuple(members))
    # The status of a regression, or of an earlier version, has only the NLL or the accuracy of that epoch.
    history = run.path / "history.jsonl"
    line = _read_epoch_line(history, file_version(str(history)), best)
    if line is None:
        return last
    return _ReportedMetrics(
        best,
        accuracy,
        line.get("ensemble_test_nll"),
        tuple(line.get("test_accuracy", ())),
        rmse=line.get("ensemble_test_rmse"),
        crps=line.get("ensemble_test_crps"),
    )


@functools.lru_cache(maxsize=4096)
def _read_epoch_line(history: Path, version: tuple[int, int, int] | None, epoch: int) -> Line | None:
    try:
        every = JsonlTail(history, thinned=True).read_lines()
    except RunError:  # The run's own page says so.
        return None
    return next((line for line in every if line["kind"] == "epoch" and line["epoch"] == epoch), None)
