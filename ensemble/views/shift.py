"""Shift: what becomes of the ensemble on images that are not like those it learnt from."""

from collections.abc import Sequence
from statistics import fmean
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ensemble import datasets
from ensemble.analysis.example_measures import EXAMPLE_MEASURES
from ensemble.analysis.inference.proportion_interval import wilson_interval
from ensemble.errors import EnsembleError
from ensemble.figures import chart_style
from ensemble.figures.palette import MUTED_COLOR, Palette, parse_hex_color
from ensemble.shift import StressResults, read_stress
from ensemble.shift.corruptions import Corruption, scale_corruptions
from ensemble.shift.results import KNOWN_KEY
from ensemble.shift.shift_metrics import ERROR_RATE
from ensemble.views.accuracy_estimates import (
    collect_estimated_steps,
    describe_estimated_steps,
    describe_estimated_steps_chart,
    plot_estimated_steps,
    tabulate_estimated_steps,
)
from ensemble.views.evaluated_epoch import EvaluatedEpoch
from ensemble.views.parts import Alternatives, Choice, DeferredChoice, Figure, Figures, Paragraph, Table, View
from ensemble.views.registry import ROBUST, RegisteredView
from ensemble.wording import escaping, formats
from ensemble.wording.accuracy_estimates import describe_estimate_basis
from ensemble.wording.formats import pluralize_noun
from ensemble.wording.run_names import format_run_name
from ensemble.wording.verdicts.ensemble_gain import describe_shift_groups

if TYPE_CHECKING:
    import plotly.graph_objects as go


_CorruptionMetrics = dict[str, Any]

# What is drawn: its name in the results, its title, and whether it is a share of images.
_PANELS = (
    ("accuracy", "accuracy", True),
    ("nll", "NLL (nats)", False),
    ("ece", "calibration error (ECE)", False),
    ("epistemic", "epistemic uncertainty (nats)", False),
)


_PANEL_TITLE_HEIGHT = 24  # pixels
_USEFUL_AUROC = 0.7  # from which on an uncertainty is said to tell wrong answers from right ones


def build_panel_layout(title: str, height: int, palette: Palette) -> dict[str, Any]:
    chart_layout = chart_style.build_chart_layout(title, height + _PANEL_TITLE_HEIGHT, palette)
    chart_layout["margin"]["t"] += _PANEL_TITLE_HEIGHT
    return chart_layout


def plot_corruption_metrics(
    curve: Sequence[_CorruptionMetrics], kind: Corruption, n: int, title: str, palette: Palette
) -> "go.Figure":
    """Accuracy, NLL, ECE and epistemic uncertainty against the amount.

    Args:
      curve: the figures of each amount, as `StressResults.list_corruption_steps` gives them.
    """
    from plotly.subplots import make_subplots  # here, for it takes a while to import

    chart = make_subplots(
        2, 2, subplot_titles=[panel[1] for panel in _PANELS], vertical_spacing=0.2, horizontal_spacing=0.12
    )
    for place, (name, words, share) in enumerate(_PANELS):
        row, column = place // 2 + 1, place % 2 + 1
        counted = n if share else 0
        for trace in _build_panel_traces(
            curve, kind, name=name, words=words, n=counted, palette=palette, first=not place
        ):
            chart.add_scatter(**trace, row=row, col=column)
        axis: dict[str, Any] = {"rangemode": "tozero"}
        if share:
            axis = {**chart_style.build_percent_ticks(), "range": [0, 1.02]}
        chart.update_yaxes(**axis, fixedrange=True, automargin=True, row=row, col=column)
    chart.update_layout(**build_panel_layout(title, 600, palette))
    chart.update_xaxes(fixedrange=True, tickvals=list(kind.amounts), ticktext=[f"{value:g}" for value in kind.amounts])
    if kind.amounts[0] > kind.amounts[-1]:
        chart.update_xaxes(autorange="reversed")
    for column in (1, 2):
        chart.update_xaxes(title=kind.measure, row=2, col=column)
    chart.update_annotations(font_size=13)
    return chart


