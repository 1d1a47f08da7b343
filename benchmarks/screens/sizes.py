"""Every measure and picture of Inspect at other sizes: python -m benchmarks.screens.sizes

Predictions drawn at random, from two classes to 1,000, 1 to 1,024 members and 30 to 50,000
examples. Each size in a process of its own, one after the other: seconds of each measure, those
of the processor, which other work does not lengthen as much, and the memory that it takes
beyond what there was before. One size alone, printed and not kept:
python -m benchmarks.screens.sizes 5 50000 1000
"""

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import common

SIZES = (
    (10, 10_000, 100),
    (5, 50_000, 1_000),
    (64, 10_000, 10),
    (1_024, 10_000, 10),
    (10, 10_000, 2),
    (1, 10_000, 100),
    (10, 30, 10),
)
ROWS = 1_000  # drawn at a time, so that drawing takes no memory of its own


def drawn(members: int, examples: int, classes: int) -> tuple[np.ndarray, np.ndarray]:
    """(M, N, C) in single precision and (N,): members right of about four examples in five."""
    draws = np.random.default_rng(0)
    labels = draws.integers(classes, size=examples)
    probabilities = np.empty((members, examples, classes), np.float32)
    for start in range(0, examples, ROWS):
        part = labels[start : start + ROWS]
        shared = draws.standard_normal((len(part), classes), np.float32) * 1.5
        shared[np.arange(len(part)), part] += draws.gamma(4.0, 1.6, len(part)) + np.log(classes) / 2
        for member in probabilities:
            logits = shared + draws.standard_normal(shared.shape, np.float32)
            powers = np.exp(logits - logits.max(axis=-1, keepdims=True))
            member[start : start + ROWS] = powers / powers.sum(axis=-1, keepdims=True)
    return probabilities, labels


def measures(probabilities: np.ndarray, labels: np.ndarray) -> Iterator[tuple[str, Callable]]:
    """Each measure by its name, in the order that the screen may ask for them."""
    from ensemble.analysis.example_measures import compute_measures
    from ensemble.analysis.members import combining, committees, diversity, ece_gain, gain, sufficient_size
    from ensemble.analysis.members.swing_votes import find_correct_minorities, find_swing_votes
    from ensemble.analysis.predictions import evaluate_predictions, sort_examples
    from ensemble.analysis.quality import calibration_noise, coverage, quality, temperature_scaling
    from ensemble.analysis.quality.calibration import reliability_bins
    from ensemble.analysis.quality.calibration_test import calibration_test
    from ensemble.analysis.quality.selective import fit_confidence_threshold, risk_coverage

    yield "judge", lambda: evaluate_predictions(probabilities, labels)
    predictions = evaluate_predictions(probabilities, labels)
    sure, right = predictions.confidence, predictions.right
    yield "quality", lambda: quality.measure_qualities(predictions)
    yield "gain over the mean", lambda: gain.gain_over_mean_member(predictions)
    yield "gain in calibration", lambda: ece_gain.estimate_ece_gain(predictions)
    yield "order", lambda: sort_examples(predictions, np.arange(len(labels)), "split")
    yield "uncertainty", lambda: compute_measures(predictions)
    yield "disagreement", lambda: diversity.disagreement_matrix(predictions.votes)
    yield "mean KL", lambda: diversity.mean_kl_divergence(probabilities)
    yield "Q-statistic", lambda: diversity.q_statistic(predictions.votes == labels)
    yield "decomposition", lambda: diversity.nll_decomposition(probabilities, labels)
    yield "swing", lambda: (find_swing_votes(predictions), find_correct_minorities(predictions))
    yield "reliability", lambda: reliability_bins(sure, right)
    yield "calibration, tested", lambda: calibration_test(sure, right)
    yield ("calibration, by chance", lambda: calibration_noise.estimate_ensemble_calibration_error(predictions))
    yield ("temperature", lambda: temperature_scaling.compare_fitted_temperatures(probabilities, labels))
    yield "combining", lambda: combining.compare_combining_rules(predictions)
    yield (
        "committees",
        lambda: sufficient_size.find_sufficient_size(committees.evaluate_committees(probabilities, labels)),
    )
    yield "best committees", lambda: committees.best_committees_by_size(probabilities, labels)
    yield ("selective", lambda: (risk_coverage(sure, right), fit_confidence_threshold(sure, right, labels, 0.01)))
    for method in coverage.METHODS:
        yield (
            f"sets, {method}",
            lambda method=method: coverage.evaluate_conformal_sets(predictions.averaged, labels, 0.05, method),
        )


def of_size(members: int, examples: int, classes: int) -> dict[str, Any]:
    """Seconds and megabytes of each measure, in this process."""
    probabilities, labels = drawn(members, examples, classes)
    seconds, busy, megabytes = {}, {}, {}
    for name, measure in measures(probabilities, labels):
        before = resident("VmRSS")
        forget_peak()
        began, at_work = time.perf_counter(), time.process_time()
        try:
            measure()
        except MemoryError:
            print(f"{name}: out of memory", file=sys.stderr)
        seconds[name] = round(time.perf_counter() - began, 3)
        busy[name] = round(time.process_time() - at_work, 3)
        megabytes[name] = max(0, resident("VmHWM") - before)
        print(
            f"{name:26s}{seconds[name]:9.3f} s{busy[name]:9.3f} s of the processor{megabytes[name]:8,d} MB",
            file=sys.stderr,
        )
    return {
        "array_mb": probabilities.nbytes >> 20,
        "seconds": seconds,
        "processor_seconds": busy,
        "extra_mb": megabytes,
    }


def resident(row: str) -> int:
    """Megabytes of this process: VmRSS, those it holds, or VmHWM, the most it ever held."""
    rows = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    return int(rows[row].split()[0]) >> 10


def forget_peak() -> None:
    """From here on the most that this process held is counted anew (Linux)."""
    Path("/proc/self/clear_refs").write_text("5")


def in_a_fresh_process(size: tuple[int, int, int]) -> dict[str, Any]:
    """What `of_size` finds; its rows are printed as they come."""
    words = [sys.executable, "-m", "benchmarks.screens.sizes", *map(str, size)]
    output = subprocess.run(words, check=True, stdout=subprocess.PIPE, text=True, cwd=common.ROOT)
    return json.loads(output.stdout)


def main() -> None:
    common.keep("sizes", {" × ".join(f"{n:,}" for n in size): in_a_fresh_process(size) for size in SIZES})


if __name__ == "__main__":
    if sys.argv[1:]:
        print(json.dumps(of_size(*map(int, sys.argv[1:]))))
    else:
        main()
