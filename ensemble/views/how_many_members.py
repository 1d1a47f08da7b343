"""How many members are enough, at which cost, what would settle it, and what else the same cost buys."""

from collections.abc import Sequence
from dataclasses import replace
from math import comb
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from ensemble.analysis.members import committees as committees
from ensemble.analysis.members.committees import (
    COMMITTEE_METRICS,
    CommitteeCurve,
    CommitteeEvaluation,
    evaluate_committees,
)
from ensemble.analysis.members.extrapolation import Extrapolation, extrapolate_committee_curve
from ensemble.analysis.members.subsets import MAX_MEMBERS_ALL_SIZES, max_drawn_subsets
from ensemble.analysis.members.sufficient_size import (
    DEFAULT_MARGINS,
    REQUIRED_SHARE,
    SizeVerdict,
    SufficientSize,
    find_settling_margin,
    find_sufficient_size,
)
from ensemble.analysis.predictions import EnsemblePredictions
from ensemble.analysis.quality.calibration_noise import estimate_ensemble_calibration_error
from ensemble.analysis.quality.metrics import METRICS_BY_NAME
from ensemble.figures import chart_style
from ensemble.figures.palette import Palette, build_band_color
from ensemble.views.calibration import describe_chance_error
from ensemble.views.cheaper_members import cheaper_members_view
from ensemble.views.committee_costs import (
    EXPECTED_LABEL,
    describe_member_costs,
    explain_committee_costs,
    format_committee_metric,
    tabulate_committee_costs,
)
from ensemble.views.evaluated_epoch import EvaluatedEpoch
from ensemble.views.member_faults import list_broken_members, repeat_member_faults
from ensemble.views.members_for_epochs import members_for_epochs_view
from ensemble.views.parts import (
    Alternatives,
    Choice,
    ChoiceRow,
    Columns,
    DeferredChoice,
    Figure,
    Figures,
    Paragraph,
    Table,
    View,
)
from ensemble.views.registry import BETTER, RegisteredView
from ensemble.views.wider_network import wider_network_view
from ensemble.wording import formats
from ensemble.wording.formats import pluralize_noun
from ensemble.wording.verdicts import selection_basis

if TYPE_CHECKING:
    import plotly.graph_objects as go


# What each figure is called in a sentence, and where it is counted in something, in what.
_METRICS_IN_SENTENCES = {"accuracy": "accuracy", "nll": "NLL", "brier": "the Brier score"}
_LOSS_UNITS = {"accuracy": "points", "nll": "nats", "brier": ""}


def format_committee_loss(value: float, figure: str) -> str:
    """A loss of a figure: "0.1 points", "0.005 nats", "0.002" (of the Brier score)."""
    number_text = formats.format_significant(abs(value) * (100 if figure == "accuracy" else 1), 2)
    number_text = number_text.rstrip("0").rstrip(".") if "." in number_text else number_text
    return f"{'−' if value < 0 else ''}{number_text} {_LOSS_UNITS[figure]}".strip()


def format_loss_with_metric(value: float, figure: str) -> str:
    """A loss with its figure: "0.1 points of accuracy"."""
    return f"{format_committee_loss(value, figure)} of {_METRICS_IN_SENTENCES[figure]}"


def describe_enough_members(size: SufficientSize, noun: str, *, may_keep_all: bool = True) -> str:
    """Return the recommendation in one line of at most 90 characters.

    Args:
      may_keep_all: whether no member is better left out, so that keeping all can be recommended.
    """
    M, margin = size.members, format_loss_with_metric(size.margin, size.metric)
    if size.smallest_sufficient:
        verb = "is" if size.size == 1 else "are"
        return f"{size.size} of {M} members {verb} enough if you accept a loss of {margin}."
    fewer, keep = size.sizes[0], f"Keep {format_all_members(M)}: " if may_keep_all else ""
    if fewer.outcome == "loses":
        who = "single members" if fewer.size == 1 else f"committees of {fewer.size}"
        return f"{keep}{'too' if keep else 'Too'} few {who} stay within {margin}."
    these = formats.format_count(size.n, noun)
    return f"{keep}{these} cannot show whether {fewer.size} {'is' if fewer.size == 1 else 'are'} enough."


