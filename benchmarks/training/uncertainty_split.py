"""How far aleatoric and epistemic can be trusted: python -m benchmarks.training.uncertainty_split

Three synthetic datasets whose truth is known: `classes` (two classes with a known probability at
each point), `gap` (numbers with known noise, and no training rows in the middle), and `bias`
(numbers on a wave, for networks of which some cannot follow it). For each, several widths, and
members that differ by their seed alone (first parameters and order of the batches) or by their
seed and a bootstrap sample of the training data. Prints one JSON line per dataset, network and
kind of members: means over training sets, and the factor by which bootstrap samples raise the
epistemic part.

Training of classes has the setting `bootstrap`; training of numbers has none, so each of its
members is trained alone here, in both arms, on rows that are drawn for it.
"""

import argparse
import json
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import spearmanr

from benchmarks import common
from ensemble.analysis.example_measures import compute_measures
from ensemble.analysis.numeric.normal_mixture import NormalMixture
from ensemble.analysis.predictions import evaluate_predictions
from ensemble.config import EnsembleConfig, RegressionConfig
from ensemble.engine import Trainer
from ensemble.engine.numeric import NumericTrainer, TrainingRows

Doubles = NDArray[np.float64]

MEMBERS, TRAINING_SETS, TRAINING_SIZE, TEST_SIDE = 10, 5, 500, 32
CLASS_EPOCHS, NUMBER_EPOCHS, BATCH = 60, 100, 50
RATE = 0.003
WIDTHS = (8, 50, 200)
GAP = (0.35, 0.65)
SEEDS, BOTH = "seeds", "seeds + bootstrap"
ARMS = {SEEDS: False, BOTH: True}
Figures = dict[str, float]


class NumberNetwork(NamedTuple):
    """A network that predicts numbers, and the rate at which its training converges."""

    width: int
    depth: int = 2
    rate: float = RATE


BIASED_NETWORKS = {
    "linear": NumberNetwork(1, 0, 0.03),
    "width 2": NumberNetwork(2, 1, 0.01),
    "width 50": NumberNetwork(50),
}


class LabeledPoints(NamedTuple):
    """Points of the unit square as images of 1 × 2 pixels, as a Trainer takes them."""

    train_images: NDArray[np.uint8]
    train_labels: NDArray[np.int32]
    test_images: NDArray[np.uint8]
    test_labels: NDArray[np.int32]
    class_names: tuple[str, ...] = ("0", "1")
    train_groups: None = None


def compute_class_truth(points: Doubles) -> Doubles:
    """The true probability of class 1 at points (N, 2) of the unit square: from 0.05 to 0.95."""
    wave = np.sin(2 * np.pi * points[:, 0]) * np.cos(np.pi * points[:, 1])
    return np.asarray(0.5 + 0.45 * wave)


def compute_entropy(share: Doubles) -> Doubles:
    """The entropy in nats of two classes, the second of which has these probabilities (N,)."""
    return np.asarray(-share * np.log(share) - (1 - share) * np.log1p(-share))


def compute_wave(x: Doubles) -> Doubles:
    """The true mean of the numbers at x in [0, 1]."""
    return np.asarray(np.sin(2 * np.pi * x))


def compute_noise(x: Doubles) -> Doubles:
    """The true standard deviation of the numbers at x: it rises from 0.1 to 0.4."""
    return np.asarray(0.1 + 0.3 * x)


def draw_points(seed: int) -> LabeledPoints:
    """Draw labeled training points, and an even grid of test points."""
    draws = np.random.default_rng(seed)
    train = draws.integers(0, 256, (TRAINING_SIZE, 2)).astype(np.uint8)
    axis = np.linspace(0, 255, TEST_SIDE).astype(np.uint8)
    test = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)
    train_labels, test_labels = (
        (draws.random(len(pixels)) < compute_class_truth(pixels / 255)).astype(np.int32) for pixels in (train, test)
    )
    train_images, test_images = (pixels.reshape(-1, 1, 2, 1) for pixels in (train, test))
    return LabeledPoints(train_images, train_labels, test_images, test_labels)