def _build_panel_traces(
    curve: Sequence[_CorruptionMetrics],
    kind: Corruption,
    name: str,
    words: str,
    n: int,
    palette: Palette,
    *,
    first: bool,
) -> list[dict[str, Any]]:
    """One panel's lines: the members thin, the ensemble bold and last."""
    xs = [metrics["amount"] for metrics in curve]
    members = [list(values) for values in zip(*(metrics.get(f"member_{name}", []) for metrics in curve), strict=True)]
    whole = [metrics[f"ensemble_{name}" if name != "epistemic" else "mean_epistemic"] for metrics in curve]

    def format_hovers(who: str, values: Sequence[float]) -> list[str]:
        return [
            f"{who} at {kind.format_amount(x)}: {_format_panel_value(value, n)} {words}"
            for x, value in zip(xs, values, strict=True)
        ]

    thin = (
        chart_style.build_member_lines(
            [xs] * len(members),
            members,
            [format_hovers(chart_style.format_member_name(m).capitalize(), ys) for m, ys in enumerate(members)],
        )
        if len(members) > 1
        else []
    )
    alone = len(curve[0]["member_accuracy"]) == 1
    bold = {
        "x": xs,
        "y": whole,
        "mode": "lines+markers",
        "name": "the one member" if alone else "ensemble",
        "line": chart_style.style_ensemble_line(palette),
        "marker": {"size": 7, "color": palette.ink},
        "hovertext": format_hovers("It" if alone else "The ensemble", whole),
        "hoverinfo": "text",
        "legendgroup": "ensemble",
    }
    return [{**trace, "showlegend": first and trace.get("showlegend", True)} for trace in [*thin, bold]]


def _format_panel_value(value: float, n: int) -> str:
    """A share of `n` images in percent; any other figure, where n is 0, as it is."""
    return formats.format_percent(value, n) if n else formats.format_significant(value)


def _tabulate_corruption_metrics(curves: Sequence[Sequence[_CorruptionMetrics]]) -> pd.DataFrame:
    """Every kind's figures: a row for each amount and member, and for the ensemble."""
    rows: list[dict[str, Any]] = []
    for metrics in (amount_metrics for curve in curves for amount_metrics in curve):
        base = {"corruption": metrics["kind"], "amount": metrics["amount"]}
        names = ("accuracy", "nll", "ece")
        rows.append(
            {
                **base,
                "who": "ensemble",
                **{n: metrics[f"ensemble_{n}"] for n in names},
                **{name: metrics[f"mean_{name}"] for name in ("entropy", "aleatoric", "epistemic")},
            }
        )
        for m in range(len(metrics["member_accuracy"])):
            figures = {name: metrics[f"member_{name}"][m] for name in names}
            rows.append({**base, "who": chart_style.format_member_name(m), **figures})
    return pd.DataFrame(rows)


def describe_corruption_effect(curve: Sequence[_CorruptionMetrics], kind: Corruption, n: int, noun: str) -> str:
    clean, worst = curve[0], curve[-1]
    many = len(clean["member_accuracy"]) > 1
    who = "the ensemble's" if many else "the one member's"
    before = f"from {formats.format_percent(clean['ensemble_accuracy'], n)} on the {pluralize_noun(noun)} as they are"
    sentence = f"At {kind.format_amount(worst['amount'])} {who} accuracy is "
    sentence += f"**{formats.format_percent(worst['ensemble_accuracy'], n)}**, "
    nll = f"Its NLL is {_format_nats(worst['ensemble_nll'])}"
    if not many:
        return f"{sentence}{before}. {nll}, from {_format_nats(clean['ensemble_nll'])}."
    gain = (worst["ensemble_accuracy"] - fmean(worst["member_accuracy"])) * n
    digits = formats.round_half_away(gain)
    count = formats.format_count(abs(digits), noun)
    than = f"{count} {'more' if digits > 0 else 'fewer'} than" if digits else "as many right as"
    sentence += f"{than} the average member, {before}. "
    sentence += f"{nll}, the average member's {_format_nats(fmean(worst['member_nll']))}. "
    return sentence + " ".join(describe_shift_trust(clean, worst, n, noun))


def describe_shift_trust(clean: _CorruptionMetrics, worst: _CorruptionMetrics, n: int, noun: str) -> list[str]:
    """Whether the ensemble's confidence can be relied on where the images have changed.

    Three sentences: confidence against accuracy, whether uncertainty tells wrong answers from right
    ones, and what a threshold set on the images as they are would let through. Results of an
    earlier version, which measured none of it, say how far the members disagree.
    """
    if "mean_confidence" not in worst:
        return [
            f"Epistemic uncertainty goes from {_format_nats(clean['mean_epistemic'])} to "
            f"{_format_nats(worst['mean_epistemic'])} nats; measure again to see whether the "
            "uncertainty can be relied on."
        ]
    return [
        _describe_confidence_gap(worst),
        _describe_error_detection(worst["error_auroc"]),
        _describe_answered_errors(clean, worst, n, noun),
    ]


