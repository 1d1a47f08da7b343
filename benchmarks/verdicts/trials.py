"""One test set drawn, one verdict given: whether what was said is wrong of the population."""

import math
from collections.abc import Callable
from functools import cache
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.verdicts.populations import CLASSES, Population, exchangeable
from ensemble.analysis.members.broken_members import judge_member_removal
from ensemble.analysis.members.committees import evaluate_committees
from ensemble.analysis.members.gain import compute_gain, gain_over_mean_member
from ensemble.analysis.members.sufficient_size import DEFAULT_MARGINS, REQUIRED_SHARE, find_sufficient_size
from ensemble.analysis.predictions import evaluate_predictions
from ensemble.analysis.quality.averaging import average_probabilities, most_likely_classes, prediction_confidence
from ensemble.analysis.quality.calibration_test import calibration_test
from ensemble.analysis.quality.class_scores import ScoreInterval, measure_class_scores
from ensemble.analysis.quality.proper_scores import log_loss
from ensemble.analysis.quality.temperature_scaling import compare_fitted_temperatures
from ensemble.sweeps.best_trials import find_worse_losses
from ensemble.views.run_comparison import compute_gain_signs

Doubles = NDArray[np.float64]
SEED = 17
PROMISED = 0.05
COPIES, GROUP_SIZE, TRIALS = 5, 25, 20


class Setting(NamedTuple):
    """Under what a verdict is tried.

    Attributes:
      n: N, examples of a test set.
      members: M.
      loss: the true loss, in margins: 0, or 2 for twice the margin.
    """

    n: int
    members: int
    loss: float


class Told(NamedTuple):
    """What one test set made of a verdict: whether a claim was made, and whether it is wrong."""

    claimed: bool
    wrong: bool


Trial = Callable[[Setting, np.random.Generator], Told]


@cache
def population(members: int) -> Population:
    """The one population of so many members; the same in every process."""
    return exchangeable(members, np.random.default_rng([SEED, members]))


def enough_by_accuracy(setting: Setting, rng: np.random.Generator) -> Told:
    """So many members are enough, by accuracy."""
    return _enough("accuracy", setting, rng)


def enough_by_nll(setting: Setting, rng: np.random.Generator) -> Told:
    """So many members are enough, by NLL."""
    return _enough("nll", setting, rng)


def loses_accuracy(setting: Setting, rng: np.random.Generator) -> Told:
    """Fewer members lose more than the margin of accuracy."""
    return _loses("accuracy", setting, rng)


def loses_nll(setting: Setting, rng: np.random.Generator) -> Told:
    """Fewer members lose more than the margin of NLL."""
    return _loses("nll", setting, rng)


def calibrated(setting: Setting, rng: np.random.Generator) -> Told:
    """It is too sure, or less sure than it is right: of what is calibrated by its making."""
    probabilities, labels = population(setting.members).draw_calibrated(setting.n, rng)
    averaged = average_probabilities(probabilities)
    verdict = calibration_test(prediction_confidence(averaged), most_likely_classes(averaged) == labels).verdict
    return Told(verdict != "none", verdict != "none")


def temperature_helps(setting: Setting, rng: np.random.Generator) -> Told:
    """A temperature lowers the NLL: of what is calibrated by its making."""
    temperatures = compare_fitted_temperatures(*population(setting.members).draw_calibrated(setting.n, rng))
    return Told(temperatures.scaled_average.improves_nll, temperatures.scaled_average.improves_nll)


def gain_in_accuracy(setting: Setting, rng: np.random.Generator) -> Told:
    """The ensemble gets more right, or fewer, than a member drawn at random."""
    universe, truth = _over_a_member(setting.members, -setting.loss * DEFAULT_MARGINS["accuracy"])
    accuracy_sign = gain_over_mean_member(evaluate_predictions(*universe.draw(setting.n, rng))).accuracy_sign
    return Told(accuracy_sign != 0, accuracy_sign != 0 and accuracy_sign != np.sign(truth))