def train_classes(points: LabeledPoints, width: int, bootstrap: bool, seed: int) -> Doubles:
    """Train members on labeled points; returns their probabilities (M, N, 2) of test points."""
    config = EnsembleConfig(
        network="mlp",
        width=width,
        members=MEMBERS,
        epochs=CLASS_EPOCHS,
        batch_size=BATCH,
        optimizer="adamw",
        learning_rate=RATE,
        shuffle_per_member=True,
        bootstrap=bootstrap,
        seed=seed,
    )
    trainer = Trainer(config, points)
    state = trainer.start()
    for epoch in range(1, config.epochs + 1):
        state, _ = trainer.train(state, epoch, 0, trainer.steps_per_epoch)
    evaluation = trainer.evaluate(state)
    assert evaluation is not None
    return np.asarray(evaluation.probabilities, np.float64)


def measure_class_split(probabilities: Doubles, points: LabeledPoints) -> Figures:
    """Compare both parts of the uncertainty (M, N, 2) with the truth, in nats.

    The true aleatoric part is the entropy of the true probabilities. What the ensemble does not
    know is the divergence of its probabilities from the true ones: its excess expected log loss.
    """
    truth = compute_class_truth(points.test_images.reshape(-1, 2) / 255)
    predictions = evaluate_predictions(probabilities, points.test_labels)
    measures = compute_measures(predictions)
    said = np.clip(predictions.averaged[:, 1].astype(np.float64), 1e-12, 1 - 1e-12)
    excess = -truth * np.log(said) - (1 - truth) * np.log1p(-said) - compute_entropy(truth)
    return summarize_split(measures["aleatoric"], measures["epistemic"], compute_entropy(truth), excess)


def train_numbers(
    x: Doubles, y: Doubles, at: Doubles, network: NumberNetwork, bootstrap: bool, seed: int
) -> NormalMixture:
    """Train one member per seed on rows (N,); returns what they predict at `at`."""
    draws, answers = np.random.default_rng(seed), []
    for member in range(MEMBERS):
        config = RegressionConfig(
            members=1,
            width=network.width,
            depth=network.depth,
            epochs=NUMBER_EPOCHS,
            batch_size=BATCH,
            learning_rate=network.rate,
            seed=seed * MEMBERS + member,
        )
        rows = draws.integers(0, len(x), len(x)) if bootstrap else np.arange(len(x))
        trainer = NumericTrainer(config, TrainingRows(encode(x[rows]), y[rows].astype(np.float32)))
        state = trainer.init_members()
        for epoch in range(1, config.epochs + 1):
            state, _ = trainer.train(state, epoch, 0, trainer.steps_per_epoch)
        answer = trainer.predict(state, encode(at))
        assert answer is not None
        answers.append(np.concatenate(answer).astype(np.float64))
    means, variances = np.stack(answers, axis=1)
    return NormalMixture(means, variances)


def encode(x: Doubles) -> NDArray[np.float32]:
    """The column x as features (N, 1) from -2 to 2."""
    return (4 * x[:, None] - 2).astype(np.float32)


def measure_number_split(mixture: NormalMixture, at: Doubles, noise: Doubles) -> Figures:
    """Compare both parts of the variance with the truth at points (N,)."""
    error = (mixture.compute_mean() - compute_wave(at)) ** 2
    parts = mixture.compute_aleatoric_variance(), mixture.compute_epistemic_variance()
    return summarize_split(*parts, noise**2, error)


def summarize_split(aleatoric: Doubles, epistemic: Doubles, noise: Doubles, error: Doubles) -> Figures:
    """Means of the parts and of the truth, (N,) each, and rank correlations.

    `entanglement` is the rank correlation of the two parts, `finds_error` that of the epistemic
    part and the true error.
    """
    return {
        "aleatoric": float(aleatoric.mean()),
        "noise": float(noise.mean()),
        "epistemic": float(epistemic.mean()),
        "error": float(error.mean()),
        "entanglement": float(spearmanr(aleatoric, epistemic).statistic),
        "finds_error": float(spearmanr(epistemic, error).statistic),
    }


