"""Runs and members that are no better than guessing: which they are, why, and what to try."""

import contextlib
import math
from functools import lru_cache

from ensemble.analysis.inference.chance_level import is_accuracy_at_chance, is_at_chance, may_be_at_chance
from ensemble.analysis.quality.averaging import average_probabilities, most_likely_classes
from ensemble.config import CLASSIFICATION, EnsembleConfig
from ensemble.datasets.registry import DatasetEntry, find_dataset_entry
from ensemble.errors import ConfigError, DataError, RunError
from ensemble.jobs.network_probe import read_network_advice
from ensemble.optimizers import OPTIMIZERS, SGD
from ensemble.runs import Run, find_run, load_test_set, read_run_predictions
from ensemble.wording import formats
from ensemble.wording.formats import join_items
from ensemble.wording.runs import networks

# A rate and a momentum that work on every dataset here: no advice goes above what they come to,
# nor on images of colour above the half of it where that was needed.
_SAFE_RATE, _SAFE_MOMENTUM = networks.USUAL_RATE, networks.USUAL_MOMENTUM
_MIN_STEPS = 50
# States in which what was reached is what there will be.
ENDED_STATES = ("finished", "imported")
_MAX_JUDGED_RUNS = 256  # whose votes are judged once


def is_chance_accuracy(share: float | None, data: DatasetEntry) -> bool:
    """Return whether a share of right test images, in [0, 1], shows on its own that it is guessed.

    See `is_accuracy_at_chance`. An accuracy that is not known is not at chance.
    """
    if share is None or not math.isfinite(share):
        return False
    return is_accuracy_at_chance(
        share * data.test_size, data.test_size, _compute_guessing_rate(data), len(data.class_names)
    )


def _compute_guessing_rate(data: DatasetEntry) -> float:
    """The share of the test images, in [0, 1], that the most frequent class alone gets right."""
    return data.most_frequent / data.test_size


def is_run_at_chance(run: Run) -> bool:
    """Return whether a run has finished with an ensemble that only guesses: no success."""
    return run.task == CLASSIFICATION and _list_chance_levels(run)[0]


def list_members_at_chance(run: Run) -> list[int]:
    """Return the members, from 1, that only guess at the end of a finished run."""
    return [member for member, guesses in enumerate(_list_chance_levels(run)) if member and guesses]


def _list_chance_levels(run: Run) -> list[bool]:
    """Return whether a run's ensemble, and then each of its members, only guesses at its end.

    Predictions are read only if an accuracy leaves it open. If they are lost, accuracies decide.
    """
    size, rate = run.data.test_size, _compute_guessing_rate(run.data)
    shares = [run.status.ensemble_test_accuracy, *run.status.member_test_accuracy]
    if run.state not in ENDED_STATES or not any(
        share is not None and math.isfinite(share) and may_be_at_chance(share * size, size, rate) for share in shares
    ):
        return [False] * len(shares)
    try:
        levels = _judge_votes(run.id, run.status.epoch, str(run.path), run.status.updated)
    except (DataError, RunError):
        return [is_chance_accuracy(share, run.data) for share in shares]
    return [levels.get(member, False) for member in range(len(shares))]


@lru_cache(maxsize=_MAX_JUDGED_RUNS)
def _judge_votes(run_id: str, epoch: int, _path: str, _updated: float) -> dict[int, bool]:
    """Return whether a run's ensemble (0) and each remaining member (from 1) only guesses.

    The path and the time of the last change only tell versions of a run apart.
    """
    probabilities, test_set = read_run_predictions(run_id, epoch), load_test_set(find_run(run_id))
    averaged = most_likely_classes(average_probabilities(probabilities))
    levels = {0: is_at_chance(averaged, test_set.labels, test_set.groups)}
    for member, own in zip(find_run(run_id).remaining_members(epoch), probabilities, strict=True):
        levels[member + 1] = is_at_chance(
            most_likely_classes(own), test_set.labels, test_set.groups, tests=len(probabilities)
        )
    return levels


def format_chance_state(run: Run, state: str) -> str:
    """The state in words: "finished at chance level" where that is so."""
    return f"{state} at chance level" if state in ENDED_STATES and is_run_at_chance(run) else state


