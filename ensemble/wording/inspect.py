"""The answer of Inspect in words: what the ensemble is better by."""

from ensemble.analysis.predictions import Predictions
from ensemble.wording import formats

NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
           "eleven", "twelve")  # fmt: skip
LUCK = 0.05  # a p at least this large may be luck


def number(value: int) -> str:
    """A number in a sentence: in letters up to twelve."""
    return NUMBERS[value] if value < len(NUMBERS) else f"{value:,}"


def p_value(p: float) -> str:
    """A p as "p = 0.004" or "p < 0.001", on one line."""
    text = "p < 0.001" if p < 0.001 else f"p = {p:.3f}" if p < 0.1 else f"p = {p:.2f}"
    return text.replace(" ", "\N{NO-BREAK SPACE}")


def alone(made: Predictions, noun: str) -> str:
    """The answer where there is one member."""
    n, right = len(made.labels), int(made.right.sum())
    return (
        f"One member alone: there is no ensemble to hold against it. It gets {right:,} of "
        f"{formats.count(n, noun)} right."
    )


def gain(made: Predictions, won: int, lost: int, p: float, noun: str) -> str:
    """What the ensemble wins and loses against a typical member, and whether that is luck.

    Args:
      made: the predictions.
      won: how many images only the ensemble has right.
      lost: how many only the typical member has right.
      p: McNemar's p of the two.
      noun: what an image is called.
    """
    if not made.split.any():
        same = (
            "both members say" if made.members == 2 else f"all {number(made.members)} members say"
        )
        return f"{same.capitalize()} the same of every {noun}, so together they gain nothing."
    if not won and not lost:
        return f"The ensemble gets the same {noun}s right as a typical member: no gain."
    gets = f"{formats.count(won, noun)} right" if won else f"no {noun} right"
    said = f"The ensemble gets {gets} that a typical member misses, and loses"
    if won == lost:
        return f"{said} as many: no gain."
    more = won - lost
    change = f"{abs(more):,} {'more' if more > 0 else 'fewer'}"
    luck = "and more than luck" if p < LUCK else "which may be luck"
    return f"{said} {f'{lost:,}' if lost else 'none'}: {change}, {luck} ({p_value(p)})."


def over_all(p: float, low: float) -> str:
    """What is added where one member is too few to tell, but all of them together are not.

    Args:
      p: McNemar's p of the ensemble against a typical member.
      low: the lower end of the interval of the gain over the mean member, in images.
    """
    if p < LUCK or low <= 0:
        return ""
    return "Over its members on average the gain is more than luck."
