"""The map of all plans: members by epochs, with lines of equal training cost."""

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ensemble.analysis.planning.choice import Choice
from ensemble.analysis.planning.grid import FIGURES, LOWER_IS_BETTER, Grid, Plan
from ensemble.figures import lines
from ensemble.figures.palette import Palette
from ensemble.planning.costs import Costs
from ensemble.wording import formats
from ensemble.wording.verdicts import plan as words

if TYPE_CHECKING:
    import plotly.graph_objects as go

HEIGHT = 440
POINTS = 60  # of a line of equal cost
FEW = 130  # cells, in which figures can be read
SHARES = (1 / 2, 1 / 4, 1 / 8, 1 / 16)  # of the whole run's cost, that have a line


def edges(values: NDArray[np.int64]) -> NDArray[np.float64]:
    """Where the cells of (K,) rising whole numbers end: (K + 1,), half-way between them."""
    between = (values[1:] + values[:-1]) / 2
    return np.concatenate([[values[0] - 0.5], between, [values[-1] + 0.5]])


def shades(found: Grid, figure: str) -> NDArray[np.float64]:
    """(K, E), from 0 for the worst plan to 1 for the best; of NLL by its logarithm."""
    means = found.means[figure].T
    better = -np.log(np.maximum(means, 1e-12)) if LOWER_IS_BETTER[figure] else means
    width = float(np.ptp(better))
    shade: NDArray[np.float64] = (better - better.min()) / width if width else np.ones_like(better)
    return shade


