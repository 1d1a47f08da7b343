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

_EQUAL_COST_NAMES: dict[Name, str] = {"ensemble": "", "flops": "FLOPs", "seconds": "seconds"}
_SELECTION_NOTE = (
    "Rates were chosen on the validation images with the first seed, epochs on those of each run; "
    "all figures are of the test images."
)
_NOT_EQUAL_NOTE = "That no difference is shown does not mean that they are the same."


def _format_competitor(result: CompetitorResult) -> str:
    """What a competitor is: "4 members", "one network of the same FLOPs, 2 × as wide"."""
    if not result.competitor.is_single:
        return formats.format_count(result.members, "member")
    what = " and ".join(_EQUAL_COST_NAMES[name] for name in result.competitor.names)
    network = str(require_training_config(result.competitor.runs[0]).network)
    times = formats.format_significant(result.competitor.width / default_network_width(network), 2)
    return f"one network of the same {what}, {times} × as wide"


def format_budget_lines(competitor_results: Sequence[CompetitorResult]) -> list[str]:
    noun = competitor_results[0].competitor.runs[0].data.noun
    head = ["", "width", "rate", "FLOPs", "time a run", "accuracy", "NLL"]
    lines = align_columns([head, *(_format_competitor_cells(result) for result in competitor_results)])
    lines += [
        "",
        *(_describe_wide_network_comparison(result, noun) for result in competitor_results if result.advantage),
    ]
    lines += [
        *filter(None, map(_describe_edge_rate, competitor_results)),
        _SELECTION_NOTE,
        _describe_budget_basis(competitor_results),
    ]
    if any(
        result.advantage and not (result.advantage.accuracy_sign and result.advantage.nll_sign)
        for result in competitor_results
    ):
        lines.append(_NOT_EQUAL_NOTE)
    return lines


def _describe_wide_network_comparison(result: CompetitorResult, noun: str) -> str:
    assert result.advantage is not None
    return (
        f"Against {_format_competitor(result)}: "
        f"{_describe_winner(result.advantage)} "
        f"{_describe_lead(result.advantage, noun)}"
    )


def _describe_winner(difference: GroupDifference) -> str:
    """Which is shown to win, and by what; of one run each, that it is so in these runs."""
    winner = _name_winner(difference)
    is_shown = difference.accuracy_sign or difference.nll_sign
    if is_shown and difference.settings_p is None:
        return f"in these runs {winner}"
    return winner


def _name_winner(difference: GroupDifference) -> str:
    metric_by_sign = {difference.accuracy_sign: "accuracy", difference.nll_sign: "NLL"}
    if not (difference.accuracy_sign or difference.nll_sign):
        return "no difference is shown."
    if difference.accuracy_sign == difference.nll_sign:
        who = "the ensemble wins" if difference.nll_sign > 0 else "the one network wins"
        return f"{who} by accuracy and by NLL."
    if difference.accuracy_sign and difference.nll_sign:
        return f"the ensemble wins by {metric_by_sign[1]}, the one network by {metric_by_sign[-1]}."
    sign = difference.accuracy_sign or difference.nll_sign
    who = "the ensemble wins" if sign > 0 else "the one network wins"
    return f"{who} by {metric_by_sign[sign]}; no difference is shown in the other figure."


def _describe_lead(difference: GroupDifference, noun: str) -> str:
    """What the ensemble is ahead by, with both intervals; below zero the one network is."""
    places = 0 if difference.over == "images" else 1
    ends = f"{format_signed(difference.digits_low, places)} to {format_signed(difference.digits_high, places)}"
    nll = f"{format_signed(-difference.nll_high)} to {format_signed(-difference.nll_low)}"
    return (
        f"The ensemble has {formats.format_image_difference(difference.digits, noun)} "
        f"right of {difference.n:,} (95 %: {ends}; {format_p_value(difference.adjusted_p)}), "
        f"NLL {format_signed(-difference.nll)} (95 %: {nll}; {format_p_value(difference.adjusted_nll_p)})."
    )


def _describe_edge_rate(result: CompetitorResult) -> str:
    """That the best rate was at an end of those tried, so that a better one may lie beyond."""
    end = result.competitor.rate_boundary
    if not end:
        return ""
    side, way = ("highest", "higher") if end > 0 else ("lowest", "lower")
    return (
        f"Of {_format_competitor(result)} the {side} rate that was tried was best: a {way} one may do better (--rates)."
    )


def _describe_budget_basis(competitor_results: Sequence[CompetitorResult]) -> str:
    tests = 2 * sum(result.advantage is not None for result in competitor_results)
    adjusted = f"Each p is adjusted for all {tests} tests (Holm)."
    if any(len(result.competitor.runs) < 2 for result in competitor_results):
        alone = "Intervals hold for these trained runs on new images: another seed may differ."
        return f"{alone} {adjusted}"
    crossed = "Intervals hold for other seeds and new images (runs and images crossed; Owen 2007)."
    return f"{crossed} {adjusted}"


def _format_competitor_cells(result: CompetitorResult) -> list[str]:
    figures, run = result.metrics, result.competitor.runs[0]
    places = formats.count_percent_decimals(run.data.test_size)
    config = require_training_config(run)
    return [
        _format_competitor(result),
        f"{result.competitor.width or default_network_width(str(config.network)):,}",
        formats.format_significant(result.competitor.rate, 2),
        format_flops(result.members * result.cost.flops),
        formats.format_duration(result.seconds),
        format_with_interval(figures["accuracy"], lambda share: f"{100 * share:.{places}f}", " %"),
        format_with_interval(figures["nll"], formats.format_significant),
    ]
