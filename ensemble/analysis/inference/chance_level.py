"""Whether a number of right answers is what guessing gets."""

from ensemble.analysis.inference.proportion_interval import wilson_interval

# Share of what can be gained above guessing that the interval has to rule out. If more is possible,
# there are too few examples to conclude that somebody only guesses.
MAX_CHANCE_GAIN = 0.25


def is_at_chance(right: float, examples: int, guessing_rate: float) -> bool:
    """Return whether so many right answers are what guessing gets, or fewer.

    The 95 % interval (Wilson) of the accuracy has to contain the guessing rate or lie below it, and
    to end below a quarter of what can be gained above it. Few examples show neither, so the answer
    is False for them. It is also False if only one class was tested (one example included), because
    naming that class is always right: guessing and knowing look the same.

    Args:
      right: number of right answers, in [0, examples].
      examples: number of examples.
      guessing_rate: share of the most frequent class among the examples, in (0, 1].
    """
    if guessing_rate >= 1 or not examples:
        return False
    low, high = wilson_interval(right, examples)
    return low <= guessing_rate and high < guessing_rate + MAX_CHANCE_GAIN * (1 - guessing_rate)
