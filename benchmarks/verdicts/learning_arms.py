"""How often the answer about choosing labels errs: python -m benchmarks.verdicts.learning_arms

Two arms whose learning curves are drawn: each test image has an ease of its own and each arm a
liking for it, each seed lifts or lowers a whole arm and each training a round of it. So seeds
differ, curves wander, and the same images are right again and again. With no gain both arms are
random: any "better" or "worse" is wrong, either of them 2.5 % of the time at most. With a gain it
is counted how often it is seen, and either way how often the intervals of the area and of the last
round miss the true difference, which is the mean over 200,000 images of the same making.
"""

import argparse
import json
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from ensemble.analysis.acquisition.learning_gain import compute_learning_gain, weigh_trapezoids

COUNTS = np.array([40, 60, 80, 100, 120, 140])
SEED = 17
TRIALS, QUICK_TRIALS = 2_000, 200
IMAGE_COUNTS, SEED_COUNTS, SPREADS, GAINS = (500, 10_000), (5, 10), (0.1, 0.4), (0.0, 0.3)
TRUTH_DRAWS = 200_000

Bools = NDArray[np.bool_]
Doubles = NDArray[np.float64]


@dataclass(frozen=True)
class Making:
    """How arms are drawn.

    Attributes:
      images: N of a test set.
      seeds: K.
      spread: how far seeds and trainings lift or lower a whole arm, in logits.
      gain: how far the arm that chooses lies above the other from the second round on, in logits.
    """

    images: int
    seeds: int
    spread: float
    gain: float


LIKING = 0.3  # of an arm for an image, in logits: what another test set would not repeat
RISE = np.linspace(0.0, 1.2, len(COUNTS))  # in logits, from the first labels to the last


def draw_arms(making: Making, draws: np.random.Generator) -> tuple[Bools, Bools]:
    """(K, R + 1, N) of the arm that chooses and of the random arm; they begin alike."""
    ease = draws.normal(1.0, 2.0, making.images)
    shape = making.seeds, len(COUNTS), making.images
    lift = draws.normal(0, making.spread, (making.seeds, 1, 1))
    first = draws.random((making.seeds, making.images)) < _squash(ease + lift[:, 0])
    arms = []
    for gain in (making.gain, 0.0):
        liking = draws.normal(0, LIKING, making.images)
        own = draws.normal(0, making.spread, (making.seeds, 1, 1))
        trained = draws.normal(0, making.spread, (making.seeds, len(COUNTS), 1))
        logits = ease + lift + liking + own + trained + (RISE + gain)[:, None]
        right = draws.random(shape) < _squash(logits)
        right[:, 0] = first
        arms.append(right)
    return arms[0], arms[1]


def compute_truth(making: Making) -> tuple[float, float]:
    """The true difference of the area, and after the last round, by as many images once each."""
    draws = np.random.default_rng([SEED, 1])
    ease = draws.normal(1.0, 2.0, TRUTH_DRAWS)
    # The lift of the seed, and the liking, the arm's own lift and the training's of one arm.
    spread = np.sqrt(3 * making.spread**2 + LIKING**2)
    noise = draws.normal(0, spread, TRUTH_DRAWS)
    apart = np.array(
        [
            0.0
            if place == 0
            else float((_squash(ease + noise + rise + making.gain) - _squash(ease + noise + rise)).mean())
            for place, rise in enumerate(RISE)
        ]
    )
    return float(weigh_trapezoids(COUNTS.astype(np.float64)) @ apart), float(apart[-1])


def _squash(logits: Doubles) -> Doubles:
    return 1 / (1 + np.exp(-logits))


def try_making(making: Making, trials: int) -> dict[str, float]:
    """How often the answer is better or worse, and how often either interval misses the truth."""
    draws = np.random.default_rng([SEED, making.images, making.seeds, int(100 * making.spread)])
    area, last = compute_truth(making)
    said = {"better": 0, "worse": 0, "area_missed": 0, "last_missed": 0}
    width = 0.0
    for _ in range(trials):
        gain = compute_learning_gain(COUNTS, *draw_arms(making, draws))
        said["better"] += gain.sign > 0
        said["worse"] += gain.sign < 0
        said["area_missed"] += not gain.area.low <= area <= gain.area.high
        said["last_missed"] += not gain.rounds[-1].low <= last <= gain.rounds[-1].high
        width += 100 * (gain.area.high - gain.area.low)
    rates = {name: count / trials for name, count in said.items()}
    return {**vars(making), "true_points": 100 * area, **rates, "width_points": width / trials}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.verdicts.learning_arms")
    parser.add_argument("--quick", action="store_true", help="a tenth of the draws")
    trials = QUICK_TRIALS if parser.parse_args().quick else TRIALS
    for images, seeds, spread, gain in product(IMAGE_COUNTS, SEED_COUNTS, SPREADS, GAINS):
        each = trials if images < 1_000 else trials // 10
        row = try_making(Making(images, seeds, spread, gain), each)
        print(json.dumps({"trials": each} | {key: round(row[key], 4) for key in row}), flush=True)


if __name__ == "__main__":
    main()
