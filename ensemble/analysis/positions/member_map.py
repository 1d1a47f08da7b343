"""The map of the members: where each stands after each epoch, by the answers that it gives."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ensemble.analysis.inference.image_groups import Groups
from ensemble.analysis.members.diversity import disagreement_matrix
from ensemble.analysis.positions.classical_scaling import ClassicalScaling, scale_distances
from ensemble.analysis.positions.member_groups import RatioEstimate, count_differing_pairs, estimate_ratio
from ensemble.analysis.quality.averaging import Ints

Doubles = NDArray[np.float64]

MAX_POINTS = 200  # members after epochs: more hide each other, and their distances take seconds
_MAX_COMPARED = 2_000_000_000  # answers that are held against each other for the distances
MAX_EPOCHS = 24


@dataclass(frozen=True, eq=False)
class SnapshotSpread:
    """How far snapshots differ, each a member where its cycle of the learning rate ended.

    Attributes:
      epochs: at whose ends they are, rising, at least two.
      own: the share of examples that two snapshots of one member differ on, mean over pairs.
      others: the same for snapshots of two members.
      times: how many times `own` is in `others`; None where `own` is 0.
    """

    epochs: tuple[int, ...]
    own: float
    others: float
    times: RatioEstimate | None


@dataclass(frozen=True, eq=False)
class MemberMap:
    """Where M members stand after E epochs.

    Attributes:
      epochs: (E,), rising; after the last of them the members are looked at.
      accuracy: (E, M), the share of examples that each has right.
      disagreement: (E, M, E, M), the share of examples that two answer differently.
      path: the points of all epochs, (E · M, 2), epoch by epoch; later ones further right.
      ends: those of the last epoch alone, (M, 2).
      apart: the share of examples that two members differ on after the last epoch, mean over pairs.
      moved: the share that a member answers differently than after the first epoch, mean over
        members; None of one epoch.
      times_apart: how many times `apart` is in `moved`; None where either is not known or 0.
      snapshots: how far snapshots differ; None where there are not two.
    """

    epochs: tuple[int, ...]
    accuracy: Doubles
    disagreement: Doubles
    path: ClassicalScaling
    ends: ClassicalScaling
    apart: float
    moved: float | None
    times_apart: RatioEstimate | None
    snapshots: SnapshotSpread | None

    @property
    def members(self) -> int:
        """M."""
        return self.accuracy.shape[1]

    @property
    def last(self) -> Doubles:
        """(M, M), the disagreement of the members after the last epoch."""
        return np.asarray(self.disagreement[-1, :, -1, :])

    @property
    def path_points(self) -> Doubles:
        """(E, M, 2), the points of `path`."""
        return self.path.points.reshape(*self.accuracy.shape, 2)


def select_path_epochs(
    kept: Sequence[int], shown: int, members: int, n: int, marked: Sequence[int] = ()
) -> tuple[int, ...]:
    """The epochs that a map shows: up to the shown one, of many a few in even steps.

    The first, the shown one and, as far as there is room, those that are marked are among them.

    Args:
      kept: all whose predictions are kept, rising.
      shown: one of them.
      members: M.
      n: N, how many examples there are.
      marked: where snapshots were taken.
    """
    until = [epoch for epoch in kept if epoch <= shown]
    room = max(1, min(MAX_EPOCHS, count_map_points(n) // members))
    if len(until) <= room:
        return tuple(until)
    if room == 1:
        return (shown,)
    chosen = {until[0], shown}
    for epochs in ([epoch for epoch in marked if epoch in until], until):
        left = [epoch for epoch in epochs if epoch not in chosen]
        places = np.linspace(0, len(left) - 1, min(len(left), room - len(chosen)))
        chosen.update(left[place] for place in np.unique(places.round().astype(int)))
    return tuple(sorted(chosen))


def count_map_points(n: int) -> int:
    """How many points a map has at most, of N examples: all pairs of them are compared."""
    return min(MAX_POINTS, int((_MAX_COMPARED / n) ** 0.5))


def locate_members(
    votes: Ints, labels: Ints, epochs: Sequence[int], marked: Sequence[int] = (), groups: Groups | None = None
) -> MemberMap:
    """The map of the members after some epochs.

    The distance of two is the square root of their disagreement: with each answer as a vector that
    is 1 at its class, two answers that differ are √2 apart, so that the root of the share is a
    distance in space, and classical scaling finds no negative eigenvalue but by rounding.

    Args:
      votes: (E, M, N), the members' classes after each epoch.
      labels: (N,), class numbers.
      epochs: E of them, rising.
      marked: where snapshots were taken.
      groups: (N,), examples that belong together; None where all are independent.
    """
    E, M, N = votes.shape
    disagreement = disagreement_matrix(votes.reshape(E * M, N))
    path = scale_distances(disagreement)
    if E > 1:
        path = _turn_with_time(path, M)
    apart = _average_pairwise_disagreement(votes[-1])
    moved = (votes[0] != votes[-1]).mean(axis=0) if E > 1 else None
    return MemberMap(
        epochs=tuple(epochs),
        accuracy=(votes == labels).mean(axis=2),
        disagreement=disagreement.reshape(E, M, E, M),
        path=path,
        ends=scale_distances(disagreement[-M:, -M:]) if E > 1 else path,
        apart=float(apart.mean()),
        moved=None if moved is None else float(moved.mean()),
        times_apart=None if moved is None else estimate_ratio(moved, apart, groups),
        snapshots=_measure_snapshot_spread(votes, epochs, marked, groups),
    )


def _turn_with_time(scaling: ClassicalScaling, members: int) -> ClassicalScaling:
    """The same points, mirrored where members would move to the left from first to last epoch."""
    points = scaling.points
    if points[-members:, 0].mean() < points[:members, 0].mean():
        points = points * (-1.0, 1.0)
    return ClassicalScaling(points, scaling.stress, scaling.shown_share, scaling.negative_share)


def _average_pairwise_disagreement(votes: Ints) -> Doubles:
    """(N,), of each example the share of pairs of M members that differ; 0 of one member."""
    return count_differing_pairs(votes) / max(1, len(votes) * (len(votes) - 1) // 2)


def _measure_snapshot_spread(
    votes: Ints, epochs: Sequence[int], marked: Sequence[int], groups: Groups | None = None
) -> SnapshotSpread | None:
    """How far the snapshots of one member differ, and those of two; None without two of them.

    Args:
      votes: (E, M, N), the members' classes after each epoch.
      epochs: E of them.
      marked: where snapshots were taken.
      groups: (N,), examples that belong together; None where all are independent.
    """
    places = [place for place, epoch in enumerate(epochs) if epoch in marked]
    if len(places) < 2 or votes.shape[1] < 2:
        return None
    taken = votes[places]
    S, M, N = taken.shape
    own = np.mean([_average_pairwise_disagreement(taken[:, m]) for m in range(M)], axis=0)
    # All pairs of S · M, less those of one member, are pairs of two.
    every = _average_pairwise_disagreement(taken.reshape(S * M, N)) * (S * M * (S * M - 1) // 2)
    within = own * (M * S * (S - 1) // 2)
    others = (every - within) / (S * S * M * (M - 1) // 2)
    return SnapshotSpread(
        tuple(epochs[place] for place in places),
        float(own.mean()),
        float(others.mean()),
        estimate_ratio(others, own, groups),
    )
