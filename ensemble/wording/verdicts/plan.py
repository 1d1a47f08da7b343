"""How a budget is best spent, in words: the plan, what else would do, and what it would take."""

from ensemble.analysis.planning.equivalents import MemberEquivalent
from ensemble.analysis.planning.plan_choice import PlanChoice
from ensemble.analysis.planning.plan_grid import EnsemblePlan
from ensemble.analysis.planning.plan_losses import PlanLoss
from ensemble.analysis.planning.power import RequiredSampleSize
from ensemble.planning.plan_cautions import Caution
from ensemble.planning.plan_comparison import PlanComparison
from ensemble.planning.plan_costs import PlanCosts
from ensemble.wording import formats
from ensemble.wording.verdicts import selection_basis

METRIC_NAMES = {"nll": "NLL", "accuracy": "Accuracy"}

CAUTIONS: dict[Caution, str] = {
    "schedule": "The learning rate falls to zero with the last epoch, so earlier epochs were still "
    "on their way: a run of fewer epochs with a schedule of its own would probably do better than "
    "the map says. Train one to be sure.",
    "warm-up": "The learning rate was still warming up.",
    "set aside": "Members that diverged are left out of every plan, and so is what they cost: a "
    "new run may have such a member too, and would then do worse.",
    "varied": "Members differ in their settings, so a committee here is a mixture of them: a plan "
    "at one value may do better or worse.",
    "augmentation": "Images are moved or mirrored anew in every epoch, so epochs beyond the last "
    "one here may bring more than the map suggests.",
    "stopped early": "The run was stopped early: epochs that it did not train are not in the map.",
    "one member": "With one member nothing is known of how much members differ: intervals are of the images alone.",
    "drawn": "Of the committees of each size some were drawn at random, every member in as many; "
    "sizes of one and of all but one are complete.",
    "thinned": "There are more epochs than the map has: evenly spread ones are looked at.",
}


def format_plan(plan: EnsemblePlan) -> str:
    """A plan: "3 members for 5 epochs"."""
    return f"{formats.format_count(plan.members, 'member')} for {formats.format_count(plan.epochs, 'epoch')}"


def format_plan_metric(figure: str, share: float, n: int) -> str:
    """A figure as it is on every screen: "0.0712", "98.12 %"."""
    return formats.format_percent(share, n) if figure == "accuracy" else formats.format_significant(share)


def _format_plan_interval(figure: str, low: float, high: float, n: int) -> str:
    """An interval in brackets: "(0.065 to 0.078)"."""
    first = format_plan_metric(figure, low, n)
    return f"({first.removesuffix(' %')} to {format_plan_metric(figure, high, n)})"


def _format_plan_loss(figure: str, size: float) -> str:
    """A loss in its unit: "0.0021 nats", "0.12 points"."""
    unit, scale = ("points", 100) if figure == "accuracy" else ("nats", 1)
    return f"{formats.format_significant(abs(size) * scale, 2)} {unit}"


def format_budget(costs: PlanCosts, passes: int) -> str:
    """What a budget comes to: "1,200,000 img·member, about 3 min"."""
    plan = EnsemblePlan(1, passes)
    seconds = costs.training_seconds(plan)
    about = "" if seconds is None else f", {'' if seconds < 1 else 'about '}"
    about += "" if seconds is None else formats.format_duration(seconds)
    return f"{formats.format_significant(costs.training_work(plan))} img·member{about}"


def describe_best_plan(choice: PlanChoice, n: int) -> str:
    best = choice.best_estimate
    plan_metric = format_plan_metric(choice.metric, best.mean, n)
    interval = _format_plan_interval(choice.metric, best.low, best.high, n)
    return f"Best: {format_plan(choice.best)}, {METRIC_NAMES[choice.metric]} {plan_metric} {interval}."


def describe_plan_evidence(choice: PlanChoice, costs: PlanCosts, chosen_on: str) -> str:
    """What else would do, what the cheapest of it costs, and on which images it was chosen.

    Args:
      chosen_on: "validation" or "test".
    """
    return f"{describe_other_plans(choice, costs)} The best is {selection_basis.describe_selection_basis(chosen_on)}."


def describe_other_plans(choice: PlanChoice, costs: PlanCosts) -> str:
    if choice.affordable_plans == 1:
        return "The budget is too small for any other plan."
    every = f"Of the {choice.affordable_plans:,} plans within the budget"
    if len(choice.candidates) == 1:
        return f"{every}, this one is the best (95 %)."
    text = f"{every}, the best is one of {len(choice.candidates):,} (95 %)"
    cheapest = choice.cheapest
    if cheapest == choice.best:
        return f"{text}; none of these costs less."
    text = f"{text}. The cheapest of these is {format_plan(cheapest)} ({format_budget(costs, cheapest.cost)})"
    if choice.runner_up and choice.runner_up.plan == cheapest:  # what it loses is said next
        return f"{text}."
    (lost,) = (loss for loss in choice.losses if loss.plan == cheapest)
    return f"{text}: {describe_plan_loss(choice.metric, lost)}."


