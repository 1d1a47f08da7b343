"""Where the members of real runs stand: python -m benchmarks.verdicts.member_map RUN...

Of each run, one line of JSON: on which share of the test images two members differ, and a member
from its own first kept epoch; of a cyclic schedule, on which share two snapshots of one member
differ and two members' snapshots, how many times as much that is with its 95 % interval, and how
often the snapshot that is nearest to another is of the same member (by chance: S − 1 of M S − 1);
the stress of the map; and where between random changes (0) and independent answers (1) the
disagreement of two members lies.
"""

import argparse
import json
from typing import Any

import numpy as np

from ensemble import runs
from ensemble.analysis.positions.diversity_plane import compare_pair_diversity
from ensemble.analysis.positions.member_map import MemberMap
from ensemble.views.evaluated_epoch import EvaluatedEpoch, evaluate_epoch


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("runs", nargs="+", metavar="RUN")
    for name in parser.parse_args().runs:
        run = runs.find_run(name)
        epochs = runs.list_prediction_epochs(run.id)
        print(json.dumps(measure_member_map(evaluate_epoch(run, epochs[-1]))), flush=True)


def measure_member_map(epoch: EvaluatedEpoch) -> dict[str, Any]:
    """What is known of where the members stand."""
    found, predictions = epoch.locate_members(), epoch.predictions
    classes = predictions.probabilities.shape[-1]
    diversity = compare_pair_diversity(predictions.votes, predictions.labels, classes)
    low = diversity.perturbed or 0.0
    measured: dict[str, Any] = {
        "run": epoch.run.config.dataset,
        "members": epoch.members,
        "images": epoch.n,
        "epoch": epoch.epoch,
        "apart": found.apart,
        "moved": found.moved,
        "stress": found.path.stress,
        "stress_of_ends": found.ends.stress,
        "negative_eigenvalues": found.path.negative_share,
        "towards_independent": (diversity.disagreement - low) / (diversity.independent - low),
    }
    if spread := found.snapshots:
        measured |= {
            "snapshots": len(spread.epochs),
            "snapshots_of_one": spread.own,
            "snapshots_of_two": spread.others,
            "nearest_is_own": count_own_neighbors(found),
            "nearest_is_own_by_chance": (len(spread.epochs) - 1) / (len(spread.epochs) * epoch.members - 1),
        }
        if spread.times:
            times = spread.times
            measured |= {"times": times.ratio, "times_low": times.low, "times_high": times.high}
    return {key: round(value, 4) if isinstance(value, float) else value for key, value in measured.items()}


def count_own_neighbors(found: MemberMap) -> float:
    """The share of snapshots whose nearest other snapshot is of the same member, in [0, 1]."""
    assert found.snapshots
    places = [found.epochs.index(epoch) for epoch in found.snapshots.epochs]
    members = np.tile(np.arange(found.members), len(places))
    apart = found.disagreement[np.ix_(places, range(found.members), places, range(found.members))]
    apart = apart.reshape(len(members), len(members)).copy()
    np.fill_diagonal(apart, np.inf)
    return float((members[apart.argmin(axis=1)] == members).mean())


if __name__ == "__main__":
    main()