def equal_cost(found: Grid, passes: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """(x, y), where members times epochs is `passes`, within the map; none where it is outside."""
    across, up = edges(found.epochs), edges(found.sizes)
    left, right = max(across[0], passes / up[-1]), min(across[-1], passes / up[0])
    if left >= right:
        return np.empty(0), np.empty(0)
    x = np.geomspace(left, right, POINTS)
    return x, passes / x


def figure(
    found: Grid, choice: Choice | None, costs: Costs, name: str, title: str, palette: Palette
) -> "go.Figure":
    """The map by one figure: darker is better, the best plan ringed, the candidates dotted.

    Args:
      found: the map.
      choice: for the budget that is drawn; None for no plan.
      costs: what plans cost.
      name: "nll" or "accuracy".
      title: what stands over it, so that a saved picture says what it shows.
      palette: the page's colours.
    """
    import plotly.graph_objects as go  # here, for it takes a while and only pictures need it

    chart = go.Figure([go.Heatmap(cells(found, costs, name, palette))])
    most = found.plans[-1].cost
    for share in SHARES:
        x, y = equal_cost(found, share * most)
        if len(x) and share * most >= 1:
            said = f"{formats.percent(share, figures=2)} of the cost"
            chart.add_scatter(x=x, y=y, mode="lines", line={"color": palette.ink, "width": 1,
                              "dash": "dot"}, opacity=0.7, name="equal cost", hoverinfo="text",
                              hovertext=said, legendgroup="cost",
                              showlegend=share == SHARES[0])  # fmt: skip
            chart.add_annotation(x=x[0], y=y[0], text=formats.percent(share, figures=2),
                                 showarrow=False, yanchor="bottom", xanchor="center",
                                 font={"size": 11, "color": palette.ink})  # fmt: skip
    for trace in marks(found, choice, palette):
        chart.add_scatter(trace)
    chart.update_layout(lines.layout(title, HEIGHT, palette))
    chart.update_xaxes(title="epochs", fixedrange=True, range=ends(found.epochs),
                       **ticks(found.epochs))  # fmt: skip
    chart.update_yaxes(title="members", fixedrange=True, range=ends(found.sizes), showgrid=False,
                       automargin=True, **ticks(found.sizes))  # fmt: skip
    return chart


def cells(found: Grid, costs: Costs, name: str, palette: Palette) -> dict[str, Any]:
    """The coloured cells, with their figures where there are few."""
    rows = [[Plan(int(m), int(e)) for e in found.epochs] for m in found.sizes]
    said = [[words.value(name, found.mean(one, name), found.n) for one in row] for row in rows]
    hovers = [
        [f"{words.called(one)}<br>{words.NAMES[name]} {text}<br>{words.budget(costs, one.cost)}"
         for one, text in zip(row, texts, strict=True)]
        for row, texts in zip(rows, said, strict=True)
    ]  # fmt: skip
    few = found.means[name].size <= FEW
    return {
        "x": edges(found.epochs), "y": edges(found.sizes), "z": shades(found, name),
        "colorscale": palette.scale, "showscale": False, "hoverinfo": "text", "text": hovers,
        "customdata": said, "texttemplate": "%{customdata}" if few else "",
        "textfont": {"size": 10}, "xgap": 1, "ygap": 1, "zmin": 0, "zmax": 1,
    }  # fmt: skip


def marks(found: Grid, choice: Choice | None, palette: Palette) -> list[dict[str, Any]]:
    """The budget as a line, the plans that are not shown to be worse, and the best."""
    if choice is None:
        return []
    x, y = equal_cost(found, choice.budget + 0.5)
    others = [plan for plan in choice.candidates if plan != choice.best]
    square = {"mode": "markers", "hoverinfo": "skip", "cliponaxis": False}
    traces: list[dict[str, Any]] = [
        {"x": x, "y": y, "mode": "lines", "line": lines.bold(palette), "name": "the budget",
         "hoverinfo": "skip"},
        {**square, "x": [plan.epochs for plan in others], "y": [plan.members for plan in others],
         "marker": {"symbol": "square-open", "size": 24, "color": palette.ink,
                    "line": {"width": 1.5}}, "name": "not shown to be worse"},
        {**square, "x": [choice.best.epochs], "y": [choice.best.members],
         "marker": {"symbol": "circle-open", "size": 30, "color": palette.ink,
                    "line": {"width": 3}}, "name": "best"},
    ]  # fmt: skip
    return [trace for trace in traces if len(trace["x"])]


def ends(values: NDArray[np.int64]) -> list[float]:
    """The ends of an axis: the outer cells' own."""
    found = edges(values)
    return [float(found[0]), float(found[-1])]


def ticks(values: NDArray[np.int64]) -> dict[str, Any]:
    """A mark at each value, or at some of many."""
    shown = values[lines.thinned(len(values), 13)]
    return {"tickvals": shown.tolist(), "ticktext": [f"{one:,}" for one in shown]}


def alt(found: Grid, choice: Choice | None, name: str) -> str:
    """The picture in words."""
    low, high = (words.value(name, float(one), found.n)
                 for one in (found.means[name].min(), found.means[name].max()))  # fmt: skip
    best = f"; best for the budget: {words.called(choice.best)}" if choice else ""
    return (
        f"{words.NAMES[name]} by members (up to {found.members}) and epochs (up to "
        f"{found.epochs[-1]}), from {low} to {high}{best}"
    )


def table(found: Grid, choice: Choice | None, costs: Costs) -> pd.DataFrame:
    """Every plan: what it costs, what it comes to, and what it loses against the best.

    The last three columns are of the plans that the budget pays for, in the unit of the figure.
    """
    lost = {one.plan: one for one in choice.losses} if choice else {}
    if choice:
        nothing = {"mean": 0.0, "low": 0.0, "high": 0.0}
    rows = []
    for plan in found.plans:
        one = lost.get(plan)
        own = {"mean": one.mean, "low": one.low, "high": one.high} if one else (
            nothing if choice and plan == choice.best else dict.fromkeys(
                ("mean", "low", "high"), math.nan))  # fmt: skip
        seconds = costs.seconds(plan)
        rows.append({
            "members": plan.members, "epochs": plan.epochs, "img_member": costs.work(plan),
            "seconds": math.nan if seconds is None else seconds,
            **{name: found.mean(plan, name) for name in FIGURES},
            "loss": own["mean"], "loss_low_95": own["low"], "loss_high_95": own["high"],
        })  # fmt: skip
    return pd.DataFrame(rows)
