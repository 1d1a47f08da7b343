"""Runs and members that are no better than guessing: which they are, why, and what to try."""

import math

from ensemble.analysis.inference.intervals import wilson
from ensemble.config import EnsembleConfig
from ensemble.datasets.registry import find
from ensemble.errors import ConfigError
from ensemble.runs import Run
from ensemble.wording import formats

# A rate and a momentum that work on every dataset here: no advice goes above what they come to.
RATE, MOMENTUM = 0.1, 0.9
FEW_STEPS = 50


def is_chance(share: float | None, dataset: str) -> bool:
    """Whether a share of the test images, in [0, 1], is not above what guessing gets.

    It is not where its 95 % interval (Wilson) holds the rate of the most frequent test class, or
    lies below it. What is not known is not at chance, nor is what was learnt of a dataset that is
    no longer there.
    """
    if share is None or not math.isfinite(share):
        return False
    try:
        entry = find(dataset)
    except ConfigError:
        return False
    low, _ = wilson(share * entry.test_size, entry.test_size)
    return low <= guessing(dataset)


def guessing(dataset: str) -> float:
    """The share of the test images, in [0, 1], that the most frequent class alone gets right."""
    entry = find(dataset)
    return entry.most_frequent / entry.test_size


def at_chance(run: Run) -> bool:
    """Whether a run has finished with an ensemble that only guesses: no success."""
    return run.state == "finished" and is_chance(
        run.status.ensemble_test_accuracy, run.config.dataset
    )


def members_at_chance(run: Run) -> list[int]:
    """The members, from 1, that only guess at the end of a finished run."""
    shares = run.status.member_test_accuracy if run.state == "finished" else []
    return [m + 1 for m, share in enumerate(shares) if is_chance(share, run.config.dataset)]


def state(run: Run, state: str) -> str:
    """The state in words: "finished at chance level" where that is so."""
    return f"{state} at chance level" if state == "finished" and at_chance(run) else state


def in_a_word(run: Run) -> str:
    """The state for a narrow column: "guesses" where it has finished and only does that."""
    return "guesses" if at_chance(run) else run.state


def verdict(run: Run) -> str:
    """What is wrong, the likely cause and what to try, of a run or of single members; else ""."""
    said = found(run)
    return f"{said} {advice(run.config, run.status.step)}" if said else ""


def found(run: Run) -> str:
    """Who is at chance level: "At chance level: 9.2 % right, guessing gives 10.2 %."; else ""."""
    name = run.config.dataset
    ensemble, members = at_chance(run), members_at_chance(run)
    if not (ensemble or members):
        return ""
    n = find(name).test_size
    guess = f"guessing gives {formats.percent(guessing(name), n)}."
    if ensemble:
        right = formats.percent(run.status.ensemble_test_accuracy, n)
        return f"At chance level: {right} right, {guess}"
    shares = [formats.percent(run.status.member_test_accuracy[m - 1], n) for m in members]
    if len(members) == 1:
        return f"Member {members[0]} is at chance level: {shares[0]} right, {guess}"
    return f"Members {listed(members)} are at chance level: {listed(shares)} right, {guess}"


def advice(config: EnsembleConfig, steps: int) -> str:
    """The likely cause after so many steps, and what to try instead.

    SGD with momentum m moves by rate / (1 − m) for each unit of a gradient that stays: too far
    at once, and no image reaches a relu's positive side any more: its gradient is 0 from then on.
    """
    rate = rate_to_try(config, steps)
    if rate is None:
        done = formats.count(steps, "step")
        return f"It made only {done}: try more epochs, or smaller batches."
    if rate > config.learning_rate:
        return f"The usual cause is a learning rate too low for so few steps: try {rate:g}."
    return (
        "The usual cause is a learning rate too high for this momentum, at which relu units die "
        f"and learn no more: try {rate:g}."
    )


def rate_to_try(config: EnsembleConfig, steps: int) -> float | None:
    """A learning rate more likely to work with this momentum, to one significant figure.

    A third of one that is too high, and no more than is known to work; what is known to work,
    where it was less than a tenth of that. None where it may be right, and the steps too few.
    """
    worked = known_to_work(config.momentum)
    if config.learning_rate < worked / 10:
        return worked
    if config.learning_rate <= worked * (1 + 1e-9) and steps < FEW_STEPS:
        return None
    tried = min(config.learning_rate / 3, worked) * (1 + 1e-9)
    decade = 10.0 ** math.floor(math.log10(tried))
    return max(1e-5, float(f"{math.floor(tried / decade) * decade:.0e}"))


def known_to_work(momentum: float) -> float:
    """The highest rate that is known to work: as far a step as with 0.9, at most that rate."""
    return min(RATE, RATE * (1 - momentum) / (1 - MOMENTUM))


def listed(words: list[int] | list[str]) -> str:
    """Several in a row: "2, 3 and 5"."""
    *first, last = map(str, words)
    return f"{', '.join(first)} and {last}" if first else last
