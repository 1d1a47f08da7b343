"""Predicted numbers against true ones, and what each member predicts of single examples."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ensemble.analysis.numeric.normal_mixture import Doubles, NormalMixture
from ensemble.analysis.numeric.numeric_ensemble import NumericEnsemble
from ensemble.figures import chart_style
from ensemble.figures.palette import MUTED_COLOR, RIGHT_COLOR, WRONG_COLOR, Palette, member_color, member_opacity
from ensemble.wording import formats
from ensemble.wording.escaping import escape_plotly_text
from ensemble.wording.numeric_predictions import format_with_unit

if TYPE_CHECKING:
    import plotly.graph_objects as go

MAX_POINTS = 400  # more would be sent and not be told apart
_MAX_LETTERS = 24  # of an example's name on an axis


def plot_predicted_numbers(
    ensemble: NumericEnsemble,
    targets: Doubles,
    ends: tuple[Doubles, Doubles] | None,
    names: Sequence[str],
    unit: str,
    title: str,
    palette: Palette,
) -> "go.Figure":
    """The predicted over the true number, with intervals.

    Args:
      targets: (N,).
      ends: (N,) each, of an interval; None without any.
      unit: of the targets; "" where it is not known.
    """
    import plotly.graph_objects as go  # here, for it takes a while and only pictures need it

    unit = escape_plotly_text(unit)
    drawn = select_spread_examples(targets)
    mean = ensemble.compute_mean()
    chart = go.Figure()
    low, high = float(targets.min()), float(targets.max())
    chart.add_scatter(
        x=[low, high],
        y=[low, high],
        mode="lines",
        name="as it is",
        line={"color": MUTED_COLOR, "width": 1.5, "dash": "dash"},
        hoverinfo="skip",
    )
    if ends is None:
        groups = [("predicted", drawn, RIGHT_COLOR)]
    else:
        inside = (ends[0] <= targets) & (targets <= ends[1])
        groups = [
            ("✓ interval holds the target", drawn[inside[drawn]], RIGHT_COLOR),
            ("✗ interval misses it", drawn[~inside[drawn]], WRONG_COLOR),
        ]
    for name, chosen, color in groups:
        if not len(chosen):
            continue
        error_y = (
            {}
            if ends is None
            else {
                "error_y": {
                    "symmetric": False,
                    "array": ends[1][chosen] - mean[chosen],
                    "arrayminus": mean[chosen] - ends[0][chosen],
                    "thickness": 0.7,
                    "width": 0,
                }
            }
        )
        chart.add_scatter(
            x=targets[chosen],
            y=mean[chosen],
            mode="markers",
            name=name,
            marker={"color": color, "size": 6, "symbol": "x-thin-open" if color == WRONG_COLOR else "circle"},
            hoverinfo="text",
            hovertext=[
                f"{escape_plotly_text(names[n])}: {format_with_unit(mean[n], unit)}, is "
                f"{format_with_unit(targets[n], unit)}"
                for n in chosen
            ],
            **error_y,
        )
    chart.update_layout(chart_style.build_chart_layout(title, 460, palette))
    of_unit = f", {unit}" if unit else ""
    chart.update_xaxes(title=f"true{of_unit}", fixedrange=True)
    chart.update_yaxes(title=f"predicted{of_unit}", fixedrange=True, automargin=True)
    return chart


def select_spread_examples(targets: Doubles) -> NDArray[np.intp]:
    order = np.argsort(targets, kind="stable")
    return order[chart_style.select_drawn_points(len(targets), MAX_POINTS)]


def describe_predicted_chart(targets: Doubles, correlation: float) -> str:
    return (
        f"Predicted over true numbers of {formats.format_count(len(targets), 'example')}, "
        f"{formats.format_significant(float(targets.min()))} to "
        f"{formats.format_significant(float(targets.max()))}; correlation {correlation:.3f}"
    )


def tabulate_predicted_numbers(
    ensemble: NumericEnsemble, targets: Doubles, ends: tuple[Doubles, Doubles] | None
) -> pd.DataFrame:
    """A row an example, numbered from 0."""
    columns = {"example": np.arange(len(targets)), "target": targets, "predicted": ensemble.compute_mean()}
    if ends is not None:
        columns |= {"low": ends[0], "high": ends[1]}
    return pd.DataFrame(columns)


def plot_member_numbers(
    ensemble: NumericEnsemble,
    targets: Doubles,
    chosen: NDArray[np.intp],
    names: Sequence[str],
    member_names: Sequence[str],
    unit: str,
    title: str,
    palette: Palette,
) -> "go.Figure":
    """What every member predicts of some examples, a row each, less what is true.

    Args:
      targets: (N,).
      chosen: (K,), the examples, the first on top.
      unit: of the targets; "" where it is not known.
    """
    import plotly.graph_objects as go

    unit = escape_plotly_text(unit)
    member_names = [escape_plotly_text(name) for name in member_names]
    rows = np.arange(len(chosen))
    offsets = np.linspace(-0.28, 0.28, ensemble.members) if ensemble.members > 1 else np.zeros(1)
    chart = go.Figure()
    chart.add_vline(0, line={"color": MUTED_COLOR, "dash": "dash", "width": 1.5})
    many = ensemble.members > 7
    for member, name in enumerate(member_names):
        values = ensemble.mean[member][chosen] - targets[chosen]
        spread = np.sqrt(ensemble.variance[member][chosen]) if isinstance(ensemble, NormalMixture) else None
        error_x = {"error_x": {"array": spread, "thickness": 1, "width": 0}} if spread is not None else {}
        chart.add_scatter(
            x=values,
            y=rows + offsets[member],
            mode="markers",
            name=f"{ensemble.members} members" if many else name,
            legendgroup="members" if many else name,
            showlegend=member == 0 or not many,
            marker={"color": member_color(member, ensemble.members), "size": 6},
            opacity=member_opacity(ensemble.members),
            hoverinfo="text",
            hovertext=[
                f"{name}: {format_with_unit(ensemble.mean[member][n], unit)}"
                + (f" ± {formats.format_significant(spread[k])}" if spread is not None else "")
                for k, n in enumerate(chosen)
            ],
            **error_x,
        )
    mean = ensemble.compute_mean()
    chart.add_scatter(
        x=mean[chosen] - targets[chosen],
        y=rows,
        mode="markers",
        name="ensemble",
        marker={"color": palette.ink, "size": 12, "symbol": "line-ns-open", "line": {"width": 3}},
        hoverinfo="text",
        hovertext=[
            f"Ensemble: {format_with_unit(mean[n], unit)}, is {format_with_unit(targets[n], unit)}" for n in chosen
        ],
    )
    height = 140 + 46 * len(chosen)
    chart.update_layout(chart_style.build_chart_layout(title, height, palette))
    of_unit = f", {unit}" if unit else ""
    chart.update_xaxes(title=f"predicted less true{of_unit}", fixedrange=True)
    chart.update_yaxes(
        tickvals=rows,
        ticktext=[escape_plotly_text(names[n][:_MAX_LETTERS]) for n in chosen],
        range=[len(chosen) - 0.4, -0.6],
        fixedrange=True,
        automargin=True,
    )
    return chart


def tabulate_member_numbers(
    ensemble: NumericEnsemble, targets: Doubles, chosen: NDArray[np.intp], member_names: Sequence[str]
) -> pd.DataFrame:
    """A row an example and member; examples are numbered from 0."""
    return pd.DataFrame(
        [
            {
                "example": int(n),
                "member": name,
                "target": targets[n],
                "predicted": ensemble.mean[member][n],
                "spread": np.sqrt(ensemble.variance[member][n]) if isinstance(ensemble, NormalMixture) else None,
            }
            for n in chosen
            for member, name in enumerate(member_names)
        ]
    )
