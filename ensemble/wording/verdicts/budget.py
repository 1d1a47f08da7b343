"""An ensemble against one wider network of the same cost, in words."""

from collections.abc import Sequence

from ensemble.budget.budget import Name
from ensemble.budget.competitor_results import CompetitorResult
from ensemble.budget.network_widths import default_network_width
from ensemble.comparison.differences import GroupDifference
from ensemble.runs.store import require_training_config
from ensemble.wording import formats
from ensemble.wording.runs.networks import format_flops
from ensemble.wording.verdicts.comparison_text import align_columns, format_with_interval
from ensemble.wording.verdicts.ensemble_gain import format_p_value, format_signed

EQUAL_COST_NAMES: dict[Name, str] = {"ensemble": "", "flops": "FLOPs", "seconds": "seconds"}
SELECTION_NOTE = (
    "Rates were chosen on the validation images with the first seed, epochs on those of each run; "
    "all figures are of the test images."
)
NOT_EQUAL_NOTE = "That no difference is shown does not mean that they are the same."


def format_competitor(one: CompetitorResult) -> str:
    """What a competitor is: "4 members", "one network of the same FLOPs, 2 × as wide"."""
    if not one.competitor.is_single:
        return formats.format_count(one.members, "member")
    what = " and ".join(EQUAL_COST_NAMES[name] for name in one.competitor.names)
    network = str(require_training_config(one.competitor.runs[0]).network)
    times = formats.format_significant(one.competitor.width / default_network_width(network), 2)
    return f"one network of the same {what}, {times} × as wide"


def format_budget_lines(found: Sequence[CompetitorResult]) -> list[str]:
    """A table of all, what each difference is, and what it rests on.

    Args:
      found: the ensemble first.
    """
    noun = found[0].competitor.runs[0].data.noun
    head = ["", "width", "rate", "FLOPs", "time a run", "accuracy", "NLL"]
    said = align_columns([head, *(_format_competitor_cells(one) for one in found)])
    said += ["", *(describe_wide_network_comparison(one, noun) for one in found if one.advantage)]
    said += [
        *filter(None, map(describe_edge_rate, found)),
        SELECTION_NOTE,
        describe_budget_basis(found),
    ]
    if any(
        one.advantage and not (one.advantage.accuracy_sign and one.advantage.nll_sign)
        for one in found
    ):
        said.append(NOT_EQUAL_NOTE)
    return said


def describe_wide_network_comparison(one: CompetitorResult, noun: str) -> str:
    """Which wins, the ensemble or this single network, and by how much."""
    assert one.advantage is not None
    return (
        f"Against {format_competitor(one)}: {describe_winner(one.advantage)} "
        f"{describe_lead(one.advantage, noun)}"
    )


def describe_winner(found: GroupDifference) -> str:
    """Which is shown to win, and by what."""
    shown = {found.accuracy_sign: "accuracy", found.nll_sign: "NLL"}
    if not (found.accuracy_sign or found.nll_sign):
        return "no difference is shown."
    if found.accuracy_sign == found.nll_sign:
        who = "the ensemble wins" if found.nll_sign > 0 else "the one network wins"
        return f"{who} by accuracy and by NLL."
    if found.accuracy_sign and found.nll_sign:
        return f"the ensemble wins by {shown[1]}, the one network by {shown[-1]}."
    sign = found.accuracy_sign or found.nll_sign
    who = "the ensemble wins" if sign > 0 else "the one network wins"
    return f"{who} by {shown[sign]}; no difference is shown in the other figure."


def describe_lead(found: GroupDifference, noun: str) -> str:
    """What the ensemble is ahead by, with both intervals; below zero the one network is."""
    places = 0 if found.over == "images" else 1
    ends = (
        f"{format_signed(found.digits_low, places)} to {format_signed(found.digits_high, places)}"
    )
    nll = f"{format_signed(-found.nll_high)} to {format_signed(-found.nll_low)}"
    return (
        f"The ensemble has {formats.format_image_difference(found.digits, noun)} right of "
        f"{found.n:,} (95 %: "
        f"{ends}; {format_p_value(found.adjusted_p)}), NLL {format_signed(-found.nll)} (95 %: "
        f"{nll}; "
        f"{format_p_value(found.adjusted_nll_p)})."
    )


def describe_edge_rate(one: CompetitorResult) -> str:
    """That the best rate was at an end of those tried, so that a better one may lie beyond."""
    end = one.competitor.rate_boundary
    if not end:
        return ""
    side, way = ("highest", "higher") if end > 0 else ("lowest", "lower")
    return (
        f"Of {format_competitor(one)} the {side} rate that was tried was best: a {way} one may do "
        "better (--rates)."
    )


def describe_budget_basis(found: Sequence[CompetitorResult]) -> str:
    """What the intervals hold for."""
    tests = 2 * sum(one.advantage is not None for one in found)
    adjusted = f"Each p is adjusted for all {tests} tests (Holm)."
    if any(len(one.competitor.runs) < 2 for one in found):
        alone = "Intervals hold for these trained runs on new images: another seed may differ."
        return f"{alone} {adjusted}"
    crossed = "Intervals hold for other seeds and new images (runs and images crossed; Owen 2007)."
    return f"{crossed} {adjusted}"


def _format_competitor_cells(one: CompetitorResult) -> list[str]:
    figures, run = one.metrics, one.competitor.runs[0]
    places = formats.count_percent_decimals(run.data.test_size)
    config = require_training_config(run)
    return [
        format_competitor(one),
        f"{one.competitor.width or default_network_width(str(config.network)):,}",
        formats.format_significant(one.competitor.rate, 2),
        format_flops(one.members * one.cost.flops),
        formats.format_duration(one.seconds),
        format_with_interval(figures["accuracy"], lambda share: f"{100 * share:.{places}f}", " %"),
        format_with_interval(figures["nll"], formats.format_significant),
    ]
