"""How a budget is best spent, in words: the plan, what else would do, and what it would take."""

from ensemble.analysis.planning.choice import Choice
from ensemble.analysis.planning.equivalents import Equivalent
from ensemble.analysis.planning.grid import Plan
from ensemble.analysis.planning.losses import Loss
from ensemble.analysis.planning.power import ToBeSure
from ensemble.planning.cautions import Caution
from ensemble.planning.costs import Costs
from ensemble.planning.two_plans import TwoPlans
from ensemble.wording import formats
from ensemble.wording.verdicts import chosen

NAMES = {"nll": "NLL", "accuracy": "Accuracy"}

CAUTIONS: dict[Caution, str] = {
    "schedule": "The learning rate falls to zero with the last epoch, so earlier epochs were still "
    "on their way: a run of fewer epochs with a schedule of its own would probably do better than "
    "the map says. Train one to be sure.",
    "warm-up": "The learning rate was still warming up.",
    "set aside": "Members whose loss was no longer a number are in no plan here, nor is what they "
    "cost: a plan may draw such a member too, and then comes to less.",
    "varied": "Members differ in their settings, so a committee here is a mixture of them: a plan "
    "at one value may do better or worse.",
    "augmentation": "Images are moved or mirrored anew in every epoch, so epochs beyond the last "
    "one here may bring more than the map suggests.",
    "stopped early": "The run was stopped early: epochs that it did not train are not in the map.",
    "one member": "With one member nothing is known of how much members differ: intervals are of "
    "the images alone.",
    "drawn": "Of the committees of each size some were drawn at random, every member in as many; "
    "sizes of one and of all but one are complete.",
    "thinned": "There are more epochs than the map has: evenly spread ones are looked at.",
}


def called(plan: Plan) -> str:
    """A plan: "3 members for 5 epochs"."""
    return f"{formats.count(plan.members, 'member')} for {formats.count(plan.epochs, 'epoch')}"


def value(figure: str, share: float, n: int) -> str:
    """A figure as it is on every screen: "0.0712", "98.12 %"."""
    return formats.percent(share, n) if figure == "accuracy" else formats.significant(share)


def ends(figure: str, low: float, high: float, n: int) -> str:
    """An interval in brackets: "(0.065 to 0.078)"."""
    first = value(figure, low, n)
    return f"({first.removesuffix(' %')} to {value(figure, high, n)})"


def loss(figure: str, size: float) -> str:
    """A loss in its unit: "0.0021 nats", "0.12 points"."""
    unit, scale = ("points", 100) if figure == "accuracy" else ("nats", 1)
    return f"{formats.significant(abs(size) * scale, 2)} {unit}"


def budget(costs: Costs, passes: int) -> str:
    """What a budget comes to: "1,200,000 img·member, about 3 min"."""
    plan = Plan(1, passes)
    seconds = costs.seconds(plan)
    about = "" if seconds is None else f", {'' if seconds < 1 else 'about '}"
    about += "" if seconds is None else formats.duration(seconds)
    return f"{formats.significant(costs.work(plan))} img·member{about}"


def headline(found: Choice, n: int) -> str:
    """The best plan for the budget, in one line.

    Args:
      found: the choice.
      n: on how many test images it is reported.
    """
    best = found.of_best
    said = value(found.figure, best.mean, n)
    interval = ends(found.figure, best.low, best.high, n)
    return f"Best: {called(found.best)}, {NAMES[found.figure]} {said} {interval}."


def evidence(found: Choice, costs: Costs, chosen_on: str) -> str:
    """What else would do, what the cheapest of it costs, and on which images it was chosen.

    Args:
      found: the choice.
      costs: what plans cost.
      chosen_on: "validation" or "test".
    """
    return f"{others(found, costs)} The best is {chosen.how(chosen_on)}."


def others(found: Choice, costs: Costs) -> str:
    """How many of the plans may be the best, and the cheapest of them."""
    if found.paid == 1:
        return "The budget pays for no other plan."
    every = f"Of the {found.paid:,} plans that it pays for"
    if len(found.candidates) == 1:
        return f"{every}, this one is the best (95 %)."
    said = f"{every}, the best is one of {len(found.candidates):,} (95 %)"
    cheapest = found.cheapest
    if cheapest == found.best:
        return f"{said}, none of which does as well for less."
    said = f"{said}. The cheapest of these is {called(cheapest)} ({budget(costs, cheapest.cost)})"
    if found.runner_up and found.runner_up.plan == cheapest:  # what it loses is said next
        return f"{said}."
    (lost,) = (one for one in found.losses if one.plan == cheapest)
    return f"{said}: {compared(found.figure, lost)}."


