"""The map of all plans: members by epochs, with lines of equal training cost."""

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ensemble.analysis.planning.plan_choice import PlanChoice
from ensemble.analysis.planning.plan_grid import LOWER_IS_BETTER, PLAN_METRICS, EnsemblePlan, PlanGrid
from ensemble.figures import chart_style
from ensemble.figures.palette import Palette
from ensemble.planning.plan_costs import PlanCosts
from ensemble.wording import formats
from ensemble.wording.verdicts import plan as words

if TYPE_CHECKING:
    import plotly.graph_objects as go

HEIGHT = 440
_COST_LINE_POINTS = 300  # of a line of equal cost
_BEST_FRAME_WIDTH, _OTHER_FRAME_WIDTH = 4.0, 1.5  # pixels of a frame
_MAX_LABELED_CELLS = 130  # cells, in which figures can be read
_COST_SHARES = (1 / 2, 1 / 4, 1 / 10)  # of the whole run's cost, that have a line


def _compute_cell_edges(values: NDArray[np.int64]) -> NDArray[np.float64]:
    """Where the cells of (K,) rising whole numbers end: (K + 1,), half-way between them."""
    between = (values[1:] + values[:-1]) / 2
    return np.concatenate([[values[0] - 0.5], between, [values[-1] + 0.5]])


def _compute_plan_shades(grid: PlanGrid, figure: str) -> NDArray[np.float64]:
    """(K, E), from 0 for the worst plan to 1 for the best; of NLL by its logarithm."""
    means = grid.means[figure].T
    better = -np.log(np.maximum(means, 1e-12)) if LOWER_IS_BETTER[figure] else means
    width = float(np.ptp(better))
    shade: NDArray[np.float64] = (better - better.min()) / width if width else np.ones_like(better)
    return shade