def better_run(setting: Setting, rng: np.random.Generator) -> Told:
    """One run is better than another by accuracy or by NLL, both tested at once.

    Which is which is drawn anew for every image, so neither is better. With a true loss the
    first is worse by both, and to call it better is wrong.
    """
    both = population(2 * setting.members)
    if setting.loss:
        both = _apart(setting.members, setting.loss)
    probabilities, labels = both.draw(setting.n, rng)
    averaged = average_probabilities(probabilities[: setting.members])
    other_averaged = average_probabilities(probabilities[setting.members :])
    if not setting.loss:
        swapped = rng.random(setting.n) < 0.5
        averaged, other_averaged = (
            np.where(swapped[:, None], second, first)
            for first, second in ((averaged, other_averaged), (other_averaged, averaged))
        )
    gain_signs = compute_gain_signs(compute_gain(averaged, other_averaged, labels))
    return Told(any(gain_signs), any(gain_signs) if not setting.loss else 1 in gain_signs)


def better_run_of_copies(setting: Setting, rng: np.random.Generator) -> Told:
    """`better_run`, on a test set that holds each image `COPIES` times, which is known."""
    return _better_run_in_groups(setting, rng, COPIES, alike=True)


def better_run_of_writers(setting: Setting, rng: np.random.Generator) -> Told:
    """`better_run`, on images in groups, in each of which one run is the better one."""
    return _better_run_in_groups(setting, rng, GROUP_SIZE, alike=False)


def calibrated_copies(setting: Setting, rng: np.random.Generator) -> Told:
    """`calibrated`, on a test set that holds each image `COPIES` times, which is known."""
    once = setting.n // COPIES
    probabilities, labels = population(setting.members).draw_calibrated(once, rng)
    averaged = np.repeat(average_probabilities(probabilities), COPIES, axis=0)
    right = most_likely_classes(averaged) == np.repeat(labels, COPIES)
    groups = np.repeat(np.arange(once), COPIES)
    verdict = calibration_test(prediction_confidence(averaged), right, groups=groups).verdict
    return Told(verdict != "none", verdict != "none")


def better_without(setting: Setting, rng: np.random.Generator) -> Told:
    """The ensemble is better without one member: wrong but where the first one is noise."""
    probabilities, labels = population(setting.members).draw(setting.n, rng)
    if setting.loss:
        probabilities = probabilities.copy()
        probabilities[0] = rng.dirichlet(np.ones(probabilities.shape[2]), setting.n)
    removal = judge_member_removal(evaluate_predictions(probabilities, labels))
    claimed = removal is not None and removal.is_better
    is_noise = claimed and removal is not None and removal.member == 0 and bool(setting.loss)
    return Told(claimed, claimed and not is_noise)


def worse_trials(setting: Setting, rng: np.random.Generator) -> Told:
    """Of 20 trials that differ by chance alone some are worse than the best: wrong of any is not.

    Each is one network, the least loss on the images that are drawn is the best; a claim is wrong
    where the network that is said to be worse is truly as good.
    """
    universe = population(TRIALS)
    probabilities, labels = universe.draw(setting.n, rng)
    losses = np.array([log_loss(trial, labels) for trial in probabilities])
    order = np.argsort(losses.mean(axis=1), kind="stable")
    worse = find_worse_losses(losses[order])
    truth = _true_losses()[order]
    return Told(bool(worse.any()), bool((worse & (truth[1:] <= truth[0])).any()))


@cache
def _true_losses() -> Doubles:
    """(TRIALS,), what each network of that population loses on average on all its examples."""
    universe = population(TRIALS)
    return np.array([universe.mean(_nll(universe, [trial])) for trial in range(TRIALS)])


def _better_run_in_groups(setting: Setting, rng: np.random.Generator, size: int, alike: bool) -> Told:
    """Two runs neither of which is better: in each group it is drawn anew which is which."""
    count = setting.n // size
    probabilities, labels = population(2 * setting.members).draw(count if alike else count * size, rng)
    first = average_probabilities(probabilities[: setting.members])
    second = average_probabilities(probabilities[setting.members :])
    groups = np.repeat(np.arange(count), size)
    if alike:
        first, second = np.repeat(first, size, axis=0), np.repeat(second, size, axis=0)
        labels = np.repeat(labels, size)
    swapped = (rng.random(count) < 0.5)[groups][:, None]
    first, second = np.where(swapped, second, first), np.where(swapped, first, second)
    gain_signs = compute_gain_signs(compute_gain(first, second, labels, groups))
    return Told(any(gain_signs), any(gain_signs))


