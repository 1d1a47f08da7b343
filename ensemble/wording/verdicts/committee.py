"""How many members are enough, in words: the verdict in a line, and what carries it."""

from math import comb

from ensemble.analysis.members.enough import Enough, SizeVerdict
from ensemble.wording import formats

# What each figure is called in a sentence, and where it is counted in something, in what.
FIGURES = {"accuracy": "accuracy", "nll": "NLL", "brier": "the Brier score"}
UNITS = {"accuracy": "points", "nll": "nats", "brier": ""}


def loss(value: float, figure: str) -> str:
    """A loss of a figure: "0.1 points", "0.005 nats", "0.002" (of the Brier score)."""
    said = formats.significant(abs(value) * (100 if figure == "accuracy" else 1), 2)
    said = said.rstrip("0").rstrip(".") if "." in said else said
    return f"{'−' if value < 0 else ''}{said} {UNITS[figure]}".strip()


def of_figure(value: float, figure: str) -> str:
    """A loss with its figure: "0.1 points of accuracy"."""
    return f"{loss(value, figure)} of {FIGURES[figure]}"


def verdict(found: Enough, noun: str) -> str:
    """How many members are enough, in one line of one claim, with its figure.

    What may be lost comes first: a gain of the whole that is shown does not contradict that
    fewer are enough for who accepts to lose it.

    Args:
      found: of two or more members.
      noun: what an image is called.
    """
    M, margin = found.members, of_figure(found.margin, found.figure)
    if found.passed:
        verb = "is" if found.size == 1 else "are"
        cases = "all" if found.share == 1 else formats.percent(found.share, figures=2)
        return (
            f"If {margin} may be lost, {found.size} of {M} members {verb} enough, in {cases} "
            f"{'cases' if found.share == 1 else 'of cases'}."
        )
    failed = found.sizes[0]
    if failed.outcome == "loses":
        takes = "both" if M == 2 else f"all {M}"
        return f"{losers(failed).capitalize()} over {margin}: it takes {takes}."
    if failed.examples is None:
        fewer = f"{failed.size} of {M} members {'is' if failed.size == 1 else 'are'} enough"
        bound = of_figure(failed.bound, found.figure)
        return f"Whether {fewer} is open: up to {bound} may be lost."
    what, wanted = FIGURES[found.figure].removeprefix("the "), failed.examples
    return (
        f"{formats.count(found.n, noun)} cannot tell if {failed.size} of {M} members keep the "
        f"{what}: it takes about {formats.significant(wanted, 2)}."
    )


def losers(one: SizeVerdict) -> str:
    """How many committees of a size are at least shown to lose more, and the verb."""
    least = one.committees - one.needed + 1
    return f"at least {least:,} of {who(one)} {'loses' if least == 1 else 'lose'}"


def who(one: SizeVerdict) -> str:
    """The committees of a size: "4 committees of 3", "4 single members"."""
    if one.size == 1:
        return f"{one.committees:,} single members"
    return f"{one.committees:,} committees of {one.size}"


def evidence(found: Enough, noun: str) -> str:
    """What carries the verdict: the smallest size that is enough, and the next smaller one."""
    said = [of_size(found, one, noun) for one in (found.passed, found.failed) if one]
    return " ".join([*said, "Each claim is wrong at most 5 % of the time."])


def at_worst(one: SizeVerdict, figure: str) -> str:
    """What those that are needed lose at most, or gain at least, with the verb."""
    verb, end = ("gain", "least") if one.bound < 0 else ("lose", "most")
    return f"{verb}{'s' if one.needed == 1 else ''} {loss(abs(one.bound), figure)} at {end}"


def of_size(found: Enough, one: SizeVerdict, noun: str) -> str:
    """What the test set shows of one size."""
    figure = found.figure
    drawn = one.committees < comb(found.members, one.size)
    they = f"{who(one)}{' that were drawn' if drawn else ''}"
    average = (
        f"On average the {they} {'gain' if one.loss < 0 else 'lose'} "
        f"{of_figure(abs(one.loss), figure)} against all {found.members}"
    )
    if one.outcome == "enough":
        return f"{average}; {one.needed:,} of them {at_worst(one, figure)}."
    if one.outcome == "loses":
        return f"{average}; {losers(one)} over {loss(found.margin, figure)}."
    open_ = (
        f"{average}; that {one.needed:,} of them keep to {loss(found.margin, figure)} is not "
        f"shown, nor that they do not: their losses may be up to {loss(one.bound, figure)}"
    )
    if one.examples is None:
        return (
            f"{open_}. Were nothing really lost, most sets of {formats.count(found.n, noun)} would "
            "have shown it."
        )
    return (
        f"{open_}. {formats.count(found.n, noun)} cannot settle that margin: if nothing is really "
        f"lost it takes about {formats.significant(one.examples, 2)}."
    )
