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

    run = runs.create_run(EnsembleConfig(dataset="mnist", members=members, epochs=1))
    labels = datasets.load_dataset("mnist").test_labels[:EXAMPLES]
    write_predictions(run.path, 1, probabilities(np.asarray(labels), members))
    return run.id


def every_measure(run_id: str) -> dict[str, Any]:
    """Seconds of each measure, in the order that the screen would ask for them at the worst."""
    from ensemble import datasets, runs
    from ensemble.analysis.example_measures import compute_measures
    from ensemble.analysis.members import combining, committees, diversity, ece_gain, gain, sufficient_size
    from ensemble.analysis.members.swing_votes import find_swing_votes
    from ensemble.analysis.predictions import evaluate_predictions
    from ensemble.analysis.quality import quality, temperature_scaling
    from ensemble.analysis.quality.calibration import reliability_bins
    from ensemble.analysis.quality.selective import fit_confidence_threshold, risk_coverage

    seconds: dict[str, float] = {}

    def timed(name: str, measure: Callable[[], Any]) -> Any:
        began = time.perf_counter()
        result = measure()
        seconds[name] = round(time.perf_counter() - began, 4)
        return result

    kept = timed("read", lambda: runs.read_run_predictions(run_id, 1))
    labels = timed("labels", lambda: np.asarray(datasets.load_dataset("mnist").test_labels[:EXAMPLES]))
    predictions = timed("judge", lambda: evaluate_predictions(kept, labels))
    rights = predictions.votes == labels
    sure = kept.max(axis=-1)
    qualities = timed("quality", lambda: quality.measure_qualities(predictions))
    timed("gain", lambda: gain.compute_gain(predictions.averaged, kept[0], labels))
    timed("gain over the mean", lambda: gain.gain_over_mean_member(predictions))
    timed("gain in calibration", lambda: ece_gain.estimate_ece_gain(predictions))
    timed("uncertainty", lambda: compute_measures(predictions))
    timed("swing", lambda: find_swing_votes(predictions))
    timed("disagreement", lambda: diversity.disagreement_matrix(predictions.votes))
    timed("mean KL", lambda: diversity.mean_kl_divergence(kept))
    timed("Q-statistic", lambda: diversity.q_statistic(rights))
    timed("double fault", lambda: diversity.double_fault(rights))
    timed("decomposition", lambda: diversity.nll_decomposition(kept, labels))
    timed("oracle", lambda: diversity.oracle_accuracy(predictions.votes, labels))
    timed(
        "reliability",
        lambda: [reliability_bins(predictions.confidence, predictions.right), *map(reliability_bins, sure, rights)],
    )
    timed("temperature", lambda: temperature_scaling.compare_fitted_temperatures(kept, labels))
    judged = timed("committee", lambda: committees.evaluate_committees(kept, labels))
    timed(
        "committee's curves",
        lambda: [
            [committees.committee_curve(judged, name) for name in committees.COMMITTEE_METRICS],
            [sufficient_size.find_sufficient_size(judged, name) for name in sufficient_size.DEFAULT_MARGINS],
            committees.member_contributions(judged),
        ],
    )
    timed("combining", lambda: combining.compare_combining_rules(predictions))
    timed(
        "selective",
        lambda: [risk_coverage(predictions.confidence, predictions.right), *map(risk_coverage, sure, rights)],
    )
    timed("threshold", lambda: fit_confidence_threshold(predictions.confidence, predictions.right, labels, 0.01))
    return {
        "seconds": seconds,
        "total_s": round(sum(seconds.values()), 3),
        "ensemble_accuracy": qualities.ensemble.accuracy,
        "mean_member_accuracy": round(qualities.mean.accuracy, 5),
    }


def exact_committees(run_id: str) -> dict[str, Any]:
    """Seconds of reading the predictions and judging all committees of them."""
    from ensemble import datasets, runs
    from ensemble.analysis.members.committees import evaluate_committees
    from ensemble.analysis.members.sufficient_size import find_sufficient_size

    began = time.perf_counter()
    labels = np.asarray(datasets.load_dataset("mnist").test_labels[:EXAMPLES])
    judged = evaluate_committees(runs.read_run_predictions(run_id, 1), labels)
    seconds = time.perf_counter() - began
    return {"total_s": round(seconds, 3), "committees": len(judged.masks), "enough": find_sufficient_size(judged).size}


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
    measurements = []
    for _ in range(ROUNDS):
        output = subprocess.run(words, check=True, capture_output=True, text=True, cwd=common.ROOT)
        measurements.append(json.loads(output.stdout.splitlines()[-1]))
    return measurements


def in_short(measurements: list[dict[str, Any]]) -> dict[str, Any]:
    """Medians and all totals of the processes."""
    short: dict[str, Any] = {
        "total_s_median": round(statistics.median(measurement["total_s"] for measurement in measurements), 2),
        "total_s": [round(measurement["total_s"], 2) for measurement in measurements],
        "peak_memory_mb": max(measurement["peak_memory_mb"] for measurement in measurements),
    }
    if "seconds" in measurements[0]:
        short["seconds_median"] = {
            name: round(statistics.median(measurement["seconds"][name] for measurement in measurements), 3)
            for name in measurements[0]["seconds"]
        }
    summary_names = (*short, "seconds", "total_s")
    return short | {name: value for name, value in measurements[0].items() if name not in summary_names}


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
