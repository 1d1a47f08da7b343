"""What a sweep's best trial is worth: which others are not shown to be worse, and how flattered."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ensemble import runs
from ensemble.analysis.inference.image_groups import Groups, number_groups
from ensemble.analysis.inference.unseen_mistakes import estimate_mistake_nll, saved_nll_interval, saved_nll_p_value
from ensemble.analysis.members.gain import SIGNIFICANCE_LEVEL, zero_rounding
from ensemble.analysis.quality.averaging import most_likely_classes
from ensemble.analysis.quality.proper_scores import log_loss
from ensemble.config import REGRESSION
from ensemble.datasets.partition.split import select_validation_indices
from ensemble.errors import EnsembleError
from ensemble.runs.test_set import load_run_dataset
from ensemble.runs.validation_predictions import evaluate_validation_predictions
from ensemble.sweeps.search_space import Axis, Value, ValueRange
from ensemble.sweeps.store import Sweep
from ensemble.sweeps.trials import Trial, find_best_trial
from ensemble.tables.prepared_table import read_prepared_table

_HALVINGS = 200  # random ones, of the images: the mean over them has a tenth of one's error
MIN_IMAGES = 20  # of a half fewer say nothing of how a choice flatters
_JUDGED_OBJECTIVES = ("nll", "accuracy", "rmse", "crps")  # means over examples, or the root of one
_EDGE_SHARE = 0.05  # of a range's width: nearer to its end a value stands at it


class _NextTrial(NamedTuple):
    """The second best trial, and by how much its objective is worse than the best one's.

    Attributes:
      trial: the trial.
      difference: at least 0, in the objective's unit; an accuracy is lower, all else higher by it.
      low, high: its interval, which holds with 95 % for all pairs of trials together; above 0 exactly if
        the trial is shown to be worse.
    """

    trial: Trial
    difference: float
    low: float
    high: float


@dataclass(frozen=True)
class BestTrialEvidence:
    """A sweep's best trial by its first objective, beside the other complete ones.

    Attributes:
      best: the trial.
      equivalent: the other trials that are not shown to be worse on the images held out: p, by all
        pairs of trials (Bonferroni), is 0.05 or more. That is of these trained runs. Where each was
        trained several times, the spread between trainings may explain the difference as well.
      compared: how many trials were compared, the best among them.
      next: the second best of them.
      images: on how many images, or rows of a table; one that several trainings held out counts once.
      groups: in how many groups these are that count as one each; None if all are independent.
      unit: of a table's target; "" if none is given, and for images.
      optimism: by how much the best is expected to be worse on new images than on those that it was
        chosen on, in the objective's unit, at least 0; None of too few images.
      repeats: how many times each was trained.
      training_losses: of each compared trial, by its number, the mean loss of each training.
    """

    best: Trial
    equivalent: tuple[Trial, ...]
    worse: tuple[Trial, ...]
    next: _NextTrial
    images: int
    groups: int | None
    unit: str
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

    None where the objective is no mean over examples, where there is one trial, or where predictions
    of the best are not to be had.

    Args:
      sweep: whose.
      trials: of it; the complete ones count whose predictions can be read, of every training, and
        are of the images that the best one held out.
    """
    goal = sweep.config.objective_names[0]
    best = find_best_trial(sweep, list(trials)) if trials else None
    if best is None or goal not in _JUDGED_OBJECTIVES:
        return None
    complete = [trial for trial in trials if trial.state == "complete" and trial is not best]
    repeats = sweep.config.repeats
    own = _measure_losses(best, goal, repeats)
    if own is None:
        return None
    others = [(trial, losses) for trial in complete if (losses := _measure_losses(trial, goal, repeats))]
    same = [(trial, losses) for trial, losses in others if losses.held == own.held]
    if not same:
        return None
    every = [own, *(losses for _, losses in same)]
    each = np.array([losses.each for losses in every])
    costs = np.array([losses.mistake_nll for losses in every])
    means = np.array([losses.means for losses in every])
    images, groups = _number_examples(best)
    worse = find_worse_losses(each, costs, groups)
    if repeats > 1:
        worse &= find_worse_trainings(means)
    optimism = estimate_selection_optimism(each, groups)
    if optimism and goal == "rmse":
        optimism = float(np.sqrt(each[0].mean() + optimism) - np.sqrt(each[0].mean()))
    place = min(range(1, len(every)), key=lambda number: float(means[number].mean()))
    low, high = _compute_difference_interval(each, costs, groups, means, place, is_root=goal == "rmse")
    second = same[place - 1][0]
    return BestTrialEvidence(
        best=best,
        equivalent=tuple(trial for (trial, _), is_worse in zip(same, worse, strict=True) if not is_worse),
        worse=tuple(trial for (trial, _), is_worse in zip(same, worse, strict=True) if is_worse),
        next=_NextTrial(second, abs(second.values[0] - best.values[0]), low, high),
        images=images,
        groups=None if groups is None or (count := int(groups.max()) + 1) == images else count,
        unit=runs.find_run(best.run_id).unit,
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
    differences, margins = _compute_training_margins(values)
    return np.asarray(differences > margins, bool)


def _compute_training_margins(values: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """(T − 1,) each: how much means exceed the first, and half the width of Tukey's intervals."""
    from scipy.stats import studentized_range

    trials, repeats = values.shape
    freedom = (trials - 1) * (repeats - 1)
    rest = values - values.mean(axis=1, keepdims=True) - values.mean(axis=0) + values.mean()
    pooled = float((rest**2).sum()) / freedom
    differences = values[1:] - values[0]
    squared_errors = np.maximum(2 * pooled, differences.var(axis=1, ddof=1)) / repeats
    critical = float(studentized_range.isf(SIGNIFICANCE_LEVEL, trials, freedom))
    return differences.mean(axis=1), critical * np.sqrt(squared_errors / 2)


def _compute_difference_interval(
    losses: NDArray[np.float64],
    mistake_nlls: NDArray[np.float64],
    groups: Groups | None,
    means: NDArray[np.float64],
    place: int,
    *,
    is_root: bool,
) -> tuple[float, float]:
    """The interval of one candidate's mean loss less the first one's, of the tests that find the worse ones.

    Args:
      losses: (T, N), as of `find_worse_losses`.
      mistake_nlls: (T,), likewise.
      groups: likewise.
      means: (T, R), as of `find_worse_trainings`.
      place: of the candidate.
      is_root: whether the objective is the root of the mean loss: differences of squares are divided
        by the sum of both roots.
    """
    pairs = len(losses) * (len(losses) - 1) // 2
    saved = zero_rounding(losses[place] - losses[0])
    extra = float(mistake_nlls[0] - mistake_nlls[place])
    ends = saved_nll_interval(saved, extra, groups, 1 - SIGNIFICANCE_LEVEL / pairs)
    roots = np.sqrt(losses[[0, place]].mean(axis=1)).sum() if is_root else 1.0
    low, high = (float(end / roots) if roots else 0.0 for end in ends)
    if means.shape[1] == 1:
        return low, high
    differences, margins = (float(each[place - 1]) for each in _compute_training_margins(means))
    return min(low, differences - margins), max(high, differences + margins)


def estimate_selection_optimism(losses: NDArray[np.float64], groups: Groups | None = None) -> float | None:
    """By how much the least of T mean losses is expected to rise on new examples.

    The examples are halved at random, the best is chosen on one half, and what it loses on the
    other is averaged. Half as many examples flatter √2 times as much, for which it is corrected.

    Args:
      losses: (T, N), of each candidate on each example.
      groups: (N,), which examples belong together, and are in one half; None if all are independent.

    Returns:
      At least 0; None of too few examples, or groups.
    """
    n = losses.shape[1]
    sizes = np.ones(n) if groups is None else np.bincount(groups)
    if groups is not None:
        losses = np.array([np.bincount(groups, candidate) for candidate in losses])
    if len(sizes) < 2 * MIN_IMAGES:
        return None
    draw, half = np.random.default_rng(0), len(sizes) // 2
    totals, rises = losses.sum(axis=1), []
    for _ in range(_HALVINGS):
        chosen_on = draw.permutation(len(sizes))[:half]
        count = sizes[chosen_on].sum()
        first = losses[:, chosen_on].sum(axis=1)
        best = int(first.argmin())
        rises.append((totals[best] - first[best]) / (n - count) - first[best] / count)
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
      each: (N,), of all R trainings; squared errors for the RMSE.
      held: which images these are.
      mistake_nll: what it loses where it is wrong, in nats (`estimate_mistake_nll`); 0 where the loss
        is not the NLL of classes.
      means: (R,), of each training, in the objective's unit.
    """

    each: NDArray[np.float64]
    held: tuple[object, ...]
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
    held = sum((training.held for training in trainings), start=())
    means = sum((training.means for training in trainings), start=())
    return _TrialLosses(each, held, float(mistakes), means)


def _number_examples(trial: Trial) -> tuple[int, Groups | None]:
    """How many examples its trainings held out, and the group of each loss; None if all are independent.

    Examples of one group count as one, and so does one that several trainings held out.
    """
    held, groups = [], []
    for run in map(runs.find_run, trial.run_ids):
        if run.task == REGRESSION:
            table = read_prepared_table(run.path)
            rows, every = table.split.validation, table.groups
        else:
            data = load_run_dataset(run)
            rows, every = select_validation_indices(runs.require_training_config(run), data), data.train_groups
        held.append(rows)
        groups.append(rows if every is None else every[rows])
    numbers = number_groups(np.concatenate(groups))
    is_independent = numbers.max() + 1 == len(numbers)
    return len(np.unique(np.concatenate(held))), None if is_independent else numbers


def _measure_run_losses(run_id: str, goal: str) -> _TrialLosses | None:
    try:
        run = runs.find_run(run_id)
        if run.settings is None or not (epoch := run.status.best_epoch):
            return None
        measure = _measure_row_losses if run.task == REGRESSION else _measure_image_losses
        return measure(run, epoch, goal)
    except EnsembleError:
        return None


def _measure_image_losses(run: runs.Run, epoch: int, goal: str) -> _TrialLosses | None:
    if (predictions := evaluate_validation_predictions(run, epoch)) is None:
        return None
    labels, config = predictions.labels, runs.require_training_config(run)
    if goal == "nll":
        losses = log_loss(predictions.averaged, labels)
    else:
        losses = (most_likely_classes(predictions.averaged) != labels).astype(float)
    held = config.dataset, config.validation, config.seed, len(labels)
    mistake_nll = estimate_mistake_nll(predictions.averaged) if goal == "nll" else 0.0
    return _TrialLosses(losses, held, mistake_nll, (float(losses.mean()),))


def _measure_row_losses(run: runs.Run, epoch: int, goal: str) -> _TrialLosses:
    from ensemble.runs.numeric.numeric_predictions import read_numeric_validation  # which takes SciPy

    predicted, targets = read_numeric_validation(run, epoch)
    losses = predicted.compute_losses(targets.values)["squared_error" if goal == "rmse" else goal]
    mean = float(np.sqrt(losses.mean()) if goal == "rmse" else losses.mean())
    return _TrialLosses(losses, (targets.values.tobytes(),), 0.0, (mean,))