def _describe_confidence_gap(worst: _CorruptionMetrics) -> str:
    low, high = worst["confidence_gap"]
    sure = formats.format_percent(worst["mean_confidence"], places=0)
    ends = sorted((abs(100 * low), abs(100 * high)))
    points = f"{ends[0]:.0f} to {ends[1]:.0f} points"
    if low > 0:
        return f"It is {sure} sure on average: **too sure** by {points} (95 %)."
    if high < 0:
        return f"It is {sure} sure on average: less sure than right, by {points} (95 %)."
    return (
        f"It is {sure} sure on average, which is not shown to differ from its accuracy "
        f"({100 * low:+.0f} to {100 * high:+.0f} points, 95 %)."
    ).replace("-", "\N{MINUS SIGN}")


def _describe_error_detection(auroc: Sequence[float] | None) -> str:
    if auroc is None:
        return "Too few answers are wrong, or right, to say whether uncertainty tells which."
    value, low, high = auroc
    figures = f"AUROC {value:.2f}, 95 % interval {low:.2f} to {high:.2f}"
    if low <= 0.5:
        return f"Its uncertainty is not shown to tell wrong answers from right ones ({figures})."
    if low >= _USEFUL_AUROC:
        return f"Its uncertainty tells wrong answers from right ones ({figures})."
    return f"Its uncertainty tells little of which answers are wrong ({figures})."


def _describe_answered_errors(clean: _CorruptionMetrics, worst: _CorruptionMetrics, n: int, noun: str) -> str:
    """What a threshold that lets 1 % errors through on the images as they are does here."""
    rate = formats.format_percent(ERROR_RATE, figures=2)
    if clean.get("answer_threshold") is None:
        return f"No threshold keeps errors to {rate} on the {pluralize_noun(noun)} as they are."
    answered, wrong = worst["answered"], worst["answered_wrong"]
    text = f"The threshold that lets {rate} errors through on the {pluralize_noun(noun)} as they"
    if not answered:
        return f"{text} are answers none of these."
    # Results of earlier versions have no interval of their own.
    ends = worst.get("answered_error") or wilson_interval(wrong, answered)
    low, high = (formats.format_percent(end, answered) for end in ends)
    return (
        f"{text} are answers {formats.format_percent(answered / n, n)} of these, "
        f"{formats.format_percent(wrong / answered, answered)} of them wrongly ({low} to {high})."
    )


def _format_nats(value: float) -> str:
    """A figure in nats, to three significant figures."""
    return formats.format_significant(value)


def describe_measured_members(results: StressResults) -> str:
    """Which members were measured: "epoch 4", or "epoch 4 and 12 steps"."""
    more = f" and {formats.format_count(results.steps_after, 'step')}" if results.steps_after else ""
    return f"epoch {results.epoch}{more}"


_BINS = 40
_OOD_NOTES = (
    "AUROC: how often an out-of-distribution (OOD) image scores higher than a known one; 0.5 "
    "is a guess, 1 is always. FPR at 95 %: the share of OOD images that pass where 95 % of the "
    "known ones do; that limit is set on the test images themselves. Epistemic uncertainty: "
    "what the members disagree about; one alone has none."
)
Scores = dict[str, NDArray[np.float32]]


def plot_entropy_histograms(
    known: Scores, unknown: Scores, names: tuple[str, str], title: str, palette: Palette, classes: int = 10
) -> "go.Figure":
    """Entropies of known and of out-of-distribution (OOD) images, of one member and the ensemble."""
    from plotly.subplots import make_subplots  # here, for it takes a while to import

    alone = len(known["member_entropy"]) == 1
    called = [escaping.escape_plotly_text(name) for name in names]
    panels = ["the one member"] if alone else ["members, pooled", "ensemble"]
    chart = make_subplots(1, len(panels), subplot_titles=panels, shared_yaxes=True)
    for column, score in enumerate(("member_entropy", "entropy")[: len(panels)], 1):
        for place, (name, image_scores) in enumerate(zip(called, (known, unknown), strict=True)):
            line = _build_entropy_histogram(image_scores[score], name, place, palette, classes, first=column == 1)
            chart.add_scatter(**line, row=1, col=column)
        chart.update_xaxes(
            title="entropy (nats)", fixedrange=True, range=[0, compute_max_entropy(classes)], row=1, col=column
        )
    chart.update_layout(**build_panel_layout(title, 350, palette))
    chart.update_yaxes(title="share of the images", ticksuffix=" %", rangemode="tozero", fixedrange=True, col=1)
    chart.update_annotations(font_size=13)
    return chart