def measure_classes(width: int, bootstrap: bool, seed: int) -> Figures:
    """Train on one set of labeled points and measure."""
    points = draw_points(seed)
    return measure_class_split(train_classes(points, width, bootstrap, seed), points)


def measure_gap(width: int, bootstrap: bool, seed: int) -> Figures:
    """Train on one set of rows with a gap; in the gap, the parts again and how they rise there."""
    draws = np.random.default_rng(seed)
    x = draws.random(TRAINING_SIZE) * (1 - (GAP[1] - GAP[0]))
    x += np.where(x > GAP[0], GAP[1] - GAP[0], 0)
    y = draws.normal(compute_wave(x), compute_noise(x))
    at = (np.arange(1000) + 0.5) / 1000
    mixture = train_numbers(x, y, at, NumberNetwork(width), bootstrap, seed)
    inside = (at > GAP[0]) & (at < GAP[1])
    known, unknown = (
        measure_number_split(
            NormalMixture(mixture.mean[:, part], mixture.variance[:, part]), at[part], compute_noise(at[part])
        )
        for part in (~inside, inside)
    )
    return {**known, **{f"gap_{name}": value for name, value in unknown.items()}}


def measure_bias(network: NumberNetwork, bootstrap: bool, seed: int) -> Figures:
    """Train on one set of rows without a gap."""
    draws = np.random.default_rng(seed)
    x, noise = draws.random(TRAINING_SIZE), 0.2
    y = draws.normal(compute_wave(x), noise)
    at = (np.arange(1000) + 0.5) / 1000
    mixture = train_numbers(x, y, at, network, bootstrap, seed)
    return measure_number_split(mixture, at, np.full(len(at), noise))


def measure_arms(measure: Callable[[bool, int], Figures], training_sets: int) -> dict[str, Figures]:
    """Means over training sets in both arms, and the geometric mean factor between them."""
    each = {arm: [measure(bootstrap, seed) for seed in range(training_sets)] for arm, bootstrap in ARMS.items()}
    told = {
        arm: {name: float(np.mean([one[name] for one in figures])) for name in figures[0]}
        for arm, figures in each.items()
    }
    for figures in told.values():
        if "gap_epistemic" in figures:
            figures["gap_rise"] = figures["gap_epistemic"] / figures["epistemic"]
    seeds, both = (np.array([one["epistemic"] for one in figures]) for figures in each.values())
    factors = np.log(both / seeds)
    factor = float(np.exp(factors.mean()))
    told[BOTH] |= {"factor": factor, "factor_standard_error": factor * float(factors.std(ddof=1)) / len(factors) ** 0.5}
    return told


def main() -> None:
    """Measure every dataset and network, and print a line for each."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="two training sets; nothing is kept")
    quick = parser.parse_args().quick
    settings: dict[tuple[str, str], Callable[[bool, int], Figures]] = {}
    for width in WIDTHS:
        settings["classes", f"width {width}"] = partial(measure_classes, width)
    for width in WIDTHS:
        settings["gap", f"width {width}"] = partial(measure_gap, width)
    for name, network in BIASED_NETWORKS.items():
        settings["bias", name] = partial(measure_bias, network)
    lines = []
    for (dataset, name), measure in settings.items():
        for arm, figures in measure_arms(measure, 2 if quick else TRAINING_SETS).items():
            rounded = {key: float(f"{value:.3g}") for key, value in figures.items()}
            lines.append({"dataset": dataset, "network": name, "members": arm, **rounded})
            print(json.dumps(lines[-1]), flush=True)
    if not quick:
        common.keep("uncertainty_split", {"lines": lines})


if __name__ == "__main__":
    main()