def describe_settling(size: SufficientSize, margin: float | None, noun: str) -> str:
    """Return what would show that fewer members are enough; "" if that is decided.

    Args:
      margin: from `_find_epoch_margin`.
    """
    ways = []
    if (examples := size.sizes[0].examples) is not None:
        ways.append(f"about {formats.format_significant(examples, 2)} test {pluralize_noun(noun)}")
    if margin is not None:
        ways.append(f"accepting a loss of {format_committee_loss(margin, size.metric)}")
    return f"What would show it: {', or '.join(ways)}." if ways else ""


def _describe_losing_committees(verdict: SizeVerdict) -> str:
    """How many committees of a size are at least shown to lose more, and the verb."""
    least = verdict.committees - verdict.required + 1
    return f"at least {least:,} of {_format_committee_count(verdict)} {'loses' if least == 1 else 'lose'}"


def _format_committee_count(verdict: SizeVerdict) -> str:
    """The committees of a size: "4 committees of 3", "4 single members"."""
    if verdict.size == 1:
        return f"{verdict.committees:,} single members"
    return f"{verdict.committees:,} committees of {verdict.size}"


def describe_enough_evidence(size: SufficientSize, noun: str) -> str:
    """What carries the verdict: the smallest size that is enough, and the next smaller one."""
    parts = [
        describe_size_evidence(size, size_verdict, noun)
        for size_verdict in (size.smallest_sufficient, size.first_insufficient)
        if size_verdict
    ]
    each = "Each claim is wrong at most 5 % of the time"
    groups = size.groups
    each += f"; each of {groups:,} groups counts as one draw." if groups else "."
    return " ".join([*parts, each])


def _describe_loss_bound(verdict: SizeVerdict, figure: str) -> str:
    """What those that are needed lose at most, or gain at least, with the verb."""
    verb, end = ("gain", "least") if verdict.bound < 0 else ("lose", "most")
    return f"{verb}{'s' if verdict.required == 1 else ''} {format_committee_loss(abs(verdict.bound), figure)} at {end}"


def describe_size_evidence(size: SufficientSize, verdict: SizeVerdict, noun: str) -> str:
    figure = size.metric
    drawn = verdict.committees < comb(size.members, verdict.size)
    they = f"{_format_committee_count(verdict)}{' that were drawn' if drawn else ''}"
    average = (
        f"On average the {they} {'gain' if verdict.loss < 0 else 'lose'} "
        f"{format_loss_with_metric(abs(verdict.loss), figure)} against all "
        f"{size.members}"
    )
    if verdict.outcome == "enough":
        return f"{average}; {verdict.required:,} of them {_describe_loss_bound(verdict, figure)}."
    if verdict.outcome == "loses":
        return f"{average}; {_describe_losing_committees(verdict)} over {format_committee_loss(size.margin, figure)}."
    open_ = (
        f"{average}, which may be chance: whether {verdict.required:,} of them lose at most "
        f"the {format_committee_loss(size.margin, figure)} that you accept stays open, "
        f"as they may lose up to {format_committee_loss(verdict.bound, figure)}"
    )
    if verdict.examples is None:
        return (
            f"{open_}. If nothing were really lost, most sets of "
            f"{formats.format_count(size.n, noun)} would have shown it."
        )
    return (
        f"{open_}. If nothing is really lost, it takes about "
        f"{formats.format_significant(verdict.examples, 2)} {pluralize_noun(noun)} to show "
        f"it; there are {size.n:,}."
    )


def format_all_members(M: int) -> str:
    return "both members" if M == 2 else f"all {M} members"


def _describe_judged_committees(judged: CommitteeEvaluation) -> str:
    if judged.exact:
        return f"All {len(judged.size):,} committees that {judged.members} members can form"
    if judged.members > MAX_MEMBERS_ALL_SIZES:
        return (
            f"{len(judged.size):,} committees of {len(np.unique(judged.size))} sizes: each member alone, all but each, "
            f"and of the sizes in between {max_drawn_subsets(judged.members)} drawn at random (seed 0)"
        )
    there_are = formats.format_significant(2**judged.members - 1)
    return (
        f"{len(judged.size):,} of about {there_are} committees that {judged.members} members can "
        f"form: of each size all, or {max_drawn_subsets(judged.members)} drawn at random (seed 0)"
    )