def describe_runner_up(choice: PlanChoice, costs: PlanCosts, n: int, members: int) -> str:
    """What the second best loses, and what it would take to be sure of that; "" without one."""
    second = choice.runner_up
    if second is None or choice.sample_size is None:
        return ""
    text = f"Second: {format_plan(second.plan)}, {describe_plan_loss(choice.metric, second)}."
    if second.loss_sign:
        return text
    epochs = max(second.plan.epochs, choice.best.epochs)
    return f"{text} {describe_required_effort(choice.sample_size, costs, n, members, epochs)}"


def describe_plan_loss(figure: str, loss: PlanLoss) -> str:
    """What a plan loses against another: "worse by 0.002 nats (95 %: 0.0004 to 0.0036)"."""
    low, high = _format_loss_ends(figure, loss)
    open_ = "" if loss.loss_sign else ", which may be chance"
    if not loss.mean:
        return f"level with it (95 %: {low} to {high} {'points' if figure == 'accuracy' else 'nats'})"
    side = "better" if loss.mean < 0 else "worse"
    return f"{side} by {_format_plan_loss(figure, loss.mean)} (95 %: {low} to {high}){open_}"


def _format_loss_ends(figure: str, loss: PlanLoss) -> tuple[str, str]:
    scale = 100 if figure == "accuracy" else 1
    low, high = (loss.low, loss.high) if loss.mean >= 0 else (-loss.high, -loss.low)
    return _format_negative(low * scale), _format_negative(high * scale)


def _format_negative(number: float) -> str:
    return f"{'−' if number < 0 else ''}{formats.format_significant(abs(number), 2)}"


def describe_required_effort(size: RequiredSampleSize, costs: PlanCosts, n: int, members: int, epochs: int) -> str:
    if size.times is None:
        return "They do not differ on these images, so the effort to tell them apart is unknown."
    ways = []
    if size.examples is not None and size.examples > n:
        ways.append(f"about {formats.format_significant(size.examples, 2)} test images")
    if size.members is not None and size.members > members:
        more = size.members - members
        cost = format_budget(costs, more * epochs)
        ways.append(f"about {formats.format_significant(more, 2)} more members ({cost})")
    if not ways:
        times = formats.format_significant(size.times, 2)
        return f"Telling them apart takes about {times} times as many images and members."
    return f"If the difference is as large as it looks, telling them apart takes {' or '.join(ways)}."


def describe_half_budget(choice: PlanChoice, half: PlanLoss | None) -> str:
    """What half of the cost would have come to, in one line.

    Args:
      half: what the best plan for half of it loses against that; None where there is none.
    """
    if half is None:
        return "Half of the cost is less than one epoch of a single member."
    if half.plan == choice.best:
        return f"For half the cost: {format_plan(choice.best)}, the best plan of all."
    low, high = _format_loss_ends(choice.metric, half)
    size = f"{'better' if half.mean < 0 else 'worse'} by {_format_plan_loss(choice.metric, half.mean)}"
    text = f"{size} ({low} to {high})" if half.mean else "level with the best"
    return f"For half the cost: {format_plan(half.plan)}, {text}."


def describe_two_plans(comparison: PlanComparison, first: str, second: str) -> str:
    name = METRIC_NAMES[comparison.metric]
    first_value, other = (
        format_plan_metric(comparison.metric, each, comparison.n) for each in (comparison.first, comparison.second)
    )
    if not comparison.loss.loss_sign:
        return f"No difference shown: {first} {name} {first_value}, {second} {other}."
    better, figures = (first, (first_value, other)) if comparison.loss.loss_sign < 0 else (second, (other, first_value))
    return f"Better: {better}, {name} {figures[0]} against {figures[1]}."


def format_member_equivalent(equivalent: MemberEquivalent) -> str:
    """What predictions are worth: "1.7 independent members (95 %: 1.4 to 2.1)"."""
    if not equivalent.value and not equivalent.high:
        return "less than one independent member"
    low = "less than 1" if not equivalent.low else _format_member_bound(equivalent.low, equivalent.members)
    high = "less than 1" if not equivalent.high else _format_member_bound(equivalent.high, equivalent.members)
    between = f" (95 %: {low} to {high})" if low != high else ""
    text = "less than one" if not equivalent.value else _format_member_bound(equivalent.value, equivalent.members)
    return f"{text} independent member{'' if text in ('1.0', 'less than one') else 's'}{between}"


def _format_member_bound(number: float, most: int) -> str:
    return f"more than {most}" if number > most else f"{number:.1f}"
