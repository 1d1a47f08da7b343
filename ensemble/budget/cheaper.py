"""Ensembles that cost the training of one member, made from what a run has kept."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ensemble.errors import EnsembleError
from ensemble.runs.history import prediction_epochs, read_predictions
from ensemble.runs.members import open_members
from ensemble.runs.store import Run, trained_here
from ensemble.runs.test_set import dataset_of
from ensemble.runs.training import averages

Kind = Literal["member", "last", "snapshots", "swa", "dropout"]

LAST = (2, 3, 5, 10, 20)  # how many of the last epochs are looked at together


@dataclass(frozen=True, eq=False)
class Cheaper:
    """What every member of a run makes by itself.

    Attributes:
      kind: "member" for the member as it is, "last" for the mean of its last epochs' answers,
        "snapshots" for that of the ends of its cycles, "swa" for averaged parameters, "dropout"
        for passes with dropout left on.
      epochs: of the run, from 1, that it is made of.
      asked: how many networks answer each image.
      probabilities: float32 (M, N, C), one ensemble a member.
    """

    kind: Kind
    epochs: tuple[int, ...]
    asked: int
    probabilities: NDArray[np.float32]


def cheaper_of(run: Run, passes: int = 0) -> "Iterator[Cheaper | str]":
    """Each kind that the run can be asked for, or why one that it was set up for cannot be had.

    Args:
      run: one that was trained here.
      passes: with dropout left on; 0 for none.

    Raises:
      NotPreparedError: the run's dataset is not on this machine any more.
      RunError: it was trained elsewhere, or its predictions cannot be read.
    """
    config, kept = trained_here(run), prediction_epochs(run.id)
    last = kept[-1]
    yield Cheaper("member", (last,), 1, read_predictions(run.id, last))
    if snapshots := tuple(epoch for epoch in config.cycle_ends if epoch in kept):
        yield Cheaper("snapshots", snapshots, len(snapshots), _mean(run, snapshots))
    for count in LAST:
        epochs = tuple(range(last - count + 1, last + 1))
        if set(epochs) <= set(kept):
            yield Cheaper("last", epochs, count, _mean(run, epochs))
    if config.swa_epochs:
        try:
            yield Cheaper("swa", tuple(config.averaged_epochs), 1, averages.read(run))
        except EnsembleError as error:
            yield str(error)
    if passes:
        yield Cheaper("dropout", (last,), passes, _sampled(run, passes))


def _mean(run: Run, epochs: tuple[int, ...]) -> NDArray[np.float32]:
    """The mean of every member's answers after these epochs."""
    total = read_predictions(run.id, epochs[0]).astype(np.float64)
    for epoch in epochs[1:]:
        total += read_predictions(run.id, epoch)
    return (total / len(epochs)).astype(np.float32)


def _sampled(run: Run, passes: int) -> NDArray[np.float32]:
    members = open_members(run.id)
    from ensemble.engine import sample_probabilities

    images, config = dataset_of(run).test_images, trained_here(run)
    return sample_probabilities(members.network, members.params, images, passes, seed=config.seed)
