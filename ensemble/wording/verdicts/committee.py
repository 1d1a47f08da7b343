"""How many members are enough, in words: the verdict in a line, and what carries it."""

from collections.abc import Sequence
from math import comb

import numpy as np
import pandas as pd

from ensemble.analysis.members import committee as committees
from ensemble.analysis.members.committee import Committee
from ensemble.analysis.members.enough import Enough, SizeVerdict
from ensemble.analysis.members.subsets import drawn_at_most
from ensemble.wording import formats
from ensemble.wording.verdicts import chosen

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


def everyone(M: int) -> str:
    """All M members."""
    return "both members" if M == 2 else f"all {M} members"


def looked_at(judged: Committee) -> str:
    """Whether these are all committees, in words."""
    if judged.exact:
        return f"All {len(judged.size):,} committees that {judged.members} members can form"
    there_are = formats.significant(2**judged.members - 1)
    return (
        f"{len(judged.size):,} of about {there_are} committees that {judged.members} members can "
        f"form: of each size all, or {drawn_at_most(judged.members)} drawn at random (seed 0)"
    )


def worth(judged: Committee, noun: str) -> pd.DataFrame:
    """What is lost without each member."""
    found, M = committees.worth(judged), judged.members
    return pd.DataFrame(
        {
            "member": [str(member) for member in range(1, M + 1)],
            "alone": [formats.percent(share, judged.n) for share in judged.accuracy[:M]],
            "without it": [formats.digits(-share * judged.n, noun) for share in found.accuracy],
            "NLL without it": [signed(loss) for loss in found.nll],
        }
    )


def signed(value: float) -> str:
    """A difference to two significant figures, with its sign."""
    sign = "+" if value > 0 else "−" if value < 0 else "±"
    return f"{sign}{formats.significant(abs(value), 2)}"


def best_by(held_out: bool) -> str:
    """By what and on which images the best committees are chosen."""
    if not held_out:
        return f"By NLL, {chosen.ON_TEST}."
    return f"By NLL, {chosen.ON_VALIDATION}; the figures are those of all test images."


def best(judged: Committee, picked: Sequence[tuple[int, ...]]) -> pd.DataFrame:
    """The best committee of each size, the smallest first, with its figures."""
    rows = [row_of(judged, who) for who in picked]
    return pd.DataFrame(
        {
            "size": [str(size) for size in range(1, judged.members + 1)],
            "NLL": [formats.significant(judged.nll[row]) for row in rows],
            "accuracy": [formats.percent(judged.accuracy[row], judged.n) for row in rows],
            "members": [spoken(who, judged.members) for who in picked],
        }
    )


def row_of(judged: Committee, who: tuple[int, ...]) -> int:
    """Where the committee of these members stands."""
    mask = sum(1 << member for member in who)
    return int(np.flatnonzero(judged.masks == np.uint64(mask))[0])


def spoken(who: tuple[int, ...], members: int) -> str:
    """The members of a committee: "1, 3, 4"; "all" of them."""
    return "all" if len(who) == members else ", ".join(str(member + 1) for member in who)


def without(members: int) -> str:
    """What stands below `worth`."""
    return (
        f"Without it: {everyone(members)} against all but this one. A member that is poor alone "
        "can still be worth having, if it errs elsewhere."
    )