def compute_max_entropy(classes: int = 10) -> float:
    """The highest entropy that there is of so many classes: ln C."""
    return float(np.log(classes))


def _build_entropy_histogram(
    values: NDArray[np.float32], name: str, place: int, palette: Palette, classes: int, *, first: bool
) -> dict[str, Any]:
    """A histogram as a filled step line: `place` 0 are the known, dotted; 1 the OOD images."""
    edges = np.linspace(0, compute_max_entropy(classes), _BINS + 1)
    counts, _ = np.histogram(np.clip(values, 0, compute_max_entropy(classes)), edges)
    shares = counts / max(1, values.size)
    color = (MUTED_COLOR, palette.primary)[place]
    hover = [
        f"{formats.format_percent(share, 500)} of {name} have {low:.2f} to {high:.2f} nats"
        for share, low, high in zip(shares, edges[:-1], edges[1:], strict=True)
    ]
    return {
        "x": (edges[:-1] + edges[1:]) / 2,
        "y": 100 * shares,
        "mode": "lines",
        "name": name,
        "line": {"shape": "hvh", "color": color, "width": 2, "dash": ("dot", "solid")[place]},
        "fill": "tozeroy",
        "hovertext": hover,
        "hoverinfo": "text",
        "showlegend": first,
        "legendgroup": str(place),
        "fillcolor": f"rgba({', '.join(map(str, parse_hex_color(color)))}, 0.25)",
    }


def _tabulate_entropy_scores(known: Scores, unknown: Scores) -> pd.DataFrame:
    """A row for each image: which it is of, and every score."""
    frames = []
    for which, image_scores in (("known", known), ("ood", unknown)):
        flat = {name: values for name, values in image_scores.items() if values.ndim == 1}
        flat |= {f"entropy_member_{m + 1}": values for m, values in enumerate(image_scores["member_entropy"])}
        frames.append(pd.DataFrame({"images": which, "number": range(len(image_scores["entropy"])), **flat}))
    return pd.concat(frames)


def describe_ood_separation(ood_set: dict[str, Any], noun: str) -> str:
    whole, member = ood_set["measures"]["entropy"], _average_member_metrics(ood_set["members"])
    title = escaping.escape_markdown(ood_set["title"])
    sentence = f"Take one known {noun} and one image of “{title}”: "
    if len(ood_set["members"]) == 1:
        return sentence + f"the one member is less sure of the latter {_format_auroc(whole['auroc'])}."
    sentence += f"the ensemble is less sure of the latter **{_format_auroc(whole['auroc'])}**, "
    sentence += f"one member {_format_auroc(member['auroc'])}. "
    if whole["auroc"] + _compute_auroc_margin(whole["auroc"], ood_set["images"]) < 0.5:
        return sentence + "Below 50, it is surer of what it has never seen."
    passing, alone = (formats.format_percent(metrics["fpr95"], 500) for metrics in (whole, member))
    return sentence + (
        "If 95 % of the known are to pass, "
        f"{passing} of the out-of-distribution images pass too, with one member {alone}."
    )


def _compute_auroc_margin(auroc: float, images: int) -> float:
    """Half the 95 % interval of an AUROC at most, where the smaller set has so many images.

    Source: D. van Dantzig, "On the consistency and the power of Wilcoxon's two sample test",
    Indagationes Mathematicae 13 (1951), 1-8: the variance is at most A (1 − A) / min(m, n).
    """
    return 1.96 * (auroc * (1 - auroc) / images) ** 0.5


def _format_auroc(auroc: float) -> str:
    """An AUROC in words: "in 97.3 of 100 cases"."""
    return f"in {100 * auroc:.1f} of 100 cases"


def _average_member_metrics(members: list[dict[str, float]]) -> dict[str, float]:
    return {name: sum(member[name] for member in members) / len(members) for name in members[0]}


