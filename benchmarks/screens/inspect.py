"""Every measure of Inspect from disk, time and memory: python -m benchmarks.screens.inspect

Probabilities of a random model as sure and as often right as networks are on MNIST, written
as a run keeps them. M = 10: every measure but Shift. M = 12: all 4,095 committees. Each from
reading the file on, in a fresh process whose imports are done, as the page's are. And the
time to another epoch's picture in a browser; alone: python -m benchmarks.screens.inspect redraw
"""

import json
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import common
from benchmarks.screens import redraw
from benchmarks.screens.drawn_runs import CLASSES, EXAMPLES, ROUNDS, probabilities


def write_run(members: int) -> str:
    """The id of a new run whose first epoch has these predictions."""
    from ensemble import datasets, runs
    from ensemble.config import EnsembleConfig
    from ensemble.runs.history import write_predictions

    run = runs.create(EnsembleConfig(dataset="mnist", members=members, epochs=1))
    labels = datasets.load("mnist").test_labels[:EXAMPLES]
    write_predictions(run.path, 1, probabilities(np.asarray(labels), members))
    return run.id


def every_measure(run_id: str) -> dict[str, Any]:
    """Seconds of each measure, in the order that the screen would ask for them at the worst."""
    from ensemble import datasets, runs
    from ensemble.analysis.members import combining, committee, diversity, ece_gain, enough, gain
    from ensemble.analysis.members.swing import swings
    from ensemble.analysis.members.uncertainty import uncertainty
    from ensemble.analysis.predictions import judge
    from ensemble.analysis.quality import summary, temperature
    from ensemble.analysis.quality.calibration import reliability
    from ensemble.analysis.quality.selective import choose, risk_coverage

    seconds: dict[str, float] = {}

    def timed(name: str, measure: Callable[[], Any]) -> Any:
        began = time.perf_counter()
        found = measure()
        seconds[name] = round(time.perf_counter() - began, 4)
        return found

    kept = timed("read", lambda: runs.read_predictions(run_id, 1))
    labels = timed("labels", lambda: np.asarray(datasets.load("mnist").test_labels[:EXAMPLES]))
    made = timed("judge", lambda: judge(kept, labels))
    rights = made.votes == labels
    sure = kept.max(axis=-1)
    found = timed("quality", lambda: summary.qualities(made))
    timed("gain", lambda: gain.gain(made.averaged, kept[0], labels))
    timed("gain over the mean", lambda: gain.gain_over_mean(made))
    timed("gain in calibration", lambda: ece_gain.ece_gain(made))
    timed("uncertainty", lambda: uncertainty(made))
    timed("swing", lambda: swings(made))
    timed("disagreement", lambda: diversity.disagreement_matrix(made.votes))
    timed("mean KL", lambda: diversity.mean_kl(kept))
    timed("KL to the ensemble", lambda: diversity.kl_to_ensemble(kept, made.averaged))
    timed("Q-statistic", lambda: diversity.q_statistic(rights))
    timed("double fault", lambda: diversity.double_fault(rights))
    timed("decomposition", lambda: diversity.decomposition(kept, labels))
    timed("oracle", lambda: diversity.oracle_accuracy(made.votes, labels))
    timed(
        "reliability",
        lambda: [reliability(made.confidence, made.right), *map(reliability, sure, rights)],
    )
    timed("temperature", lambda: temperature.compare(kept, labels))
    judged = timed("committee", lambda: committee.committee(kept, labels))
    timed(
        "committee's curves",
        lambda: [
            [committee.curve(judged, name) for name in committee.FIGURES],
            [enough.enough(judged, name) for name in enough.MARGINS],
            committee.worth(judged),
        ],
    )
    timed("combining", lambda: combining.compare(made))
    timed(
        "selective",
        lambda: [risk_coverage(made.confidence, made.right), *map(risk_coverage, sure, rights)],
    )
    timed("threshold", lambda: choose(made.confidence, made.right, labels, 0.01))
    return {
        "seconds": seconds,
        "total_s": round(sum(seconds.values()), 3),
        "ensemble_accuracy": found.ensemble.accuracy,
        "mean_member_accuracy": round(found.mean.accuracy, 5),
    }


def exact_committees(run_id: str) -> dict[str, Any]:
    """Seconds of reading the predictions and judging all committees of them."""
    from ensemble import datasets, runs
    from ensemble.analysis.members.committee import committee
    from ensemble.analysis.members.enough import enough

    began = time.perf_counter()
    labels = np.asarray(datasets.load("mnist").test_labels[:EXAMPLES])
    judged = committee(runs.read_predictions(run_id, 1), labels)
    seconds = time.perf_counter() - began
    return {
        "total_s": round(seconds, 3),
        "committees": len(judged.masks),
        "enough": enough(judged).size,
    }


def peak_memory() -> int:
    """The most memory in MB that this process ever held."""
    status = Path("/proc/self/status")
    if status.exists():
        # getrusage would count what its parent held when it started this process.
        rows = dict(row.split(":", 1) for row in status.read_text().splitlines())
        return round(int(rows["VmHWM"].split()[0]) / 1024)
    kib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return round(kib / (1024**2 if sys.platform == "darwin" else 1024))


MEASURES = {"every": every_measure, "committees": exact_committees}


def in_fresh_processes(name: str, run_id: str) -> list[dict[str, Any]]:
    """What each of ROUNDS processes, one after the other, has measured."""
    words = [sys.executable, "-m", "benchmarks.screens.inspect", name, run_id]
    found = []
    for _ in range(ROUNDS):
        output = subprocess.run(words, check=True, capture_output=True, text=True, cwd=common.ROOT)
        found.append(json.loads(output.stdout.splitlines()[-1]))
    return found


def in_short(found: list[dict[str, Any]]) -> dict[str, Any]:
    """Medians and all totals of the processes."""
    short: dict[str, Any] = {
        "total_s_median": round(statistics.median(one["total_s"] for one in found), 2),
        "total_s": [round(one["total_s"], 2) for one in found],
        "peak_memory_mb": max(one["peak_memory_mb"] for one in found),
    }
    if "seconds" in found[0]:
        short["seconds_median"] = {
            name: round(statistics.median(one["seconds"][name] for one in found), 3)
            for name in found[0]["seconds"]
        }
    known = (*short, "seconds", "total_s")
    return short | {name: value for name, value in found[0].items() if name not in known}


def main() -> None:
    folder = common.isolated_folders()
    every = in_fresh_processes("every", write_run(10))
    committees = in_fresh_processes("committees", write_run(12))
    common.keep(
        "inspect",
        {
            "examples": EXAMPLES,
            "classes": CLASSES,
            "every_measure_members_10": in_short(every),
            "exact_committees_members_12": in_short(committees),
            "epoch_redraw_members_10": redraw.measure(folder, probabilities, 10),
        },
    )


if __name__ == "__main__":
    if sys.argv[1:] == ["redraw"]:
        print(json.dumps(redraw.measure(common.isolated_folders(), probabilities, 10), indent=1))
    elif sys.argv[1:]:
        asked, run_id = sys.argv[1:]
        print(json.dumps({**MEASURES[asked](run_id), "peak_memory_mb": peak_memory()}))
    else:
        main()