def lower_nll_of_the_surer(setting: Setting, rng: np.random.Generator) -> Told:
    """Of two the surer one has the lower NLL: it truly saves so many margins of it."""
    universe = _with_a_surer_one(setting.members, setting.loss)
    (blunt, surer), labels = universe.draw(setting.n, rng)
    nll_sign = compute_gain_signs(compute_gain(surer, blunt, labels))[1]
    return Told(nll_sign != 0, nll_sign < 0 if setting.loss else nll_sign != 0)


@cache
def _with_a_surer_one(members: int, loss: float) -> Population:
    """An ensemble, and the same at half its temperature, which saves so many margins of NLL."""
    universe = population(members)
    averaged = average_probabilities(universe.probabilities)
    surer = averaged**2 / (averaged**2).sum(axis=1, keepdims=True)
    both = np.stack([averaged, surer]).astype(np.float32)
    pair = Population(both, universe.labels, universe.weights)
    saved = log_loss(both[0], universe.labels) - log_loss(both[1], universe.labels)
    return pair.tilted(saved, loss * DEFAULT_MARGINS["nll"])


def weakest_class(setting: Setting, rng: np.random.Generator) -> Told:
    """A class is right less often than the others: which is of which class is drawn anew."""
    probabilities, labels = population(setting.members).draw(setting.n, rng)
    hits, classes = most_likely_classes(average_probabilities(probabilities)) == labels, CLASSES
    drawn = rng.integers(classes, size=setting.n)
    said = np.where(hits, drawn, (drawn + 1) % classes)
    p = measure_class_scores(np.eye(classes)[said], said, drawn).lowest_p
    return Told(p < PROMISED, p < PROMISED)


def interval_of_balanced_accuracy(setting: Setting, rng: np.random.Generator) -> Told:
    """The 95 % interval of the balanced accuracy holds the true one."""
    return _class_average("balanced_accuracy", setting, rng)


def interval_of_macro_f1(setting: Setting, rng: np.random.Generator) -> Told:
    """The 95 % interval of the macro F1 holds the true one."""
    return _class_average("macro_f1", setting, rng)


def _class_average(name: str, setting: Setting, rng: np.random.Generator) -> Told:
    probabilities, labels = population(setting.members).draw(setting.n, rng)
    averaged = average_probabilities(probabilities)
    scores = measure_class_scores(averaged, most_likely_classes(averaged), labels)
    found: ScoreInterval = getattr(scores, name)
    return Told(True, not found.low <= _true_class_average(name, setting.members) <= found.high)


@cache
def _true_class_average(name: str, members: int) -> float:
    universe = population(members)
    averaged = average_probabilities(universe.probabilities)
    scores = measure_class_scores(averaged, most_likely_classes(averaged), universe.labels)
    value: float = getattr(scores, name).value
    return value


def interval_of_the_gain(setting: Setting, rng: np.random.Generator) -> Told:
    """The 95 % interval of the digits over a member drawn at random holds the true gain."""
    universe, truth = _over_a_member(setting.members, setting.loss * DEFAULT_MARGINS["accuracy"])
    gain = gain_over_mean_member(evaluate_predictions(*universe.draw(setting.n, rng)))
    return Told(True, not gain.digits_low <= truth * setting.n <= gain.digits_high)


def interval_of_the_difference(setting: Setting, rng: np.random.Generator) -> Told:
    """The 95 % interval of the digits between the ensemble and its first member holds the truth."""
    universe = population(setting.members)
    digits = _right(universe, range(setting.members)) - _right(universe, [0])
    universe = universe.tilted(digits, setting.loss * DEFAULT_MARGINS["accuracy"])
    probabilities, labels = universe.draw(setting.n, rng)
    gain = compute_gain(average_probabilities(probabilities), probabilities[0], labels)
    truth = setting.loss * DEFAULT_MARGINS["accuracy"] * setting.n
    return Told(True, not gain.digits_low <= truth <= gain.digits_high)