def format_short_state(run: Run) -> str:
    """The state for a narrow column: "guesses" where it has finished and only does that.

    "imported" of one that came in a report, whatever its state was: it was not made here.
    """
    return "guesses" if is_run_at_chance(run) else "imported" if run.origin else run.state


def describe_chance_level(run: Run) -> str:
    """What is wrong, the likely cause and what to try, of a run or of single members; else ""."""
    sentence = describe_guessing(run)
    if not sentence or run.training_config is None:
        return sentence
    return f"{sentence} {explain_run_chance_level(run, run.training_config)}"


def describe_guessing(run: Run) -> str:
    """Who is at chance level: "At chance level: 9.2 % right, guessing gives 10.2 %."; else ""."""
    n = run.data.test_size
    guess = f"guessing gives {formats.format_percent(_compute_guessing_rate(run.data), n)}."
    if is_run_at_chance(run):
        right = formats.format_percent(run.status.ensemble_test_accuracy, n)
        return f"At chance level: {right} right, {guess}"
    if not (members := list_members_at_chance(run)):
        return ""
    shares = [formats.format_percent(run.status.member_test_accuracy[m - 1], n) for m in members]
    if len(members) == 1:
        return f"Member {members[0]} is at chance level: {shares[0]} right, {guess}"
    return f"Members {join_items(members)} are at chance level: {join_items(shares)} right, {guess}"


def explain_run_chance_level(run: Run, config: EnsembleConfig) -> str:
    """The likely cause: what harms its network where something was seen, else its settings."""
    if advice := read_network_advice(run.path):
        return f"The likely cause is its network. {' '.join(advice)}"
    return explain_chance_level(config, run.status.step)


def explain_chance_level(config: EnsembleConfig, steps: int) -> str:
    """The likely cause after so many steps, and what to try instead.

    SGD with momentum m moves by rate / (1 − m) for each unit of a gradient that stays: too far
    at once, and no image reaches a relu's positive side any more: its gradient is 0 from then on.
    """
    if config.vary:
        return "Values that differ by member may be too high or too low: see the loss over them."
    rate = suggest_learning_rate(config, steps)
    if rate is None:
        done = formats.format_count(steps, "step")
        return f"It made only {done}: try more epochs, or smaller batches."
    if rate > config.learning_rate:
        return f"The usual cause is a learning rate too low for so few steps: try {rate:g}."
    return (
        "The usual cause is a learning rate too high for this momentum, at which relu units die "
        f"and learn no more: try {rate:g}."
    )


def suggest_learning_rate(config: EnsembleConfig, steps: int) -> float | None:
    """A learning rate more likely to work with this momentum, to one significant figure.

    A third of one that is too high, and no more than is known to work; what is known to work,
    where it was less than a tenth of that. None where it may be right and the steps too few, and
    where members differ.
    """
    if config.vary:
        return None
    worked = _compute_safe_rate(config)
    if config.learning_rate < worked / 10:
        return worked
    if config.learning_rate <= worked * (1 + 1e-9) and steps < _MIN_STEPS:
        return None
    tried = min(config.learning_rate / 3, worked) * (1 + 1e-9)
    decade = 10.0 ** math.floor(math.log10(tried))
    return max(1e-5, float(f"{math.floor(tried / decade) * decade:.0e}"))


def _compute_safe_rate(config: EnsembleConfig) -> float:
    """The highest rate that is known to work: as far a step as with 0.9, at most that rate.

    Steps of other optimizers than SGD do not grow with the momentum: theirs is the usual rate.
    """
    optimizer = OPTIMIZERS[config.optimizer]
    if optimizer is not SGD:
        return optimizer.usual_rate
    in_colour = False
    with contextlib.suppress(ConfigError):  # a dataset that is gone
        in_colour = find_dataset_entry(config.dataset).image_shape[2] == 3
    rate = networks.HALF_RATE if in_colour and config.network in networks.GUESSING_MEMBERS else _SAFE_RATE
    return min(rate, rate * (1 - config.momentum) / (1 - _SAFE_MOMENTUM))
