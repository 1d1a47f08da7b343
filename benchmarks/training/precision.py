"""What bfloat16 costs in accuracy: python -m benchmarks.training.precision

MNIST, batch 128, the rate falling along a cosine (a rate that stays high leaves the last
accuracy to chance), 3 seeds in each precision, in turn: final test accuracy of the members and
of the ensemble, and how far the means over the seeds lie apart.
"""

import argparse
import json
import statistics
from typing import Any

from benchmarks import common
from benchmarks.training.mnist import train

SEEDS, WITHIN_POINTS = (0, 1, 2), 0.1


def final(precision: str, seed: int, members: int, epochs: int) -> dict[str, Any]:
    """One run's last figures."""
    words = ["--precision", precision, "--seed", str(seed), "--members", str(members)]
    words += ["--epochs", str(epochs), "--schedule", "cosine", "--warmup-epochs", "0.2"]
    result, _ = train(*words)
    figures = {
        "precision": precision,
        "seed": seed,
        "ensemble": result["ensemble_test_accuracy"],
        "members": result["member_test_accuracy"],
        "seconds": result["seconds"],
    }
    print(json.dumps(figures), flush=True)
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--members", type=int, default=2)
    parser.add_argument("--epochs", type=int, default=2)
    args = parser.parse_args()
    common.isolated_folders()
    runs = [
        final(precision, seed, args.members, args.epochs) for seed in SEEDS for precision in ("float32", "bfloat16")
    ]

    def mean(precision: str, measure: Any) -> float:
        return statistics.mean(measure(run) for run in runs if run["precision"] == precision)

    def apart(measure: Any) -> float:
        return round(100 * (mean("bfloat16", measure) - mean("float32", measure)), 3)

    ensemble = apart(lambda run: run["ensemble"])
    common.keep(
        "precision",
        {
            "members": args.members,
            "epochs": args.epochs,
            "schedule": "cosine, first 0.2 epochs rising",
            "bfloat16_minus_float32_points": {
                "ensemble": ensemble,
                "mean_member": apart(lambda run: statistics.mean(run["members"])),
            },
            "within_0.1_points": abs(ensemble) <= WITHIN_POINTS,
            "runs": runs,
        },
    )


if __name__ == "__main__":
    main()
