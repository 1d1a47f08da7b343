"""What accuracy is estimated of rotated images: python -m benchmarks.verdicts.rotated_images RUN...

Of each run and angle one line of JSON: the share of the rotated test images that is right, the
lowest and highest estimate without their labels, the range and its trust, and whether it holds.
"""

import argparse
import json
from typing import Any

import numpy as np

import ensemble
from ensemble.shift.corruptions import corrupt_images

ANGLES = (0, 5, 10, 20, 30, 45, 60, 90)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("runs", nargs="+", metavar="RUN")
    for name in parser.parse_args().runs:
        run = ensemble.open_run(name)
        for angle in ANGLES:
            print(json.dumps(measure_angle(run, angle)), flush=True)


def measure_angle(run: ensemble.Run, angle: float) -> dict[str, Any]:
    """What is right of the run's test images, rotated, and what is estimated of it."""
    assert run.images is not None
    probabilities = run.predict(corrupt_images(run.images, "rotation", angle)).probabilities
    right = float((probabilities.mean(axis=0).argmax(axis=1) == run.labels).mean())
    found = run.estimate_accuracy(probabilities=probabilities)
    shares = [share.value for share in found.estimate.estimates.values()]
    low, high = found.range or (0.0, 1.0)
    return {
        "run": run.config.dataset,
        "angle": angle,
        "right": round(right, 4),
        "estimates": [round(float(end), 4) for end in (np.min(shares), np.max(shares))],
        "range": found.range and [round(low, 4), round(high, 4)],
        "trust": found.trust,
        "holds": low <= right <= high,
    }


if __name__ == "__main__":
    main()
