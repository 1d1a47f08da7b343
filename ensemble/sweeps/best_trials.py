"""What a sweep's best trial is worth: which others are not shown to be worse, and how flattered."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ensemble import runs
from ensemble.analysis.inference.image_groups import Groups, number_groups
from ensemble.analysis.inference.unseen_mistakes import estimate_mistake_nll, saved_nll_p_value
from ensemble.analysis.members.gain import SIGNIFICANCE_LEVEL, zero_rounding
from ensemble.analysis.quality.averaging import most_likely_classes
from ensemble.analysis.quality.proper_scores import log_loss
from ensemble.config import CLASSIFICATION
from ensemble.datasets.partition.split import select_validation_indices
from ensemble.errors import EnsembleError
from ensemble.runs.test_set import load_run_dataset
from ensemble.runs.validation_predictions import evaluate_validation_predictions
from ensemble.sweeps.search_space import Axis, Value, ValueRange
from ensemble.sweeps.store import Sweep
from ensemble.sweeps.trials import Trial, find_best_trial

_HALVINGS = 200  # random ones, of the images: the mean over them has a tenth of one's error
MIN_IMAGES = 20  # of a half fewer say nothing of how a choice flatters
_EDGE_SHARE = 0.05  # of a range's width: nearer to its end a value stands at it


@dataclass(frozen=True)
class BestTrialEvidence:
    """A sweep's best trial by its first objective, beside the other complete ones.

    Attributes:
      best: the trial.
      equivalent: the other trials that are not shown to be worse on the images held out: p, by all
        pairs of trials (Bonferroni), is 0.05 or more. That is of these trained runs. Where each was
        trained several times, the spread between trainings may explain the difference as well.
      compared: how many trials were compared, the best among them.
      images: on how many images; one that several trainings held out counts once.
      optimism: by how much the best is expected to be worse on new images than on those that it was
        chosen on, in the objective's unit, at least 0; None of too few images.
      repeats: how many times each was trained.
      training_losses: of each compared trial, by its number, the mean loss of each training.
    """

    best: Trial
    equivalent: tuple[Trial, ...]
    worse: tuple[Trial, ...]
    images: int
    optimism: float | None
    repeats: int
    training_losses: Mapping[int, tuple[float, ...]]

    @property
    def compared(self) -> tuple[Trial, ...]:
        """The trials that were compared, in the order of their numbers."""
        return tuple(sorted((self.best, *self.equivalent, *self.worse), key=lambda trial: trial.number))


def judge_best_trial(sweep: Sweep, trials: Sequence[Trial]) -> BestTrialEvidence | None:
    """The best trial held against the others, image by image, and training by training.

    Trials that are trained several times have the same seeds, so that each training has its images
    in common with that of every other trial. One is worse where both `find_worse_losses` and
    `find_worse_trainings` say so.

    None where the objective is no mean over images, where trials predict numbers, where there is one
    trial, or where predictions of the best are not to be had.

    Args:
      sweep: whose.
      trials: of it; the complete ones count whose predictions can be read, of every training, and
        are of the images that the best one held out.
    """
    goal = sweep.config.objective_names[0]
    best = find_best_trial(sweep, list(trials)) if trials else None
    if best is None or goal not in ("nll", "accuracy") or sweep.config.base.task != CLASSIFICATION:
        return None
    complete = [trial for trial in trials if trial.state == "complete" and trial is not best]
    repeats = sweep.config.repeats
    own = _measure_losses(best, goal, repeats)
    if own is None:
        return None
    others = [(trial, losses) for trial in complete if (losses := _measure_losses(trial, goal, repeats))]
    same = [(trial, losses) for trial, losses in others if losses.images == own.images]
    if not same:
        return None
    every = [own, *(losses for _, losses in same)]
    each = np.array([losses.each for losses in every])
    costs = np.array([losses.mistake_nll for losses in every]) if goal == "nll" else None
    groups = _number_repeated_images(best) if repeats > 1 else None
    worse = find_worse_losses(each, costs, groups)
    if repeats > 1:
        worse &= find_worse_trainings(np.array([losses.means for losses in every]))
    images = each.shape[1] if groups is None else int(groups.max()) + 1
    optimism = estimate_selection_optimism(each)
    return BestTrialEvidence(
        best=best,
        equivalent=tuple(trial for (trial, _), is_worse in zip(same, worse, strict=True) if not is_worse),
        worse=tuple(trial for (trial, _), is_worse in zip(same, worse, strict=True) if is_worse),
        images=images,
        optimism=optimism,
        repeats=repeats,
        training_losses={best.number: own.means} | {trial.number: losses.means for trial, losses in same},
    )


def find_worse_losses(
    losses: NDArray[np.float64], mistake_nlls: NDArray[np.float64] | None = None, groups: Groups | None = None
) -> NDArray[np.bool_]:
    """Which of T − 1 candidates are shown to be worse than the first, which is the best.

    The best was picked on the same examples, so that any two might have been compared: each p is
    multiplied by the number of pairs (Bonferroni).

    Args:
      losses: (T, N), of each candidate on each example, the best's first.
      mistake_nlls: (T,), what each loses where it is wrong (`estimate_mistake_nll`); None where
        the losses are no NLL.
      groups: (N,), which examples belong together; None where all are independent.

    Returns:
      (T − 1,).
    """
    extra = np.zeros(len(losses)) if mistake_nlls is None else mistake_nlls[0] - mistake_nlls
    pairs = len(losses) * (len(losses) - 1) // 2
    return np.array(
        [
            pairs * saved_nll_p_value(zero_rounding(other - losses[0]), more, groups) < SIGNIFICANCE_LEVEL
            for other, more in zip(losses[1:], extra[1:].tolist(), strict=True)
        ],
        bool,
    )


def find_worse_trainings(values: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Which of T − 1 candidates are worse than the first by more than trainings differ.

    The means of all pairs are compared by the studentized range (Tukey's test), as the first was
    picked for its mean. The variance is what trial and training leave of a two-way layout without
    interaction: trainings of one seed share their images, so what these do to all trials alike is
    no noise. Where the differences of a pair spread more than that, their own variance counts: some
    settings train less steadily than others.

    Args:
      values: (T, R), the mean loss of each candidate in each of R ≥ 2 trainings, the best's first.

    Returns:
      (T − 1,).

    Source: J. W. Tukey, "Comparing individual means in the analysis of variance", Biometrics 5
    (1949), 99-114.
    """
    from scipy.stats import studentized_range

    trials, repeats = values.shape
    freedom = (trials - 1) * (repeats - 1)
    rest = values - values.mean(axis=1, keepdims=True) - values.mean(axis=0) + values.mean()
    pooled = float((rest**2).sum()) / freedom
    differences = values[1:] - values[0]
    squared_errors = np.maximum(2 * pooled, differences.var(axis=1, ddof=1)) / repeats
    critical = float(studentized_range.isf(SIGNIFICANCE_LEVEL, trials, freedom))
    worse = np.sqrt(2) * differences.mean(axis=1) > critical * np.sqrt(squared_errors)
    return np.asarray(worse, bool)