def _tabulate_member_worth(judged: CommitteeEvaluation, noun: str) -> pd.DataFrame:
    worth, M = committees.member_contributions(judged), judged.members
    return pd.DataFrame(
        {
            "member": [str(member) for member in range(1, M + 1)],
            "alone": [formats.format_percent(share, judged.n) for share in judged.accuracy[:M]],
            "without it": [formats.format_image_difference(-share * judged.n, noun) for share in worth.accuracy],
            "NLL without it": [format_signed_loss(loss) for loss in worth.nll],
        }
    )


def format_signed_loss(value: float) -> str:
    sign = "+" if value > 0 else "−" if value < 0 else "±"
    return f"{sign}{formats.format_significant(abs(value), 2)}"


def describe_committee_choice(held_out: bool) -> str:
    if not held_out:
        return f"By NLL, {selection_basis.CHOSEN_ON_TEST}."
    return f"By NLL, {selection_basis.CHOSEN_ON_VALIDATION}; the figures are those of all test images."


def _find_committee_row(judged: CommitteeEvaluation, who: tuple[int, ...]) -> int:
    mask = sum(1 << member for member in who)
    return int(np.flatnonzero(judged.masks == mask)[0])


def format_committee_members(who: tuple[int, ...], members: int) -> str:
    """The members of a committee: "1, 3, 4"; "all" of them."""
    return "all" if len(who) == members else ", ".join(str(member + 1) for member in who)


def explain_member_worth(members: int) -> str:
    """What stands below `_tabulate_member_worth`."""
    return (
        f"Without it: {format_all_members(members)} against all but this one. A member that is "
        "poor alone can still be worth having, if it is wrong on other images."
    )


METRIC_NAMES = {name: METRICS_BY_NAME[name].capitalized_term for name in COMMITTEE_METRICS}
METRIC_AXES = {name: METRICS_BY_NAME[name].axis_title for name in COMMITTEE_METRICS}