def _tabulate_ood_metrics(ood_set: dict[str, Any]) -> pd.DataFrame:
    """A row for each score: AUROC, AUPR where it was measured, and FPR at 95 %."""
    rows = [("one member: its entropy", _average_member_metrics(ood_set["members"]))]
    if len(ood_set["members"]) > 1:
        rows[0] = (f"one member: its entropy (mean of {len(ood_set['members'])})", rows[0][1])
        rows += [
            (f"ensemble: {measure.term}", ood_set["measures"][name])
            for name, measure in EXAMPLE_MEASURES.items()
            if name in ood_set["measures"]
        ]
    return pd.DataFrame(
        [
            {
                "score": score,
                "AUROC": f"{figures['auroc']:.3f}",
                **(
                    {"AUPR": f"{figures['aupr']:.3f} (chance {figures['aupr_chance']:.3f})"}
                    if "aupr" in figures
                    else {}
                ),
                "FPR at 95 %": formats.format_percent(figures["fpr95"], 500),
            }
            for score, figures in rows
        ]
    )


_MISSING_SCORES = "The scores of these images were deleted: measure again to get them back."
_ESTIMATES_HEADING = "Accuracy as it would be estimated without labels"
_MISSING_ESTIMATES = "Run the stress test again to see this: an earlier version did not estimate it."
_OOD_HEADING = "Out-of-distribution images: of no class that the members know"


def read_shift_results(epoch: EvaluatedEpoch) -> StressResults | None:
    """What was measured under shift; None where nothing was, or it cannot be read."""
    try:
        results = read_stress(epoch.run.id).results
    except EnsembleError:
        return None
    return results if results is not None and results.clean else None


def build_shift(epoch: EvaluatedEpoch) -> View:
    results = read_shift_results(epoch)
    if results is None:
        yield Paragraph(
            "This run has not been measured under shift: its members have to be run again for that.",
            "unavailable",
            icon=":material/hourglass_empty:",
        )
        return
    yield from shift_results_view(epoch, results)


def shift_results_view(epoch: EvaluatedEpoch, results: StressResults) -> View:
    yield Paragraph(
        f"Measured on {results.images:,} test {pluralize_noun(epoch.noun)}, with the members of "
        f"{describe_measured_members(results)}.",
        "scope",
    )
    if epoch.predictions.groups is not None and results.clean:
        groups = results.clean.get("groups")
        yield Paragraph(describe_shift_groups(groups, epoch.noun), "note")
    yield from _corruptions_view(epoch, results)
    yield from _accuracy_estimates_view(epoch, results)
    if results.ood:
        yield Paragraph(_OOD_HEADING, "heading")
        choice = Choice(
            "outside",
            "Shown to the members",
            {ood_set["key"]: ood_set["title"] for ood_set in results.ood},
            results.ood[0]["key"],
        )
        by_key = {ood_set["key"]: ood_set for ood_set in results.ood}
        yield Alternatives(choice, lambda key: _ood_view(epoch, results, by_key[key]))


def _corruptions_view(epoch: EvaluatedEpoch, results: StressResults) -> View:
    """One kind of corruption: figures over its amounts."""
    every = scale_corruptions((results.side, results.side))
    titles = {name: kind.title for name, kind in every.items()}
    all_kinds = Choice("kind", "Corruption", titles, next(iter(every)))
    measured = [name for name in every if len(results.list_corruption_steps(name)) > 1]
    name = yield DeferredChoice(all_kinds)
    yield all_kinds
    if name not in measured:
        yield Paragraph(f"{titles[name]} has not been measured yet.", "missing")
    if measured:
        default = name if name in measured else measured[0]
        choice = Choice("kind", "Corruption", {kind: titles[kind] for kind in measured}, default)
        yield Figures(choice, lambda kind: _build_corruption_figure(epoch, results, every[kind]))


