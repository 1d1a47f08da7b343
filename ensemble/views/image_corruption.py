"""One image against the amount of a corruption: three pictures over one axis.

How probable each member finds the label, what it says instead, and how unsure the ensemble is.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ensemble.analysis.example_measures import EXAMPLE_MEASURES, Measures
from ensemble.analysis.predictions import EnsemblePredictions
from ensemble.figures import chart_style as figures_lines
from ensemble.figures.palette import RIGHT_COLOR, WRONG_COLOR, Palette, mix_colors
from ensemble.runs import Members
from ensemble.shift.corruptions import Corruption
from ensemble.views.shift import build_panel_layout
from ensemble.wording import escaping, formats

if TYPE_CHECKING:
    import plotly.graph_objects as go

# With more members, only what the ensemble says has a row: the others would be too thin to read.
_MAX_MEMBER_ROWS = 12
ROW_HEIGHT = 19  # pixels
_MAX_LETTERED_AMOUNTS = 42  # amounts, up to which a letter fits into a cell


@dataclass(frozen=True, eq=False)
class CorruptionAnswers:
    """What the members say of one image at A amounts of a corruption.

    Attributes:
      amounts: the amounts, A of them, in the slider's order.
      images: uint8 (A, H, W, channels).
      predictions: what the members say of them, the A images in the place of N.
      measures: how unsure the ensemble is of each, by every measure.
      members: the members that were asked.
    """

    amounts: tuple[float, ...]
    images: NDArray[np.uint8]
    predictions: EnsemblePredictions
    measures: Measures
    members: Members


def plot_image_corruption(
    answers: CorruptionAnswers, kind: Corruption, place: int, names: Sequence[str], title: str, palette: Palette
) -> "go.Figure":
    from plotly.subplots import make_subplots  # here, for it takes a while to import

    names = [escaping.escape_plotly_text(name) for name in names]
    who = _list_answer_rows(answers)
    heights = [170, ROW_HEIGHT * len(who) + 8, 120]
    label = names[int(answers.predictions.labels[0])]
    chart = make_subplots(
        3,
        1,
        shared_xaxes=True,
        row_heights=heights,
        vertical_spacing=0.09,
        subplot_titles=[f"probability of “{label}”", "what they say", "uncertainty (nats)"],
    )
    for trace in _build_label_probability_lines(answers, kind, palette):
        chart.add_scatter(**trace, row=1, col=1)
    chart.add_heatmap(**_build_answer_cells(answers, kind, names, who, palette), row=2, col=1)
    for trace in _build_uncertainty_lines(answers, kind, palette):
        chart.add_scatter(**trace, row=3, col=1)
    here, line = (answers.amounts[place], {"color": palette.ink, "width": 1, "dash": "dot"})
    for row in (1, 3):
        chart.add_vline(here, line=line, row=row, col=1)
    low, high = _compute_amount_span([here], answers.amounts)
    # Around the cells: a line through them would hide the letters.
    chart.add_vrect(low, high, line={"color": palette.ink, "width": 2}, row=2, col=1)
    chart.update_layout(**build_panel_layout(title, sum(heights) + 200, palette))
    backwards = answers.amounts[0] > answers.amounts[-1]
    span = _compute_amount_span(answers.amounts, answers.amounts)
    chart.update_xaxes(range=span[::-1] if backwards else span, fixedrange=True)
    chart.update_xaxes(title=kind.measure, nticks=12, row=3, col=1)
    chart.update_yaxes(fixedrange=True, automargin=True)
    chart.update_yaxes(**figures_lines.build_percent_ticks(), range=[-0.02, 1.03], row=1, col=1)
    chart.update_yaxes(autorange="reversed", showgrid=False, row=2, col=1)
    chart.update_yaxes(rangemode="tozero", row=3, col=1)
    chart.update_annotations(font_size=13)
    return chart


def _compute_amount_span(some: Sequence[float], amounts: Sequence[float]) -> list[float]:
    half = (max(amounts) - min(amounts)) / (len(amounts) - 1) / 2
    return [min(some) - half, max(some) + half]


def _list_answer_rows(answers: CorruptionAnswers) -> list[str]:
    """Who has a row of what they say: the ensemble, then each of a few members."""
    M = answers.predictions.members
    if M == 1:
        return ["the one member"]
    return ["ensemble", *(figures_lines.format_member_name(m) for m in range(M if M <= _MAX_MEMBER_ROWS else 0))]


def _build_label_probability_lines(
    answers: CorruptionAnswers, kind: Corruption, palette: Palette
) -> list[dict[str, Any]]:
    predictions, label = (answers.predictions, int(answers.predictions.labels[0]))
    xs, M = list(answers.amounts), predictions.members
    thin = (
        figures_lines.build_member_lines(
            [xs] * M,
            [predictions.probabilities[m, :, label] for m in range(M)],
            [
                _format_probability_hovers(
                    answers,
                    kind,
                    figures_lines.format_member_name(m).capitalize(),
                    predictions.probabilities[m, :, label],
                )
                for m in range(M)
            ],
        )
        if M > 1
        else []
    )
    who = "ensemble" if M > 1 else "the one member"
    return [
        *thin,
        {
            "x": xs,
            "y": predictions.averaged[:, label],
            "mode": "lines",
            "name": who,
            "line": figures_lines.style_ensemble_line(palette),
            "hoverinfo": "text",
            "hovertext": _format_probability_hovers(
                answers, kind, f"The {who.removeprefix('the ')}", predictions.averaged[:, label]
            ),
        },
    ]


def _format_probability_hovers(answers: CorruptionAnswers, kind: Corruption, who: str, values: np.ndarray) -> list[str]:
    return [
        f"{who} at {kind.format_amount(x)}: {formats.format_probability(float(p))}"
        for x, p in zip(answers.amounts, values, strict=True)
    ]


def _build_answer_cells(
    answers: CorruptionAnswers, kind: Corruption, names: Sequence[str], who: Sequence[str], palette: Palette
) -> dict[str, Any]:
    """What each says at each amount: a cell with the class, blue where right, orange where not."""
    predictions = answers.predictions
    votes = np.vstack([predictions.said[None], predictions.votes])[: len(who)]
    right = votes == predictions.labels[None]
    fills = [mix_colors(palette.ground, color, 0.4) for color in (WRONG_COLOR, RIGHT_COLOR)]
    short = max(map(len, names)) == 1 and len(answers.amounts) <= _MAX_LETTERED_AMOUNTS
    return {
        "x": list(answers.amounts),
        "y": list(who),
        "z": right.astype(int),
        "zmin": 0,
        "zmax": 1,
        "colorscale": [(0.0, fills[0]), (0.5, fills[0]), (0.5, fills[1]), (1.0, fills[1])],
        "showscale": False,
        "xgap": 1,
        "ygap": 1,
        "hoverinfo": "text",
        "text": [[names[vote] for vote in row] for row in votes] if short else None,
        "texttemplate": "%{text}" if short else None,
        "textfont": {"size": 11, "color": palette.ink},
        "hovertext": [
            [
                f"{voter.capitalize()} at {kind.format_amount(x)}: {'✓' if good else '✗'} {names[vote]}"
                for x, vote, good in zip(answers.amounts, row, goods, strict=True)
            ]
            for voter, row, goods in zip(who, votes, right, strict=True)
        ],
    }


def _build_uncertainty_lines(answers: CorruptionAnswers, kind: Corruption, palette: Palette) -> list[dict[str, Any]]:
    lines = [("entropy", "solid")]
    if answers.predictions.members > 1:
        lines.append(("epistemic", "dash"))
    return [
        {
            "x": list(answers.amounts),
            "y": answers.measures[name],
            "mode": "lines",
            "name": EXAMPLE_MEASURES[name].term,
            "line": {"color": palette.ink, "width": 2, "dash": dash},
            "hoverinfo": "text",
            "hovertext": [
                f"{EXAMPLE_MEASURES[name].term.capitalize()} at {kind.format_amount(x)}: {y:.3f} nats"
                for x, y in zip(answers.amounts, answers.measures[name], strict=True)
            ],
        }
        for name, dash in lines
    ]


def describe_image_corruption_chart(answers: CorruptionAnswers, kind: Corruption, names: Sequence[str]) -> str:
    """The picture in words: where the ensemble is right."""
    right = [x for x, good in zip(answers.amounts, answers.predictions.right, strict=True) if good]
    label = names[int(answers.predictions.labels[0])]
    who = "the ensemble" if answers.predictions.members > 1 else "the one member"
    if not right:
        return f"{kind.title}: {who} says {label} at no amount from {_format_amount_range(answers.amounts, kind)}"
    return (
        f"{kind.title}: {who} says {label} at {len(right)} of "
        f"{len(answers.amounts)} amounts, from {_format_amount_range(right, kind)}"
    )


def _format_amount_range(amounts: Sequence[float], kind: Corruption) -> str:
    return f"{kind.format_amount(amounts[0])} to {kind.format_amount(amounts[-1])}"


def tabulate_image_corruption(answers: CorruptionAnswers, kind: Corruption, names: Sequence[str]) -> pd.DataFrame:
    """A row for each amount: what the ensemble and each member say, and the label's probability."""
    predictions, label = (answers.predictions, int(answers.predictions.labels[0]))
    named = np.asarray(names, object)
    columns: dict[str, Any] = {
        "corruption": kind.name,
        "amount": answers.amounts,
        "label": names[label],
        "ensemble": named[predictions.said],
        "p_label": predictions.averaged[:, label],
        **answers.measures,
    }
    for m in range(predictions.members):
        columns[f"member_{m + 1}"] = named[predictions.votes[m]]
        columns[f"p_label_member_{m + 1}"] = predictions.probabilities[m, :, label]
    return pd.DataFrame(columns)
