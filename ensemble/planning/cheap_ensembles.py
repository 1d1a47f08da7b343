"""Ensembles that cost the training of one member, made from what a run has kept."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ensemble.errors import EnsembleError
from ensemble.runs.history import list_prediction_epochs, read_run_predictions
from ensemble.runs.store import Run, require_training_config
from ensemble.runs.training import weight_averages

Kind = Literal["member", "last", "snapshots", "swa"]

_LAST_EPOCH_COUNTS = (2, 3, 5, 10, 20)  # how many of the last epochs are looked at together


@dataclass(frozen=True, eq=False)
class CheapEnsemble:
    """What every member of a run makes by itself.

    Attributes:
      kind: "member" for the member as it is, "last" for the mean of its last epochs' answers,
        "snapshots" for that of the ends of its cycles, "swa" for averaged parameters.
      epochs: of the run, from 1, that it is made of.
      networks: how many networks answer each image.
      probabilities: float32 (M, N, C), one ensemble a member.
    """

    kind: Kind
    epochs: tuple[int, ...]
    networks: int
    probabilities: NDArray[np.float32]


def iterate_cheap_ensembles(run: Run) -> "Iterator[CheapEnsemble | str]":
    """Each kind that the run can be asked for, or why one that it was set up for cannot be had.

    Args:
      run: one that was trained here.

    Raises:
      NotPreparedError: the run's dataset is not on this machine any more.
      RunError: it was trained elsewhere, or its predictions cannot be read.
    """
    config, kept = require_training_config(run), list_prediction_epochs(run.id)
    last = kept[-1]
    yield CheapEnsemble("member", (last,), 1, read_run_predictions(run.id, last))
    if snapshots := tuple(epoch for epoch in config.cycle_ends if epoch in kept):
        yield CheapEnsemble("snapshots", snapshots, len(snapshots), _average_epochs(run, snapshots))
    for count in _LAST_EPOCH_COUNTS:
        epochs = tuple(range(last - count + 1, last + 1))
        if set(epochs) <= set(kept):
            yield CheapEnsemble("last", epochs, count, _average_epochs(run, epochs))
    if config.swa_epochs:
        try:
            yield CheapEnsemble("swa", tuple(config.averaged_epochs), 1, weight_averages.load_averaged_predictions(run))
        except EnsembleError as error:
            yield str(error)


def _average_epochs(run: Run, epochs: tuple[int, ...]) -> NDArray[np.float32]:
    total = read_run_predictions(run.id, epochs[0]).astype(np.float64)
    for epoch in epochs[1:]:
        total += read_run_predictions(run.id, epoch)
    return (total / len(epochs)).astype(np.float32)