def bootstrap_of_the_difference(setting: Setting, rng: np.random.Generator) -> Told:
    """What the interval before was: by resampling the examples; for comparison."""
    universe = population(setting.members)
    digits = _right(universe, range(setting.members)) - _right(universe, [0])
    universe = universe.tilted(digits, setting.loss * DEFAULT_MARGINS["accuracy"])
    probabilities, labels = universe.draw(setting.n, rng)
    apart = (most_likely_classes(average_probabilities(probabilities)) == labels) - 1.0 * (
        most_likely_classes(probabilities[0]) == labels
    )
    means = [rng.choice(apart, len(apart)).mean() for _ in range(400)]
    low, high = np.quantile(means, [0.025, 0.975])
    return Told(True, not low <= setting.loss * DEFAULT_MARGINS["accuracy"] <= high)


def interval_of_nll(setting: Setting, rng: np.random.Generator) -> Told:
    """The 95 % interval of the NLL between the ensemble and its first member holds the truth."""
    universe = population(setting.members)
    saved = _nll(universe, [0]) - _nll(universe, range(setting.members))
    universe = universe.tilted(saved, setting.loss * DEFAULT_MARGINS["nll"])
    probabilities, labels = universe.draw(setting.n, rng)
    gain = compute_gain(average_probabilities(probabilities), probabilities[0], labels)
    truth = setting.loss * DEFAULT_MARGINS["nll"]
    return Told(True, not gain.nll_low <= truth <= gain.nll_high)


def _enough(figure: str, setting: Setting, rng: np.random.Generator) -> Told:
    universe, kept = _committees(figure, setting.members, setting.loss)
    size = find_sufficient_size(evaluate_committees(*universe.draw(setting.n, rng), threads=1), figure).size
    claimed = size < setting.members
    return Told(claimed, claimed and not all(kept[size - 1 :]))


def _loses(figure: str, setting: Setting, rng: np.random.Generator) -> Told:
    universe, kept = _committees(figure, setting.members, setting.loss)
    failed = find_sufficient_size(
        evaluate_committees(*universe.draw(setting.n, rng), threads=1), figure
    ).first_insufficient
    claimed = failed is not None and failed.outcome == "loses"
    return Told(claimed, claimed and failed is not None and kept[failed.size - 1])


@cache
def _committees(figure: str, members: int, loss: float) -> tuple[Population, list[bool]]:
    """A population in which half of the members lose so many margins on average.

    Returns:
      It, and of the sizes 1 to M − 1 whether they truly keep the margin.
    """
    losses, half = _losses(figure, members), max(1, members // 2)
    tilted = population(members).tilted(losses[half].mean(axis=0, dtype=np.float64), loss * DEFAULT_MARGINS[figure])
    kept = [
        int((tilted.mean(each) < DEFAULT_MARGINS[figure]).sum()) >= math.ceil(REQUIRED_SHARE * len(each) - 1e-9)
        for each in losses.values()
    ]
    return tilted, kept


@cache
def _losses(figure: str, members: int) -> dict[int, NDArray[np.float32]]:
    """By the sizes 1 to M − 1: (committees, P), what each loses on each example."""
    universe = population(members)
    metric = _nll if figure == "nll" else lambda source, chosen: -_right(source, chosen)
    whole = metric(universe, range(members))
    return {
        size: np.stack(
            [(metric(universe, chosen) - whole).astype(np.float32) for chosen in combinations(range(members), size)]
        )
        for size in range(1, members)
    }


@cache
def _over_a_member(members: int, gained: float) -> tuple[Population, float]:
    """A population in which the ensemble gains so much over a member drawn at random; the gain."""
    universe = population(members)
    share = np.mean([_right(universe, [member]) for member in range(members)], axis=0)
    return universe.tilted(_right(universe, range(members)) - share, gained), gained


@cache
def _apart(members: int, loss: float) -> Population:
    """Two ensembles, the first of which loses so many margins of accuracy, and not less NLL."""
    both = population(2 * members)
    first, second = range(members), range(members, 2 * members)
    worse = _right(both, second) - _right(both, first)
    return both.tilted(worse, loss * DEFAULT_MARGINS["accuracy"])


def _right(universe: Population, chosen: "range | list[int] | tuple[int, ...]") -> Doubles:
    """(P,), 1 where a committee is right."""
    hits = most_likely_classes(average_probabilities(universe.probabilities[list(chosen)])) == universe.labels
    return hits.astype(np.float64)


def _nll(universe: Population, chosen: "range | list[int] | tuple[int, ...]") -> Doubles:
    """(P,), a committee's NLL."""
    return log_loss(average_probabilities(universe.probabilities[list(chosen)]), universe.labels)
