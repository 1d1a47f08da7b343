"""Uncertainty: each image by what is unclear in itself and what the members disagree about."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from ensemble.analysis.example_measures import Measures, compute_measures
from ensemble.analysis.inference.image_groups import select_groups
from ensemble.analysis.members.entanglement import (
    Detection,
    RankCorrelation,
    estimate_rank_correlation,
    measure_detection,
)
from ensemble.analysis.predictions import EnsemblePredictions, sort_examples
from ensemble.analysis.quality.averaging import Ints
from ensemble.analysis.quality.error_detection import AurocEstimate
from ensemble.figures import chart_style
from ensemble.figures.palette import RIGHT_COLOR, WRONG_COLOR, Palette
from ensemble.shift.results import KNOWN_KEY
from ensemble.views.evaluated_epoch import EvaluatedEpoch
from ensemble.views.examples.example_table import tabulate_examples
from ensemble.views.parts import Columns, Figure, Figures, Images, Paragraph, Table, View
from ensemble.views.registry import TRUST, RegisteredView
from ensemble.views.shift import read_shift_results
from ensemble.wording import escaping, formats
from ensemble.wording.formats import pluralize_noun
from ensemble.wording.terms import SPLIT_LIMIT

if TYPE_CHECKING:
    import plotly.graph_objects as go


UNCERTAINTY_PARTS = ("entropy", "aleatoric", "epistemic")
MAX_POINTS = 1_500  # points that a browser draws and lets one choose from without a wait


def select_drawn_images(predictions: EnsemblePredictions, measures: Measures) -> Ints:
    """The images to draw: every wrong one, and of the right ones the surest thinned out."""
    wrong, right = (np.flatnonzero(~predictions.right), np.flatnonzero(predictions.right))
    by_doubt = right[np.argsort(-measures["entropy"][right], kind="stable")]
    room = max(MAX_POINTS - len(wrong), MAX_POINTS // 2)
    if len(by_doubt) <= room:
        return np.arange(len(predictions.labels))
    unsure, sure = by_doubt[: room // 2], by_doubt[room // 2 :]
    return np.concatenate([wrong, unsure, sure[:: compute_thinning_factor(predictions)]])


def compute_thinning_factor(predictions: EnsemblePredictions) -> int:
    wrong = int((~predictions.right).sum())
    room = max(MAX_POINTS - wrong, MAX_POINTS // 2)
    return -(-(len(predictions.labels) - wrong - room // 2) // (room - room // 2))


def plot_uncertainty_scatter(
    predictions: EnsemblePredictions,
    measures: Measures,
    drawn: Ints,
    names: Sequence[str],
    noun: str,
    title: str,
    palette: Palette,
) -> "go.Figure":
    import plotly.graph_objects as go  # here, for it takes a while and only this needs it

    names = [escaping.escape_plotly_text(name) for name in names]
    traces = []
    for name, kept, mark in (
        ("right", predictions.right, {"color": RIGHT_COLOR, "symbol": "circle", "opacity": 0.6}),
        ("wrong", ~predictions.right, {"color": WRONG_COLOR, "symbol": "x", "opacity": 0.9}),
    ):
        numbers = drawn[kept[drawn]]
        traces.append(
            go.Scatter(
                x=measures["aleatoric"][numbers],
                y=measures["epistemic"][numbers],
                mode="markers",
                name=f"{name} {int(kept.sum()):,}",
                marker={"size": 7, **mark},
                customdata=[
                    [int(number), names[predictions.said[number]], names[predictions.labels[number]]]
                    for number in numbers
                ],
                hovertemplate=f"{noun.capitalize()} %{{customdata[0]}}: says %{{customdata[1]}}, is %{{customdata[2]}}"
                "<br>aleatoric %{x:.3f} nats, epistemic %{y:.3f} nats<extra></extra>",
            )
        )
    chart = go.Figure(traces)
    chart.update_layout(**chart_style.build_chart_layout(title, 480, palette))
    chart.update_xaxes(title="aleatoric (nats)", rangemode="tozero", zeroline=False)
    chart.update_yaxes(title="epistemic (nats)", rangemode="tozero", zeroline=False)
    return chart


UNCERTAINTY_GLOSS = (
    "Aleatoric: each member is unsure by itself, as with an image that is hard to read (the mean "
    "of the members' entropies). Epistemic: the members disagree (mutual information). Their sum "
    f"is the entropy of the averaged probabilities; 0 nats is sure. {SPLIT_LIMIT}"
)


def _explain_uncertainty_chart(predictions: EnsemblePredictions, measures: Measures, noun: str) -> str:
    right = predictions.right
    if right.all():
        return f"The ensemble gets every {noun} right: no cross stands here."
    if not right.any():
        return f"The ensemble gets no {noun} right: every point is a cross."
    median = np.median(measures["entropy"][~right])
    share = float((measures["entropy"][right] < median).mean())
    surer = formats.format_percent(share, len(right))
    sentence = (
        f"For half of its mistakes the ensemble was less sure than for {surer} of the "
        f"{pluralize_noun(noun)} it gets right"
    )
    part = float(measures["epistemic"][~right].sum() / (measures["entropy"][~right].sum() or 1))
    doubt = formats.format_percent(part, places=0)
    return f"{sentence}; {doubt} of its doubt about those it gets wrong is the members' disagreement."


def mark_image_uncertainty(chart: "go.Figure", measures: Measures, number: int, noun: str, palette: Palette) -> None:
    chart.add_scatter(
        x=measures["aleatoric"][[number]],
        y=measures["epistemic"][[number]],
        mode="markers",
        name=f"this {noun}",
        hoverinfo="skip",
        cliponaxis=False,
        marker={"symbol": "circle-open", "size": 18, "color": palette.ink, "line": {"width": 3}},
    )


_SINGLE_MEMBER_NOTE = (
    "With one member there is no disagreement: all its uncertainty is of one kind, the images' "
    "own. The confusion matrix shows which classes it confuses."
)
_DETECTION_NOTE = (
    "AUROC: the probability that an image to detect has a higher uncertainty than another image; "
    "0.5 is a guess. In brackets: 95 % intervals; those of the differences hold together at 95 %, "
    "and a difference counts if its interval excludes 0."
)


def build_uncertainty(epoch: EvaluatedEpoch) -> View:
    if epoch.members == 1:
        yield Paragraph(_SINGLE_MEMBER_NOTE, "note")
        return
    yield Paragraph(UNCERTAINTY_GLOSS, "gloss")
    pressed: list[Any] = []

    def scatter_view() -> View:
        pressed.extend((yield Figures.single(_build_uncertainty_figure(epoch))) or ())

    yield Columns((3, 2), (scatter_view, lambda: _chosen_images_view(epoch, pressed)))
    yield from _entanglement_view(epoch)


def _entanglement_view(epoch: EvaluatedEpoch) -> View:
    """How far both parts measure different things: their rank correlation, and what they detect."""
    predictions, measures = epoch.predictions, epoch.measure(compute_measures, UNCERTAINTY_PARTS)
    correlation = epoch.measure(_correlate_parts)
    stress = read_shift_results(epoch)
    unknown_sets = []
    if stress and (stress.epoch, stress.steps_after) == (epoch.epoch, 0):
        unknown_sets = [(each["title"], each["key"], stress.tick) for each in stress.ood]
    tests = 1 + len(unknown_sets)
    errors = measure_detection(
        "errors",
        measures["aleatoric"],
        epistemic=measures["epistemic"],
        hits=~predictions.right,
        groups=predictions.groups,
        tests=tests,
    )
    sets = (_measure_ood_detection(epoch, *each, tests) for each in unknown_sets)
    detections = [each for each in (errors, *sets) if each]
    if sentence := describe_entanglement(correlation, detections, epoch.noun):
        yield Paragraph(sentence)
    if detections:
        yield Table(
            "Detection by each uncertainty",
            _tabulate_detections(detections),
            note=_DETECTION_NOTE,
            key="detection",
            from_outside=True,
        )


def _correlate_parts(predictions: EnsemblePredictions) -> RankCorrelation | None:
    measures = compute_measures(predictions, UNCERTAINTY_PARTS)
    return estimate_rank_correlation(measures["aleatoric"], measures["epistemic"], predictions.groups)


def _measure_ood_detection(epoch: EvaluatedEpoch, title: str, key: str, tick: int, tests: int) -> Detection | None:
    """Measure how well both parts detect a set of out-of-distribution images; None if lost."""
    known, unknown = epoch.read_scores(KNOWN_KEY, tick), epoch.read_scores(key, tick)
    if known is None or unknown is None or len(known["epistemic"]) > epoch.n:
        return None
    aleatoric, epistemic = (np.concatenate([known[name], unknown[name]]) for name in ("aleatoric", "epistemic"))
    count = len(known["epistemic"])
    groups = select_groups(epoch.predictions.groups, np.arange(count))
    if groups is not None:
        groups = np.append(groups, groups.max() + 1 + np.arange(len(aleatoric) - count))
    return measure_detection(
        title, aleatoric, epistemic=epistemic, hits=np.arange(len(aleatoric)) >= count, groups=groups, tests=tests
    )


def _build_uncertainty_figure(epoch: EvaluatedEpoch) -> Figure:
    predictions, measures = epoch.predictions, epoch.measure(compute_measures, UNCERTAINTY_PARTS)
    drawn = select_drawn_images(predictions, measures)
    sees = _explain_uncertainty_chart(predictions, measures, epoch.noun)
    if len(drawn) < epoch.n:
        sees += (
            f" All mistakes and unsure answers are drawn; of the surest, one in {compute_thinning_factor(predictions)}."
        )
    title = f"Uncertainty · {epoch.source}"
    return Figure(
        label="",
        alt="Aleatoric against epistemic uncertainty of "
        f"{formats.format_count(epoch.n, epoch.noun)}, right and wrong marked",
        explanation=sees,
        draw=lambda palette: plot_uncertainty_scatter(
            predictions, measures, drawn=drawn, names=epoch.class_names, noun=epoch.noun, title=title, palette=palette
        ),
        key="inspect_scatter",
        file="uncertainty",
        title="Both uncertainties of every image",
        table=lambda: tabulate_examples(
            epoch.predictions, np.arange(epoch.n), epoch.class_names, epoch.dataset.details
        ),
        drawn_from=(),
        help=UNCERTAINTY_GLOSS,
        selection_modes=("points", "box", "lasso"),
    )


def _chosen_images_view(epoch: EvaluatedEpoch, pressed: list[Any]) -> View:
    """Show the images of the chosen points; before any is chosen, the most disputed ones."""
    chosen = np.unique([int(facts[0]) for facts in pressed if facts]).astype(int)
    numbers = sort_examples(epoch.predictions, chosen[chosen < epoch.n], "unsure")
    caption = f"**{formats.format_count(len(numbers), epoch.noun)} chosen**, the least sure first"
    if not len(numbers):
        caption = ""
        yield Paragraph(
            f"Click a point to see its {epoch.noun}, or draw around many with the box or lasso "
            "above the picture. Until then: those the members disagree about most.",
            "hint",
        )
        numbers = np.argsort(-epoch.measure(compute_measures, UNCERTAINTY_PARTS)["epistemic"], kind="stable")
    yield Images(numbers, "inspect_scatter_digits", caption, rows=4, markdown=True)


def describe_entanglement(correlation: RankCorrelation | None, detections: Sequence[Detection], noun: str) -> str:
    sentences = []
    if correlation:
        sentences.append(
            f"Rank correlation of aleatoric and epistemic over the {pluralize_noun(noun)}: "
            f"{correlation.value:.2f} (95 % interval: {correlation.low:.2f} to "
            f"{correlation.high:.2f}); at 1 both rank them alike."
        )
    for detection in detections:
        difference = detection.difference
        if difference.low > 0 or difference.high < 0:
            better, other = ("epistemic", "aleatoric")[:: 1 if difference.low > 0 else -1]
            sentences.append(f"{better.capitalize()} detects {detection.target} better than {other}.")
    return " ".join(sentences)


def _tabulate_detections(detections: Sequence[Detection]) -> pd.DataFrame:
    """One row per target: the AUROC of each part, and their paired difference."""
    return pd.DataFrame(
        [
            {
                "to detect": detection.target,
                "aleatoric AUROC": _format_auroc_interval(detection.aleatoric),
                "epistemic AUROC": _format_auroc_interval(detection.epistemic),
                "epistemic − aleatoric": f"{difference.first - difference.second:+.3f} "
                f"({difference.low:+.3f} to {difference.high:+.3f})",
            }
            for detection in detections
            for difference in [detection.difference]
        ]
    )


def _format_auroc_interval(estimate: AurocEstimate) -> str:
    """Format an AUROC with its interval: "0.972 (0.961 to 0.980)"."""
    return f"{estimate.value:.3f} ({estimate.low:.3f} to {estimate.high:.3f})"


VIEW = RegisteredView(
    "uncertainty",
    "Uncertainty",
    "Aleatoric and epistemic uncertainty of each image",
    build_uncertainty,
    place=80,
    question=TRUST,
    part_label="Aleatoric and epistemic",
    applies=lambda epoch: epoch.members > 1,
)