def _trace_equal_cost(grid: PlanGrid, passes: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """(x, y), where members times epochs is `passes`, within the map; none where it is outside."""
    across, up = _compute_cell_edges(grid.epochs), _compute_cell_edges(grid.sizes)
    left, right = max(across[0], passes / up[-1]), min(across[-1], passes / up[0])
    if left >= right:
        return np.empty(0), np.empty(0)
    x = np.geomspace(left, right, _COST_LINE_POINTS)
    return x, passes / x


def plot_plan_heatmap(
    grid: PlanGrid, choice: PlanChoice | None, costs: PlanCosts, name: str, title: str, palette: Palette
) -> "go.Figure":
    """The map by one figure: bluer is better; the best plan and the candidates are framed.

    Args:
      choice: for the budget that is drawn; None for no plan.
      name: "nll" or "accuracy".
    """
    import plotly.graph_objects as go  # here, for it takes a while and only pictures need it

    chart = go.Figure([go.Heatmap(_build_plan_cells(grid, costs, name, palette))])
    most = grid.plans[-1].cost
    for share in _COST_SHARES:
        x, y = _trace_equal_cost(grid, share * most)
        if not len(x) or share * most < 1:
            continue
        share_text = formats.format_percent(share, figures=2)
        unlabeled_points = _find_unlabeled_points(grid, name, x, y)
        chart.add_scatter(
            x=x,
            y=np.where(unlabeled_points, y, np.nan),
            mode="lines",
            opacity=0.7,
            name="equal training cost",
            line={"color": palette.ink, "width": 1, "dash": "dot"},
            hoverinfo="text",
            hovertext=f"{share_text} of the whole run's cost",
            legendgroup="cost",
            showlegend=share == _COST_SHARES[0],
        )
        chart.add_annotation(
            x=x[-1],
            y=y[-1],
            text=share_text,
            showarrow=False,
            xanchor="left",
            font={"size": 11, "color": palette.ink},
            xshift=3,
        )
    if choice:
        for trace in _build_plan_legend(grid, choice, palette):
            chart.add_trace(go.Scatter(trace))
        for plan in choice.candidates:
            chart.add_shape(_build_plan_frame(grid, plan, plan == choice.best, palette))
    chart.update_layout(chart_style.build_chart_layout(title, HEIGHT, palette), margin_r=48)
    chart.update_xaxes(
        title="epochs", fixedrange=True, range=_compute_axis_ends(grid.epochs), **_build_plan_ticks(grid.epochs)
    )
    chart.update_yaxes(
        title="members",
        fixedrange=True,
        range=_compute_axis_ends(grid.sizes),
        showgrid=False,
        automargin=True,
        **_build_plan_ticks(grid.sizes),
    )
    return chart


def _find_unlabeled_points(
    grid: PlanGrid, name: str, x: NDArray[np.float64], y: NDArray[np.float64]
) -> NDArray[np.bool_]:
    """(P,), where a line that passes these points crosses no figure of a cell.

    Args:
      name: "nll" or "accuracy".
      x: (P,) epochs.
      y: (P,) members.
    """
    if grid.means[name].size > _MAX_LABELED_CELLS:
        return np.ones(len(x), bool)
    # A figure is about 35 by 14 pixels of a map of 900 by 220; on a phone as wide as its cell.
    wide = np.clip(0.025 * len(grid.epochs), 0.1, 0.4)
    high = np.clip(0.03 * len(grid.sizes), 0.1, 0.3)
    across = np.abs(x[:, None] - grid.epochs).min(axis=1) < wide
    up = np.abs(y[:, None] - grid.sizes).min(axis=1) < high
    is_clear: NDArray[np.bool_] = ~(across & up)
    return is_clear


def _build_plan_cells(grid: PlanGrid, costs: PlanCosts, name: str, palette: Palette) -> dict[str, Any]:
    rows = [[EnsemblePlan(int(m), int(e)) for e in grid.epochs] for m in grid.sizes]
    cell_labels = [[words.format_plan_metric(name, grid.mean(plan, name), grid.n) for plan in row] for row in rows]
    hovers = [
        [
            f"{words.format_plan(plan)}<br>{words.METRIC_NAMES[name]} {text}<br>{words.format_budget(costs, plan.cost)}"
            for plan, text in zip(row, texts, strict=True)
        ]
        for row, texts in zip(rows, cell_labels, strict=True)
    ]
    few = grid.means[name].size <= _MAX_LABELED_CELLS
    return {
        "x": _compute_cell_edges(grid.epochs),
        "y": _compute_cell_edges(grid.sizes),
        "z": _compute_plan_shades(grid, name),
        "colorscale": palette.heatmap_scale,
        "showscale": False,
        "hoverinfo": "text",
        "hovertext": hovers,
        "text": cell_labels,
        "texttemplate": "%{text}" if few else "",
        "textfont": {"size": 10},
        "xgap": 1,
        "ygap": 1,
        "zmin": 0,
        "zmax": 1,
    }


def _build_plan_legend(grid: PlanGrid, choice: PlanChoice, palette: Palette) -> list[dict[str, Any]]:
    # Where all plans are paid for there is no line to draw.
    paid = choice.budget >= grid.plans[-1].cost
    x, y = _trace_equal_cost(grid, math.inf if paid else choice.budget + 0.5)
    line = {
        "x": x,
        "y": y,
        "mode": "lines",
        "line": chart_style.style_ensemble_line(palette),
        "name": "the budget",
        "hoverinfo": "skip",
    }
    kinds = {"best": _BEST_FRAME_WIDTH, **({"may be the best": _OTHER_FRAME_WIDTH} if choice.candidates[1:] else {})}
    framed = [
        {
            "x": [None],
            "y": [None],
            "mode": "markers",
            "name": name,
            "marker": {"symbol": "square-open", "size": 14, "color": palette.ink, "line": {"width": width}},
        }
        for name, width in kinds.items()
    ]
    return [*([line] if len(x) else []), *framed]


def _build_plan_frame(grid: PlanGrid, plan: EnsemblePlan, best: bool, palette: Palette) -> dict[str, Any]:
    epoch, row = grid.locate(plan)
    across, up = _compute_cell_edges(grid.epochs), _compute_cell_edges(grid.sizes)
    return {
        "type": "rect",
        "x0": across[epoch],
        "x1": across[epoch + 1],
        "y0": up[row],
        "y1": up[row + 1],
        "name": "best" if best else "candidate",
        "line": {"color": palette.ink, "width": _BEST_FRAME_WIDTH if best else _OTHER_FRAME_WIDTH},
    }


def _compute_axis_ends(values: NDArray[np.int64]) -> list[float]:
    """The ends of an axis: the outer cells' own."""
    cell_edges = _compute_cell_edges(values)
    return [float(cell_edges[0]), float(cell_edges[-1])]


def _build_plan_ticks(values: NDArray[np.int64]) -> dict[str, Any]:
    ticks = values[chart_style.select_drawn_points(len(values), 13)]
    return {"tickvals": ticks.tolist(), "ticktext": [f"{value:,}" for value in ticks]}


def describe_plan_heatmap_chart(grid: PlanGrid, choice: PlanChoice | None, name: str) -> str:
    low, high = (
        words.format_plan_metric(name, float(mean), grid.n) for mean in (grid.means[name].min(), grid.means[name].max())
    )
    best = f"; best for the budget: {words.format_plan(choice.best)}" if choice else ""
    return (
        f"{words.METRIC_NAMES[name]} by members (up to {grid.members}) and epochs (up to "
        f"{grid.epochs[-1]}), from {low} to {high}{best}"
    )


def tabulate_plans(grid: PlanGrid, choice: PlanChoice | None, costs: PlanCosts) -> pd.DataFrame:
    """Every plan: what it costs, what it comes to, and what it loses against the best.

    The last three columns are of the plans that can be the best for the budget, in the unit of
    the figure.
    """
    lost = {loss.plan: loss for loss in choice.losses} if choice else {}
    if choice:
        nothing = {"mean": 0.0, "low": 0.0, "high": 0.0}
    rows = []
    for plan in grid.plans:
        plan_loss = lost.get(plan)
        own = (
            {"mean": plan_loss.mean, "low": plan_loss.low, "high": plan_loss.high}
            if plan_loss
            else (nothing if choice and plan == choice.best else dict.fromkeys(("mean", "low", "high"), math.nan))
        )
        seconds = costs.training_seconds(plan)
        rows.append(
            {
                "members": plan.members,
                "epochs": plan.epochs,
                "img_member": costs.training_work(plan),
                "seconds": math.nan if seconds is None else seconds,
                **{name: grid.mean(plan, name) for name in PLAN_METRICS},
                "loss": own["mean"],
                "loss_low_95": own["low"],
                "loss_high_95": own["high"],
            }
        )
    return pd.DataFrame(rows)