def estimate_selection_optimism(losses: NDArray[np.float64]) -> float | None:
    """By how much the least of T mean losses is expected to rise on new examples.

    The examples are halved at random, the best is chosen on one half, and what it loses on the
    other is averaged. Half as many examples flatter √2 times as much, for which it is corrected.

    Args:
      losses: (T, N), of each candidate on each example.

    Returns:
      At least 0; None of too few examples.
    """
    n = losses.shape[1]
    if n < 2 * MIN_IMAGES:
        return None
    draw, half = np.random.default_rng(0), n // 2
    totals, rises = losses.sum(axis=1), []
    for _ in range(_HALVINGS):
        chosen_on = draw.permutation(n)[:half]
        first = losses[:, chosen_on].sum(axis=1)
        best = int(first.argmin())
        rises.append((totals[best] - first[best]) / (n - half) - first[best] / half)
    return max(0.0, float(np.mean(rises)) / np.sqrt(2))


def list_edge_settings(axes: dict[str, Axis], params: dict[str, Value]) -> dict[str, str]:
    """The numbers among the best settings that stand at an end of what was searched.

    Args:
      axes: of the search space.
      params: the best trial's value of each.

    Returns:
      "lowest" or "highest" by the setting's name.
    """
    ends = {}
    for name, axis in axes.items():
        value = params.get(name)
        if isinstance(value, bool) or not isinstance(value, int | float):
            continue
        if isinstance(axis, ValueRange):
            low, high = float(axis.low), float(axis.high)
            margin = 0.0 if axis.whole else _EDGE_SHARE
        else:
            numbers = [v for v in axis.values if isinstance(v, int | float) and v is not True]
            if len(numbers) < 2:
                continue
            low, high, margin = float(min(numbers)), float(max(numbers)), 0.0
        place = _locate_value(float(value), low, high, isinstance(axis, ValueRange) and axis.log)
        if place <= margin:
            ends[name] = "lowest"
        elif place >= 1 - margin:
            ends[name] = "highest"
    return ends


