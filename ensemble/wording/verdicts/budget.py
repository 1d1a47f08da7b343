"""An ensemble against one wider network of the same cost, in words."""

from collections.abc import Sequence

from ensemble.budget.settings import Name
from ensemble.budget.verdict import Standing
from ensemble.budget.widths import own_width
from ensemble.comparison.differences import Difference
from ensemble.runs.store import trained_here
from ensemble.wording import formats
from ensemble.wording.runs.networks import operations
from ensemble.wording.verdicts.inspect import p_value, signed
from ensemble.wording.verdicts.side_by_side import columns, with_ends

SAME: dict[Name, str] = {"ensemble": "", "flops": "FLOPs", "seconds": "seconds"}
CHOSEN = (
    "Rates were chosen on the validation images with the first seed, epochs on those of each run; "
    "all figures are of the test images."
)
NOT_EQUAL = "That no difference is shown does not mean that they are the same."


def called(one: Standing) -> str:
    """What a competitor is: "4 members", "one network of the same FLOPs, 2 × as wide"."""
    if not one.competitor.single:
        return formats.count(one.members, "member")
    what = " and ".join(SAME[name] for name in one.competitor.names)
    network = str(trained_here(one.competitor.runs[0]).network)
    times = formats.significant(one.competitor.width / own_width(network), 2)
    return f"one network of the same {what}, {times} × as wide"


def lines(found: Sequence[Standing]) -> list[str]:
    """A table of all, what each difference is, and what it rests on.

    Args:
      found: the ensemble first.
    """
    noun = found[0].competitor.runs[0].data.noun
    head = ["", "width", "rate", "FLOPs", "time a run", "accuracy", "NLL"]
    said = columns([head, *(_cells(one) for one in found)])
    said += ["", *(against(one, noun) for one in found if one.ahead)]
    said += [*filter(None, map(rate_doubt, found)), CHOSEN, basis(found)]
    if any(one.ahead and not (one.ahead.in_digits and one.ahead.in_nll) for one in found):
        said.append(NOT_EQUAL)
    return said


def against(one: Standing, noun: str) -> str:
    """Which wins, the ensemble or this single network, and by how much."""
    assert one.ahead is not None
    return f"Against {called(one)}: {winner(one.ahead)} {by_how_much(one.ahead, noun)}"


def winner(found: Difference) -> str:
    """Which is shown to win, and by what."""
    shown = {found.in_digits: "accuracy", found.in_nll: "NLL"}
    if not (found.in_digits or found.in_nll):
        return "no difference is shown."
    if found.in_digits == found.in_nll:
        who = "the ensemble wins" if found.in_nll > 0 else "the one network wins"
        return f"{who} by accuracy and by NLL."
    if found.in_digits and found.in_nll:
        return f"the ensemble wins by {shown[1]}, the one network by {shown[-1]}."
    sign = found.in_digits or found.in_nll
    who = "the ensemble wins" if sign > 0 else "the one network wins"
    return f"{who} by {shown[sign]}; no difference is shown in the other figure."


def by_how_much(found: Difference, noun: str) -> str:
    """What the ensemble is ahead by, with both intervals; below zero the one network is."""
    places = 0 if found.over == "images" else 1
    ends = f"{signed(found.digits_low, places)} to {signed(found.digits_high, places)}"
    nll = f"{signed(-found.nll_high)} to {signed(-found.nll_low)}"
    return (
        f"The ensemble has {formats.digits(found.digits, noun)} right of {found.n:,} (95 %: "
        f"{ends}; {p_value(found.adjusted)}), NLL {signed(-found.nll)} (95 %: {nll}; "
        f"{p_value(found.nll_adjusted)})."
    )


def rate_doubt(one: Standing) -> str:
    """That the best rate was at an end of those tried, so that a better one may lie beyond."""
    end = one.competitor.at_the_end
    if not end:
        return ""
    side, way = ("highest", "higher") if end > 0 else ("lowest", "lower")
    return (
        f"Of {called(one)} the {side} rate that was tried was best: a {way} one may do better "
        "(--rates)."
    )


def basis(found: Sequence[Standing]) -> str:
    """What the intervals hold for."""
    tests = 2 * sum(one.ahead is not None for one in found)
    adjusted = f"Each p is adjusted for all {tests} tests (Holm)."
    if any(len(one.competitor.runs) < 2 for one in found):
        alone = "Intervals are for these trained runs on new images: another seed may differ."
        return f"{alone} {adjusted}"
    crossed = "Intervals are for other seeds on new images (runs and images crossed; Owen 2007)."
    return f"{crossed} {adjusted}"


def _cells(one: Standing) -> list[str]:
    figures, run = one.figures, one.competitor.runs[0]
    places = formats.decimals(run.data.test_size)
    config = trained_here(run)
    return [
        called(one),
        f"{one.competitor.width or own_width(str(config.network)):,}",
        formats.significant(one.competitor.rate, 2),
        operations(one.members * one.cost.flops),
        formats.duration(one.seconds),
        with_ends(figures["accuracy"], lambda share: f"{100 * share:.{places}f}", " %"),
        with_ends(figures["nll"], formats.significant),
    ]
