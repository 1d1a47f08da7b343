"""At which learning rates each network learns: python -m benchmarks.training.rates

Every network on `digits` and on made images of colour (16×16: stripes of four directions, reddish
or bluish, in noise), by SGD with momentum 0.9 and
batches of 128: how much of the test images the mean member gets right at each rate, and how many
members diverged or only guess.
"""

import argparse
import json
from typing import Any, NamedTuple

import numpy as np

from benchmarks import common
from ensemble import datasets
from ensemble.architectures import BUILTIN_NETWORK_NAMES
from ensemble.config import EnsembleConfig
from ensemble.engine import Trainer

RATES = (0.02, 0.05, 0.1, 0.2)
CLASSES, GUESS = 8, 0.25  # a member with less than twice what guessing gives only guesses


class Made(NamedTuple):
    """Images as a Trainer takes them."""

    train_images: np.ndarray
    train_labels: np.ndarray
    test_images: np.ndarray
    test_labels: np.ndarray
    class_names: tuple[str, ...]


def striped(count: int, seed: int, side: int = 16) -> tuple[np.ndarray, np.ndarray]:
    """Images uint8 (N, side, side, 3) and labels int32 (N,)."""
    draws = np.random.default_rng(seed)
    labels = (np.arange(count) % CLASSES).astype(np.int32)
    down, right = np.mgrid[:side, :side].astype(np.float32)
    angles = (np.pi * (labels % 4) / 4)[:, None, None]
    phase = draws.uniform(0, np.pi, (count, 1, 1))
    stripes = np.sin(5 * np.pi * (np.cos(angles) * down + np.sin(angles) * right) / side + phase)
    colour = draws.uniform(0.1, 0.6, (count, 3))
    colour[np.arange(count), np.where(labels < 4, 0, 2)] += 0.4
    mixed = 0.2 + 0.5 * colour[:, None, None] * (stripes[..., None] > 0)
    mixed = mixed + draws.normal(0, 0.1, (count, side, side, 3))
    return (255 * mixed.clip(0, 1)).astype(np.uint8), labels


def photographs(train: int = 1024, test: int = 512) -> Made:
    """A made data set of colour, of eight classes."""
    names = tuple(f"stripes {c}" for c in range(CLASSES))
    return Made(*striped(train, 0), *striped(test, 1), names)


def learnt(network: str, on: str, rate: float, epochs: int, members: int) -> dict[str, Any]:
    """What became of an ensemble of one network at one rate."""
    config = EnsembleConfig(network=network, learning_rate=rate, epochs=epochs, members=members, momentum=0.9)
    images = photographs() if on == "colour" else datasets.load_dataset("digits")
    trainer = Trainer(config, images)
    state, loss = trainer.start(), np.zeros((members, 1))
    for epoch in range(1, epochs + 1):
        state, figures = trainer.train(state, epoch, 0, trainer.steps_per_epoch)
        loss = figures.loss
    judged = trainer.evaluate(state)
    assert judged is not None
    right = np.asarray(judged.accuracy)
    result: dict[str, Any] = {
        "network": network,
        "on": on,
        "rate": rate,
        "epochs": epochs,
        "members": members,
        "mean_member": round(float(right.mean()), 4),
        "worst_member": round(float(right.min()), 4),
        "diverged": int((~np.isfinite(loss).all(axis=1)).sum()),
        "guess": int((right < GUESS).sum()),
    }
    print(json.dumps(result), flush=True)
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--networks", nargs="+", default=BUILTIN_NETWORK_NAMES, choices=BUILTIN_NETWORK_NAMES)
    parser.add_argument("--rates", nargs="+", type=float, default=RATES)
    parser.add_argument("--on", nargs="+", default=("digits", "colour"))
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--members", type=int, default=2)
    args = parser.parse_args()
    results = [
        learnt(network, on, rate, args.epochs, args.members)
        for network in args.networks
        for on in args.on
        for rate in args.rates
    ]
    kept = common.RESULTS / "rates.json"
    before = json.loads(kept.read_text())["runs"] if kept.exists() else []
    anew = [earlier_result for earlier_result in before if all(of(earlier_result) != of(other) for other in results)]
    common.keep("rates", {"momentum": 0.9, "batch_size": 128, "runs": [*anew, *results]})


def of(result: dict[str, Any]) -> tuple[Any, ...]:
    """What a result is of: a later one takes its place."""
    return result["network"], result["on"], result["rate"]


if __name__ == "__main__":
    main()