def _locate_value(value: float, low: float, high: float, log: bool) -> float:
    """Where in a range a value stands, from 0 to 1."""
    if log:
        value, low, high = (float(np.log(number)) for number in (value, low, high))
    return (value - low) / (high - low)


class _TrialLosses(NamedTuple):
    """A trial's loss on each image that it held out, training after training.

    Attributes:
      each: (N,), of all R trainings.
      images: which images these are.
      mistake_nll: what it loses where it is wrong, in nats (`estimate_mistake_nll`).
      means: (R,), of each training.
    """

    each: NDArray[np.float64]
    images: tuple[object, ...]
    mistake_nll: float
    means: tuple[float, ...]


def _measure_losses(trial: Trial, goal: str, repeats: int) -> _TrialLosses | None:
    """None where one of the trainings is missing, or cannot be read."""
    trainings = [losses for run_id in trial.run_ids if (losses := _measure_run_losses(run_id, goal))]
    if len(trainings) != repeats:
        return None
    each = np.concatenate([training.each for training in trainings])
    sizes = [len(training.each) for training in trainings]
    mistakes = np.average([training.mistake_nll for training in trainings], weights=sizes)
    images = sum((training.images for training in trainings), start=())
    means = sum((training.means for training in trainings), start=())
    return _TrialLosses(each, images, float(mistakes), means)


def _number_repeated_images(trial: Trial) -> Groups | None:
    """The image of each loss, by number, where trainings held out the same ones; else None."""
    held = []
    for run in map(runs.find_run, trial.run_ids):
        data = load_run_dataset(run)
        held.append(select_validation_indices(runs.require_training_config(run), data))
    numbers = number_groups(np.concatenate(held))
    return None if numbers.max() + 1 == len(numbers) else numbers


def _measure_run_losses(run_id: str, goal: str) -> _TrialLosses | None:
    try:
        run = runs.find_run(run_id)
        epoch = run.status.best_epoch
        predictions = evaluate_validation_predictions(run, epoch) if epoch else None
    except EnsembleError:
        return None
    if predictions is None or run.training_config is None:
        return None
    labels = predictions.labels
    if goal == "nll":
        losses = log_loss(predictions.averaged, labels)
    else:
        losses = (most_likely_classes(predictions.averaged) != labels).astype(float)
    config = run.training_config
    images = config.dataset, config.validation, config.seed, len(labels)
    mistake_nll = estimate_mistake_nll(predictions.averaged)
    return _TrialLosses(losses, images, mistake_nll, (float(losses.mean()),))