def plot_committee_curve(
    judged: CommitteeEvaluation, name: str, enough: SufficientSize | None, title: str, palette: Palette
) -> "go.Figure":
    """One figure over the committee's size: the mean, its band, the single members, enough.

    Args:
      name: one of `COMMITTEE_METRICS`.
      enough: how many members are enough by that figure; None where it has no margin.
    """
    import plotly.graph_objects as go  # here, for it takes a while and only pictures need it

    curve = committees.committee_curve(judged, name)
    beyond = extrapolate_committee_curve(judged, name)
    last = int(beyond.size[-1]) if beyond else judged.members
    scale = 100 if name == "accuracy" else 1
    traces = [
        *_build_committee_band(curve, scale),
        _build_committee_mean(curve, name, judged.n, palette),
        *(_build_expected_curve(curve, beyond, palette) if beyond else ()),
        *_build_lone_member_dots(judged, name, palette),
    ]
    chart = go.Figure([go.Scatter(trace) for trace in traces])
    if enough:
        _add_margin_band(chart, enough, float(curve.mean[-1]), palette)
        if enough.smallest_sufficient:
            add_enough_marker(
                chart,
                enough.size,
                height=scale * float(curve.mean[np.searchsorted(curve.size, enough.size)]),
                name=name,
                palette=palette,
                last=last,
            )
    chart.update_layout(chart_style.build_chart_layout(title, 440, palette))
    chart.update_xaxes(
        title="members in the committee",
        fixedrange=True,
        range=_compute_size_range(last),
        dtick=1 if last <= 16 else 4 if last <= 32 else 8 * -(-last // 128),
        tick0=0,
    )
    chart.update_yaxes(
        title=METRIC_AXES[name], ticksuffix=" %" if name == "accuracy" else "", fixedrange=True, automargin=True
    )
    return chart


def add_enough_marker(chart: "go.Figure", at: int, height: float, name: str, palette: Palette, last: int) -> None:
    """Marks the smallest size that is enough, on an axis of sizes up to `last`."""
    chart.add_scatter(
        x=[at],
        y=[height],
        mode="markers",
        hoverinfo="skip",
        showlegend=False,
        name="enough",
        cliponaxis=False,
        marker={"symbol": "circle-open", "size": 18, "color": palette.ink, "line": {"width": 2}},
    )
    below = name == "accuracy"
    # To the side that has more room: on a phone half of the figure is all that the words need.
    left = at > sum(_compute_size_range(last)) / 2
    chart.add_annotation(
        x=at,
        y=height,
        text=f"<b>{at} {'is' if at == 1 else 'are'} enough</b>",
        showarrow=False,
        xanchor="right" if left else "left",
        yanchor="top" if below else "bottom",
        xshift=-10 if left else 10,
        yshift=-8 if below else 8,
        font={"color": palette.ink, "size": 13},
    )


def _add_margin_band(chart: "go.Figure", enough: SufficientSize, whole: float, palette: Palette) -> None:
    scale, worse = (100, -1) if enough.metric == "accuracy" else (1, 1)
    far = whole + worse * enough.margin
    chart.add_hrect(
        y0=scale * min(whole, far),
        y1=scale * max(whole, far),
        line_width=0,
        name="margin",
        fillcolor=palette.primary,
        opacity=0.25,
        layer="below",
        annotation_text=f"accepted: {format_committee_loss(enough.margin, enough.metric)}",
        annotation_position="bottom right" if worse < 0 else "top right",
        annotation_yshift=16 * worse,
        annotation_font={"color": palette.ink, "size": 12},
    )


def _build_expected_curve(curve: CommitteeCurve, beyond: Extrapolation, palette: Palette) -> list[dict[str, Any]]:
    """What is expected of more members than there are: dashed, with its interval."""
    size = np.concatenate([curve.size[-1:], beyond.size])
    middle = np.concatenate([curve.mean[-1:], beyond.mean])
    hovers = [
        f"{formats.format_count(int(k), 'member')}: {formats.format_significant(value)}, "
        f"{EXPECTED_LABEL}<br>95 %: "
        f"{formats.format_significant(low)} to {formats.format_significant(high)}"
        for k, value, low, high in zip(beyond.size, beyond.mean, beyond.low, beyond.high, strict=True)
    ]
    edge = {
        "x": beyond.size,
        "mode": "lines",
        "line": {"width": 0},
        "hoverinfo": "skip",
        "legendgroup": "expected",
        "showlegend": False,
    }
    return [
        {**edge, "y": beyond.low, "name": "expected, low"},
        {**edge, "y": beyond.high, "name": "expected, high", "fill": "tonexty", "fillcolor": build_band_color()},
        {
            "x": size,
            "y": middle,
            "mode": "lines",
            "name": EXPECTED_LABEL,
            "legendgroup": "expected",
            "line": {**chart_style.style_ensemble_line(palette), "dash": "dash"},
            "hoverinfo": "text",
            "hovertext": ["", *hovers],
            "cliponaxis": False,
        },
    ]


def _compute_size_range(last: int) -> list[float]:
    """The ends of the axis of sizes from 1: a little room on both sides."""
    room = 0.03 * last + 0.15
    return [1 - room, last + room]


def _build_committee_band(curve: CommitteeCurve, scale: float) -> list[dict[str, Any]]:
    line = {"x": curve.size, "mode": "lines", "line": {"width": 0}, "hoverinfo": "skip", "legendgroup": "band"}
    return [
        {**line, "y": scale * curve.low, "showlegend": False, "name": "lowest"},
        {**line, "y": scale * curve.high, "fill": "tonexty", "name": "best to worst", "fillcolor": build_band_color()},
    ]


def _build_committee_mean(curve: CommitteeCurve, name: str, n: int, palette: Palette) -> dict[str, Any]:
    hovers = [
        f"{formats.format_count(int(size), 'member')}: "
        f"{format_committee_metric(middle, name, n)} on average, {format_committee_metric(low, name, n)} "
        f"to {format_committee_metric(high, name, n)}<br>{formats.format_count(int(count), 'committee')}"
        for size, middle, low, high, count in zip(
            curve.size, curve.mean, curve.low, curve.high, curve.count, strict=True
        )
    ]
    return {
        "x": curve.size,
        "y": (100 if name == "accuracy" else 1) * curve.mean,
        "mode": "lines+markers" if len(curve.size) <= 16 else "lines",
        "marker": {"size": 7},
        "line": chart_style.style_ensemble_line(palette),
        "name": "mean of the committees",
        "cliponaxis": False,
        "hovertext": hovers,
        "hoverinfo": "text",
    }


def _build_lone_member_dots(judged: CommitteeEvaluation, name: str, palette: Palette) -> list[dict[str, Any]]:
    """Each member alone, a dot at size 1."""
    M, values = judged.members, getattr(judged, name)[: judged.members]
    traces = chart_style.build_member_lines(
        [[1]] * M,
        [[(100 if name == "accuracy" else 1) * value] for value in values],
        [[f"Member {m + 1} alone: {format_committee_metric(value, name, judged.n)}"] for m, value in enumerate(values)],
        cliponaxis=False,
    )
    marks = [
        {"color": trace["line"]["color"], "size": 9, "line": {"color": palette.ground, "width": 1}} for trace in traces
    ]
    return [
        {**trace, "mode": "markers", "marker": mark, "opacity": max(0.6, trace["opacity"])}
        for trace, mark in zip(traces, marks, strict=True)
    ]


def tabulate_committee_sizes(judged: CommitteeEvaluation, best: Sequence[tuple[int, ...]]) -> pd.DataFrame:
    """Every size: how many committees, each figure's mean, least and largest; and beyond M.

    The column `what` tells the two apart; an expected figure has the ends of its 95 % interval.

    Args:
      best: the members of the best one of each size, from 0, the smallest first.
    """
    curves = {name: committees.committee_curve(judged, name) for name in COMMITTEE_METRICS}
    first = curves["accuracy"]
    columns: dict[str, Any] = {"size": first.size, "committees": first.count}
    for name, curve in curves.items():
        columns |= {f"{name}_mean": curve.mean, f"{name}_least": curve.low, f"{name}_largest": curve.high}
    columns["best_by_nll"] = [" ".join(str(member + 1) for member in who) for who in best]
    columns["what"] = ["measured"] * len(first.size)
    laws = {name: law for name in COMMITTEE_METRICS if (law := extrapolate_committee_curve(judged, name))}
    rows = [pd.DataFrame(columns)]
    for law in list(laws.values())[:1]:
        more: dict[str, Any] = {"size": law.size, "what": [EXPECTED_LABEL] * len(law.size)}
        for name, expected_curve in laws.items():
            more |= {
                f"{name}_mean": expected_curve.mean,
                f"{name}_low_95": expected_curve.low,
                f"{name}_high_95": expected_curve.high,
            }
        rows.append(pd.DataFrame(more))
    return pd.concat(rows, ignore_index=True)


_METRIC_GLOSSES = {
    "accuracy": "the share that is right",
    "nll": "what the label's probability costs, in nats",
    "brier": "the squared distance to the label, 0 to 2",
    "ece": "how far confidence and accuracy lie apart",
}


METRIC_CHOICE = Choice("figure", "Figure", METRIC_NAMES, "accuracy")
# The margins to choose from, by their words in an address; accuracy's in percentage points.
MARGIN_VALUES = {
    "accuracy": {word: float(word) / 100 for word in ("0.01", "0.02", "0.05", "0.1", "0.2", "0.5", "1", "2", "5")},
    "nll": {word: float(word) for word in ("0.0005", "0.001", "0.002", "0.005", "0.01", "0.02", "0.05", "0.1")},
    "brier": {word: float(word) for word in ("0.0002", "0.0005", "0.001", "0.002", "0.005", "0.01", "0.02", "0.05")},
}
_MARGIN_NAMES = {"accuracy": "margin", "nll": "nll_margin", "brier": "brier_margin"}
SHARES = {word: float(word) / 100 for word in ("50", "80", "90", "95", "99", "100")}


def offer_margins(figure: str) -> Choice:
    values = MARGIN_VALUES[figure]
    return Choice(
        name=_MARGIN_NAMES[figure],
        label="Loss that you accept",
        values={word: format_committee_loss(value, figure) for word, value in values.items()},
        default=next(word for word, value in values.items() if value == DEFAULT_MARGINS[figure]),
        help="How much worse than all members together a smaller committee may be.",
        form="slider",
        width=260,
        key=f"committee_margin_{figure}",
    )


KEEP_CHOICE = Choice(
    name="keep",
    label="Committees that must stay within it",
    values={word: formats.format_percent(share, figures=3) for word, share in SHARES.items()},
    default=next(word for word, share in SHARES.items() if share == REQUIRED_SHARE),
    help="Of all committees of one size: you do not know beforehand which one yours will be.",
    form="slider",
    width=260,
    key="committee_share",
)


_ALTERNATIVES = Choice(
    "alternative",
    "Compare with",
    {
        "epochs": "Members against epochs",
        "wider": "One wider network",
        "cheaper": "Cheaper members",
        "members": "Single members",
    },
    "epochs",
)


def build_how_many_members(epoch: EvaluatedEpoch) -> View:
    if epoch.members == 1:
        yield Paragraph(
            "With one member there is nothing to compare: train two or more to see how many are enough.",
            "unavailable",
            icon=":material/group_off:",
        )
        return
    # A few seconds for 64 members.
    wait = f"Judging committees of the {epoch.members} members …"
    judged = epoch.measure(judge_committees, wait=wait)
    broken = list_broken_members(epoch)  # the headline names them first
    name = yield DeferredChoice(METRIC_CHOICE)
    size = None
    if name in DEFAULT_MARGINS:
        _, margin, share = yield ChoiceRow((METRIC_CHOICE, offer_margins(name), KEEP_CHOICE))
        size = decide_enough_members(epoch, name, MARGIN_VALUES[name][margin], SHARES[share])
        yield Paragraph(
            " ".join([*broken, describe_enough_members(size, epoch.noun, may_keep_all=not broken)]), "answer"
        )
        costs = describe_member_costs(epoch, size.size)
        settling = describe_settling(size, _find_epoch_margin(epoch, judged, size), epoch.noun)
        yield Paragraph(" ".join(filter(None, [costs, settling])), "evidence")
        yield Paragraph(describe_enough_evidence(size, epoch.noun), "evidence")
    else:
        yield METRIC_CHOICE
        unjudged = "How many members are enough is not judged by ECE."
        yield Paragraph(" ".join([*broken, unjudged]), "answer")
        yield Paragraph(
            f"ECE is not a mean over {pluralize_noun(epoch.noun)}, so no margin of it can be tested. "
            "Choose another metric.",
            "evidence",
        )
    yield from repeat_member_faults(epoch, broken)
    drawn_by = (name, margin, share) if size else (name,)

    def build_metric_figure(metric: str) -> Figure:
        if metric == name:
            return _build_committee_figure(epoch, judged, metric, size, drawn_by)
        default = offer_margins(metric).default if metric in DEFAULT_MARGINS else ""
        enough_members = (
            decide_enough_members(epoch, metric, DEFAULT_MARGINS[metric], REQUIRED_SHARE)
            if metric in DEFAULT_MARGINS
            else None
        )
        return _build_committee_figure(epoch, judged, metric, enough_members, (metric, default, KEEP_CHOICE.default))

    yield Figures(
        METRIC_CHOICE,
        build_metric_figure,
        {"ece": lambda: describe_chance_error(epoch.measure(estimate_ensemble_calibration_error))},
    )
    beyond = extrapolate_committee_curve(judged, name)
    table = tabulate_committee_costs(judged, name, beyond, epoch)
    yield Table(
        "Gain and cost of each further member",
        table,
        True,
        explain_committee_costs(judged, beyond, name, list(table)),
        "committee_costs",
    )

    def build_alternative(word: str) -> View:
        members = size.size if size else epoch.members
        match word:
            case "epochs":
                yield from members_for_epochs_view(epoch, members, name)
            case "wider":
                yield from wider_network_view(epoch)
            case "cheaper":
                yield from cheaper_members_view(epoch)
            case _:
                yield Columns(
                    (1, 1), (lambda: _member_worth_view(epoch, judged), lambda: _best_committees_view(epoch, judged))
                )

    # Members against epochs reads every epoch: with so many members only if it is asked for.
    default = _ALTERNATIVES.default if epoch.members <= MAX_MEMBERS_ALL_SIZES else "wider"
    yield Alternatives(replace(_ALTERNATIVES, default=default), build_alternative)


def _find_epoch_margin(epoch: EvaluatedEpoch, judged: CommitteeEvaluation, size: SufficientSize) -> float | None:
    """Return the smallest offered loss at which fewer members are enough; None if none is, or that is decided."""
    if size.smallest_sufficient or size.sizes[0].outcome != "undecided":
        return None

    def find_margin(_: EnsemblePredictions, figure: str, share: float) -> float | None:
        return find_settling_margin(judged, figure, list(MARGIN_VALUES[figure].values()), share)

    return epoch.measure(find_margin, size.metric, size.share)


def _build_committee_figure(
    epoch: EvaluatedEpoch,
    judged: CommitteeEvaluation,
    name: str,
    verdict: SufficientSize | None,
    drawn_from: tuple[str, ...],
) -> Figure:
    curve = committees.committee_curve(judged, name)
    first, last = (format_committee_metric(curve.mean[end], name, judged.n) for end in (0, -1))
    title = f"{METRIC_NAMES[name]} over the committee's size · {epoch.source}"
    return Figure(
        label=METRIC_NAMES[name],
        alt=f"Mean {METRIC_NAMES[name]} over the committee's size, from {first} to {last}",
        explanation=f"{METRIC_NAMES[name]} ({_METRIC_GLOSSES[name]}) goes from {first} for a single member, on "
        f"average, to {last} for {format_all_members(judged.members)}; the band is from the "
        f"best to the worst committee of a size. {_describe_judged_committees(judged)}.",
        draw=lambda palette: plot_committee_curve(judged, name, verdict, title, palette),
        key="committee",
        file=f"committee-{name}",
        title="The committees' figures by their size",
        table=lambda: tabulate_committee_sizes(judged, epoch.measure(pick_best_committees, fitted=True)),
        drawn_from=drawn_from,
    )


def _member_worth_view(epoch: EvaluatedEpoch, judged: CommitteeEvaluation) -> View:
    """What each member is worth: the ensemble with it and without."""
    yield Table(
        "What each member is worth",
        _tabulate_member_worth(judged, epoch.noun),
        True,
        explain_member_worth(judged.members),
        "committee_worth",
    )


def _best_committees_view(epoch: EvaluatedEpoch, judged: CommitteeEvaluation) -> View:
    picked = epoch.measure(pick_best_committees, fitted=True)
    rows = [_find_committee_row(judged, who) for who in picked]
    table = pd.DataFrame(
        {
            "size": [str(len(who)) for who in picked],
            "NLL": [formats.format_significant(judged.nll[row]) for row in rows],
            "accuracy": [formats.format_percent(judged.accuracy[row], judged.n) for row in rows],
            "members": [format_committee_members(who, judged.members) for who in picked],
        }
    )
    yield Table(
        "The best committee of each size",
        table,
        True,
        describe_committee_choice(epoch.fit is not None),
        "committee_best",
    )


def judge_committees(predictions: EnsemblePredictions) -> CommitteeEvaluation:
    return evaluate_committees(predictions.probabilities, predictions.labels, groups=predictions.groups)


def pick_best_committees(predictions: EnsemblePredictions, fit: EnsemblePredictions | None) -> list[tuple[int, ...]]:
    """The members of the best committee of each size by NLL, on the images held out if any are.

    The same committees are looked at there as on the test images.
    """
    on = fit or predictions
    return committees.best_committees_by_size(on.probabilities, on.labels)


def decide_enough_members(epoch: EvaluatedEpoch, figure: str, margin: float, share: float) -> SufficientSize:
    judged = epoch.measure(judge_committees)

    def decide_for_margin(_: EnsemblePredictions, figure: str, margin: float, share: float) -> SufficientSize:
        return find_sufficient_size(judged, figure, margin, share)

    return epoch.measure(decide_for_margin, figure, margin, share)


VIEW = RegisteredView(
    "members",
    "How many members?",
    "How many members are enough, at which cost, and what else the same cost buys",
    build_how_many_members,
    place=60,
    question=BETTER,
    needs_several=True,
)