def runner_up(found: Choice, costs: Costs, n: int, members: int) -> str:
    """What the second best loses, and what it would take to be sure of that; "" without one.

    Args:
      found: the choice.
      costs: what plans cost.
      n: on how many test images.
      members: of how many members.
    """
    second = found.runner_up
    if second is None or found.sure is None:
        return ""
    said = f"Second: {called(second.plan)}, {compared(found.figure, second)}."
    if second.shown:
        return said
    epochs = max(second.plan.epochs, found.best.epochs)
    return f"{said} {to_be_sure(found.sure, costs, n, members, epochs)}"


def compared(figure: str, one: Loss) -> str:
    """What a plan loses against another: "worse by 0.002 nats (95 %: 0.0004 to 0.0036)"."""
    low, high = _ends(figure, one)
    open_ = "" if one.shown else ", which may be chance"
    if not one.mean:
        return (
            f"level with it (95 %: {low} to {high} {'points' if figure == 'accuracy' else 'nats'})"
        )
    side = "better" if one.mean < 0 else "worse"
    return f"{side} by {loss(figure, one.mean)} (95 %: {low} to {high}){open_}"


def _ends(figure: str, one: Loss) -> tuple[str, str]:
    """Both ends of a loss, or of the gain where it is one, in its unit."""
    scale = 100 if figure == "accuracy" else 1
    low, high = (one.low, one.high) if one.mean >= 0 else (-one.high, -one.low)
    return _signed(low * scale), _signed(high * scale)


def _signed(number: float) -> str:
    return f"{'−' if number < 0 else ''}{formats.significant(abs(number), 2)}"


def to_be_sure(found: ToBeSure, costs: Costs, n: int, members: int, epochs: int) -> str:
    """What it would take to tell two plans apart, and what that costs.

    Args:
      found: what it would take.
      costs: what plans cost.
      n: how many test images there are.
      members: how many members there are.
      epochs: for how many epochs further members would have to be trained.
    """
    if found.times is None:
        return "There is no difference between them to be sure of."
    ways = []
    if found.examples is not None and found.examples > n:
        ways.append(f"about {formats.significant(found.examples, 2)} test images")
    if found.members is not None and found.members > members:
        more = found.members - members
        cost = budget(costs, more * epochs)
        ways.append(f"about {formats.significant(more, 2)} more members ({cost})")
    if not ways:
        times = formats.significant(found.times, 2)
        return f"To tell them apart takes about {times} times as many images and members."
    return f"To tell them apart, if it is as large as it looks, takes {' or '.join(ways)}."


def cheaper(found: Choice, half: Loss | None) -> str:
    """What half of the cost would have come to, in one line.

    Args:
      found: the choice for all that the run has cost.
      half: what the best plan for half of it loses against that; None where there is none.
    """
    if half is None:
        return "Half of the cost pays for no epoch of a single member."
    if half.plan == found.best:
        return f"For half the cost: {called(found.best)}, the best plan of all."
    low, high = _ends(found.figure, half)
    size = f"{'better' if half.mean < 0 else 'worse'} by {loss(found.figure, half.mean)}"
    said = f"{size} ({low} to {high})" if half.mean else "level with the best"
    return f"For half the cost: {called(half.plan)}, {said}."


def two_plans(found: TwoPlans, first: str, second: str) -> str:
    """Which of two plans does better, in one line.

    Args:
      found: the comparison.
      first: what the first is called.
      second: what the second is.
    """
    name = NAMES[found.figure]
    one, other = (value(found.figure, each, found.n) for each in (found.first, found.second))
    if not found.loss.shown:
        return f"No difference shown: {first} {name} {one}, {second} {other}."
    better, said = (first, (one, other)) if found.loss.shown < 0 else (second, (other, one))
    return f"Better: {better}, {name} {said[0]} against {said[1]}."


def equivalent(found: Equivalent) -> str:
    """What predictions are worth: "1.7 independent members (95 %: 1.4 to 2.1)"."""
    if not found.value and not found.high:
        return "less than one independent member"
    low = "less than 1" if not found.low else _members(found.low, found.members)
    high = "less than 1" if not found.high else _members(found.high, found.members)
    between = f" (95 %: {low} to {high})" if low != high else ""
    said = "less than one" if not found.value else _members(found.value, found.members)
    return f"{said} independent member{'' if said in ('1.0', 'less than one') else 's'}{between}"


def _members(number: float, most: int) -> str:
    return f"more than {most}" if number > most else f"{number:.1f}"