def _build_corruption_figure(epoch: EvaluatedEpoch, results: StressResults, kind: Corruption) -> Figure:
    curve, n = results.list_corruption_steps(kind.name), results.images
    every = scale_corruptions((results.side, results.side))
    ends = [
        f"{formats.format_percent(metrics['ensemble_accuracy'], n)} at {kind.format_amount(metrics['amount'])}"
        for metrics in (curve[0], curve[-1])
    ]
    title = f"{kind.title} · {format_run_name(epoch.run)} · {describe_measured_members(results)}"
    return Figure(
        label=kind.title,
        alt=f"Accuracy, NLL, calibration error and epistemic uncertainty by {kind.title.lower()}: the "
        f"ensemble's accuracy is {' and '.join(ends)}",
        explanation=describe_corruption_effect(curve, kind, n, epoch.noun),
        draw=lambda palette: plot_corruption_metrics(curve, kind, n, title, palette),
        markdown=True,
        key="shift",
        file=kind.name,
        title=f"{kind.title}, and every other corruption",
        table=lambda: _tabulate_corruption_metrics([results.list_corruption_steps(kind_name) for kind_name in every]),
        of_epoch=False,
    )


def _accuracy_estimates_view(epoch: EvaluatedEpoch, results: StressResults) -> View:
    clean = results.clean or {}
    if "accuracy_estimate" not in clean:
        yield Paragraph(_ESTIMATES_HEADING, "heading")
        yield Paragraph(_MISSING_ESTIMATES, "missing")
        return
    steps = collect_estimated_steps(results)
    if not steps:
        return
    yield Paragraph(_ESTIMATES_HEADING, "heading")
    title = f"Estimated accuracy · {format_run_name(epoch.run)} · epoch {results.epoch}"
    yield Figures.single(
        Figure(
            label="",
            alt=describe_estimated_steps_chart(steps),
            explanation=describe_estimated_steps(steps, epoch.noun),
            draw=lambda palette: plot_estimated_steps(steps, epoch.noun, title, palette),
            markdown=True,
            key="estimates",
            file="accuracy-estimates",
            title="Accuracy as estimated without labels, and as it is",
            table=lambda: tabulate_estimated_steps(steps),
            of_epoch=False,
        )
    )
    yield Paragraph(describe_estimate_basis(clean["accuracy_fit"], clean["accuracy_estimate"], epoch.noun), "note")


def _ood_view(epoch: EvaluatedEpoch, results: StressResults, ood_set: dict[str, Any]) -> View:
    """One set of images of no class: how unsure of them the ensemble is, and every score."""
    scores = epoch.read_scores(KNOWN_KEY, results.tick)
    unknown = epoch.read_scores(ood_set["key"], results.tick)
    if scores is None or unknown is None:
        yield Paragraph(_MISSING_SCORES, "missing")
        return
    yield Figures.single(_build_entropies_figure(epoch, results, ood_set, scores, unknown))
    yield Table(
        f"Known images against {ood_set['title']}", _tabulate_ood_metrics(ood_set), True, _OOD_NOTES, "ood_table"
    )
    if missing_datasets := _explain_missing_datasets(results):
        yield Paragraph(missing_datasets, "hint")


def _build_entropies_figure(
    epoch: EvaluatedEpoch, results: StressResults, ood_set: dict[str, Any], scores: Scores, unknown: Scores
) -> Figure:
    title = f"{ood_set['title']} · {format_run_name(epoch.run)} · epoch {results.epoch}"
    # The dataset, gone or of another machine, need not tell its title.
    names = epoch.run.data.title, ood_set["title"]
    return Figure(
        label="",
        alt=f"Histograms of entropy: {names[0]} against {names[1]}",
        explanation=describe_ood_separation(ood_set, epoch.noun),
        draw=lambda palette: plot_entropy_histograms(
            scores, unknown, names=names, title=title, palette=palette, classes=len(epoch.class_names)
        ),
        markdown=True,
        key="ood",
        file=f"ood-{ood_set['key']}",
        title="Entropies of known and out-of-distribution images",
        table=lambda: _tabulate_entropy_scores(scores, unknown),
        of_epoch=False,
    )


def _explain_missing_datasets(results: StressResults) -> str:
    try:
        own = datasets.find_dataset_info(results.dataset)
    except EnsembleError:  # It came in a report, and its dataset is not on this machine.
        return ""
    missing = [
        dataset_info.title
        for dataset_info in datasets.list_dataset_infos()
        if not dataset_info.prepared and not {*dataset_info.class_names} & {*own.class_names}
    ]
    if not missing:
        return ""
    return f"To show them {' or '.join(missing)} too, fetch it on Train."


VIEW = RegisteredView(
    "shift",
    "Shift",
    "Accuracy on corrupted images, and detection of out-of-distribution images",
    build_shift,
    place=140,
    question=ROBUST,
    applies=lambda epoch: read_shift_results(epoch) is not None,
)
