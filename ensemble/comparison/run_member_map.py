"""The members of several runs on one map, of those that were tested on the same images."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ensemble import runs
from ensemble.analysis.inference.image_groups import grouped_mean_interval
from ensemble.analysis.members.diversity import disagreement_matrix
from ensemble.analysis.positions.classical_scaling import ClassicalScaling, scale_distances
from ensemble.analysis.positions.member_groups import measure_group_disagreement
from ensemble.analysis.positions.member_map import count_map_points
from ensemble.analysis.quality.averaging import most_likely_classes
from ensemble.comparison.image_identity import have_same_images, load_image_groups, load_image_labels
from ensemble.comparison.run_measures import select_compared_epoch
from ensemble.errors import EnsembleError
from ensemble.runs.store import Run

_Doubles = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class RunMemberMap:
    """Where P members of R runs stand, each after the epoch that its run is compared at.

    Attributes:
      runs: those on the map, all tested on the same N images; none, where none can be.
      epochs: (R,), after which each is.
      left_out: each other run with why it is not on it, a sentence; "" where it was tested on other
        images than the first on it.
      owner: (P,), the number of each member's run among `runs`.
      members: (P,), each member's number in its run, from 0.
      votes: (P, N), the class that each says.
      labels: (N,), the right one; of no runs ().
      accuracy: (P,), the share of images that each has right.
      disagreement: (P, P), the share of images that two answer differently.
      scaling: their points.
      n: N.
      noun: what one image is called.
      within: the share that two members of one run differ on, mean over pairs; None where no run
        has two.
      between: the same for members of two runs; None of one run.
      difference: the 95 % interval of `between` less `within`; None where one of them is.
      thinned: whether not all members of every run are on it.
    """

    runs: tuple[Run, ...]
    epochs: tuple[int, ...]
    left_out: tuple[tuple[Run, str], ...]
    owner: NDArray[np.int64]
    members: NDArray[np.int64]
    votes: NDArray[np.integer]
    labels: NDArray[np.integer]
    accuracy: _Doubles
    disagreement: _Doubles
    scaling: ClassicalScaling
    n: int
    noun: str
    within: float | None
    between: float | None
    difference: tuple[float, float] | None
    thinned: bool


def build_run_member_map(every: Sequence[Run]) -> RunMemberMap:
    """The map of the members of these runs, as far as they share the first one's test images.

    The first is the first whose predictions can be read. Of many members each run brings as many.

    Args:
      every: the runs, in their order; at least one.
    """
    placed: list[Run] = []
    epochs: list[int] = []
    votes: list[NDArray[np.integer]] = []
    left_out: list[tuple[Run, str]] = []
    thinned = False
    for run in every:
        if placed and not have_same_images(placed[0], run):
            left_out.append((run, ""))
            continue
        try:
            epoch, _ = select_compared_epoch(run)
            probabilities = runs.read_run_predictions(run.id, epoch)
            if len(load_image_labels(run)) != probabilities.shape[1]:
                raise EnsembleError(f"The predictions of {run.name} are of other images.")
        except EnsembleError as error:
            left_out.append((run, str(error)))
            continue
        room = max(1, count_map_points(probabilities.shape[1]) // len(every))
        thinned |= len(probabilities) > room
        votes.append(most_likely_classes(probabilities[:room]).astype(np.int32))
        placed.append(run)
        epochs.append(epoch)
    return _measure_run_members(placed, epochs, left_out, votes, thinned)


def _measure_run_members(
    placed: Sequence[Run],
    epochs: Sequence[int],
    left_out: Sequence[tuple[Run, str]],
    votes: Sequence[NDArray[np.integer]],
    thinned: bool = False,
) -> RunMemberMap:
    """The map of members whose answers have been read.

    Args:
      placed: the runs on it.
      epochs: after which each is.
      left_out: those that are not, and why.
      votes: (M, N) of each, class numbers.
      thinned: whether a run has more members than these.
    """
    sizes = [len(own) for own in votes]
    owner = np.repeat(np.arange(len(placed)), sizes)
    together = np.concatenate(votes) if votes else np.zeros((0, 0), np.int32)
    disagreement = disagreement_matrix(together) if votes else np.zeros((0, 0))
    within = between = None
    difference = None
    if len(owner) > 1:
        parts = tuple(tuple(np.flatnonzero(owner == place).tolist()) for place in range(len(placed)))
        inside, across = measure_group_disagreement(together, parts)
        within = float(inside.mean()) if max(sizes) > 1 else None
        between = float(across.mean()) if len(placed) > 1 else None
        if within is not None and between is not None:
            groups = load_image_groups(placed[0])
            difference = grouped_mean_interval(across - inside, groups, bound=1.0)
    labels = load_image_labels(placed[0]) if placed else np.zeros(0, np.int32)
    return RunMemberMap(
        runs=tuple(placed),
        epochs=tuple(epochs),
        left_out=tuple(left_out),
        owner=owner,
        members=np.concatenate([np.arange(size) for size in sizes] or [np.zeros(0, np.int64)]),
        votes=together,
        labels=labels,
        accuracy=(together == labels).mean(axis=1) if votes else np.zeros(0),
        disagreement=disagreement,
        scaling=scale_distances(disagreement if votes else np.zeros((1, 1))),
        n=together.shape[1],
        noun=placed[0].data.noun if placed else "image",
        within=within,
        between=between,
        difference=difference,
        thinned=thinned,
    )
