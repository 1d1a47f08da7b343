"""How each member of a run did at the end of an epoch, on the images to choose by."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ensemble.analysis.inference.image_groups import Groups, select_groups
from ensemble.analysis.quality.proper_scores import log_loss
from ensemble.datasets.partition.split import select_validation_indices
from ensemble.errors import EnsembleError
from ensemble.runs.epoch_choice import select_default_epoch
from ensemble.runs.history import read_run_predictions, read_thinned_history, read_validation_predictions
from ensemble.runs.store import Run, find_run, require_training_config
from ensemble.runs.test_set import load_run_dataset, load_test_set
from ensemble.storage.records.json_lines import Line


@dataclass(frozen=True, eq=False)
class FinalLosses:
    """The members' losses after an epoch, or in training before the first has ended.

    Attributes:
      split: which images: those of "validation" where the run holds some out, else "test", or
        "training" where no epoch has ended.
      epoch: after which; 0 before the end of the first.
      members: (M,), who they are, counted from 0: all but those that diverged.
      loss: (M,), the mean of each, in nats.
      per_image_loss: (M, N), of each image; None of training, and where predictions are not to be
        had.
      groups: (N,), numbers from 0, of images that belong together; None where all are independent.
    """

    split: str
    epoch: int
    members: tuple[int, ...]
    loss: NDArray[np.float64]
    per_image_loss: NDArray[np.float64] | None
    groups: Groups | None = None


def load_final_losses(run_id: str, history: Sequence[Line] | None = None) -> FinalLosses | None:
    """The losses by which a run's members are compared, after the epoch that is usual for the run.

    None before the first line of history.

    Args:
      run_id: whose.
      history: its lines, where they have been read already.

    Raises:
      UnknownRunError: there is no such run.
      RunError: its history cannot be read.
    """
    run = find_run(run_id)
    lines = list(read_thinned_history(run_id) if history is None else history)
    ended = {line["epoch"]: line for line in lines if line["kind"] == "epoch"}
    if not ended:
        steps = _find_last_line("steps", lines)
        return _parse_line_losses(run, steps, "training", 0) if steps else None
    last = ended[select_default_epoch(run, sorted(ended))]
    on = "validation" if "validation_loss" in last else "test"
    try:
        each, groups = _compute_image_losses(run, on, last["epoch"])
    except EnsembleError:  # The means are there nevertheless.
        return _parse_line_losses(run, last, on, last["epoch"])
    return FinalLosses(
        split=on,
        epoch=last["epoch"],
        members=run.remaining_members(last["epoch"]),
        loss=each.mean(axis=1),
        per_image_loss=each,
        groups=groups,
    )


def _find_last_line(kind: str, lines: Sequence[Line]) -> Line | None:
    """The last line of a kind; None if there is none."""
    return next((line for line in reversed(lines) if line["kind"] == kind), None)


def _compute_image_losses(run: Run, on: str, epoch: int) -> tuple[NDArray[np.float64], Groups | None]:
    """(M, N) losses, and the groups of the images."""
    if on == "test":
        test_set = load_test_set(run)
        return log_loss(read_run_predictions(run.id, epoch), test_set.labels), test_set.groups
    data = load_run_dataset(run)
    held = select_validation_indices(require_training_config(run), data)
    losses = log_loss(read_validation_predictions(run.id, epoch), data.train_labels[held])
    return losses, select_groups(data.train_groups, held)


def _parse_line_losses(run: Run, line: Line, on: str, epoch: int) -> FinalLosses:
    losses = line.get(f"{'train' if on == 'training' else on}_loss") or []
    member_losses = {m: loss for m, loss in enumerate(losses) if loss is not None}
    members = tuple(m for m in run.remaining_members(epoch or None) if m in member_losses)
    return FinalLosses(on, epoch, members, np.array([member_losses[m] for m in members]), None)
