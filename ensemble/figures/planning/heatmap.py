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
POINTS = 300  # of a line of equal cost
BEST, OTHER = 4.0, 1.5  # pixels of a frame
FEW = 130  # cells, in which figures can be read
SHARES = (1 / 2, 1 / 4, 1 / 10)  # of the whole run's cost, that have a line


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
    """The map by one figure: bluer is better; the best plan and the candidates are framed.

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
        if not len(x) or share * most < 1:
            continue
        said = formats.percent(share, figures=2)
        shown = beside_figures(found, name, x, y)
        chart.add_scatter(
            x=x,
            y=np.where(shown, y, np.nan),
            mode="lines",
            opacity=0.7,
            name="equal training cost",
            line={"color": palette.ink, "width": 1, "dash": "dot"},
            hoverinfo="text",
            hovertext=f"{said} of the whole run's cost",
            legendgroup="cost",
            showlegend=share == SHARES[0],
        )
        chart.add_annotation(
            x=x[-1],
            y=y[-1],
            text=said,
            showarrow=False,
            xanchor="left",
            font={"size": 11, "color": palette.ink},
            xshift=3,
        )
    if choice:
        for trace in marks(found, choice, palette):
            chart.add_trace(go.Scatter(trace))
        for plan in choice.candidates:
            chart.add_shape(frame(found, plan, plan == choice.best, palette))
    chart.update_layout(lines.layout(title, HEIGHT, palette), margin_r=48)
    chart.update_xaxes(
        title="epochs", fixedrange=True, range=ends(found.epochs), **ticks(found.epochs)
    )
    chart.update_yaxes(
        title="members",
        fixedrange=True,
        range=ends(found.sizes),
        showgrid=False,
        automargin=True,
        **ticks(found.sizes),
    )
    return chart


def beside_figures(
    found: Grid, name: str, x: NDArray[np.float64], y: NDArray[np.float64]
) -> NDArray[np.bool_]:
    """(P,), where a line that passes these points crosses no figure of a cell.

    Args:
      found: the map.
      name: "nll" or "accuracy".
      x: (P,) epochs.
      y: (P,) members.
    """
    if found.means[name].size > FEW:
        return np.ones(len(x), bool)
    # A figure is about 35 by 14 pixels of a map of 900 by 220; on a phone as wide as its cell.
    wide = np.clip(0.025 * len(found.epochs), 0.1, 0.4)
    high = np.clip(0.03 * len(found.sizes), 0.1, 0.3)
    across = np.abs(x[:, None] - found.epochs).min(axis=1) < wide
    up = np.abs(y[:, None] - found.sizes).min(axis=1) < high
    shown: NDArray[np.bool_] = ~(across & up)
    return shown


def cells(found: Grid, costs: Costs, name: str, palette: Palette) -> dict[str, Any]:
    """The coloured cells, with their figures where there are few."""
    rows = [[Plan(int(m), int(e)) for e in found.epochs] for m in found.sizes]
    said = [[words.value(name, found.mean(one, name), found.n) for one in row] for row in rows]
    hovers = [
        [
            f"{words.called(one)}<br>{words.NAMES[name]} {text}<br>{words.budget(costs, one.cost)}"
            for one, text in zip(row, texts, strict=True)
        ]
        for row, texts in zip(rows, said, strict=True)
    ]
    few = found.means[name].size <= FEW
    return {
        "x": edges(found.epochs),
        "y": edges(found.sizes),
        "z": shades(found, name),
        "colorscale": palette.scale,
        "showscale": False,
        "hoverinfo": "text",
        "hovertext": hovers,
        "text": said,
        "texttemplate": "%{text}" if few else "",
        "textfont": {"size": 10},
        "xgap": 1,
        "ygap": 1,
        "zmin": 0,
        "zmax": 1,
    }


def marks(found: Grid, choice: Choice, palette: Palette) -> list[dict[str, Any]]:
    """The budget as a line, and what the frames mean, for the legend."""
    # Where all plans are paid for there is no line to draw.
    paid = choice.budget >= found.plans[-1].cost
    x, y = equal_cost(found, math.inf if paid else choice.budget + 0.5)
    line = {
        "x": x,
        "y": y,
        "mode": "lines",
        "line": lines.bold(palette),
        "name": "the budget",
        "hoverinfo": "skip",
    }
    kinds = {"best": BEST, **({"may be the best": OTHER} if choice.candidates[1:] else {})}
    framed = [
        {
            "x": [None],
            "y": [None],
            "mode": "markers",
            "name": name,
            "marker": {
                "symbol": "square-open",
                "size": 14,
                "color": palette.ink,
                "line": {"width": width},
            },
        }
        for name, width in kinds.items()
    ]
    return [*([line] if len(x) else []), *framed]


def frame(found: Grid, plan: Plan, best: bool, palette: Palette) -> dict[str, Any]:
    """The frame around a plan's cell."""
    epoch, row = found.place(plan)
    across, up = edges(found.epochs), edges(found.sizes)
    return {
        "type": "rect",
        "x0": across[epoch],
        "x1": across[epoch + 1],
        "y0": up[row],
        "y1": up[row + 1],
        "name": "best" if best else "candidate",
        "line": {"color": palette.ink, "width": BEST if best else OTHER},
    }


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
    low, high = (
        words.value(name, float(one), found.n)
        for one in (found.means[name].min(), found.means[name].max())
    )
    best = f"; best for the budget: {words.called(choice.best)}" if choice else ""
    return (
        f"{words.NAMES[name]} by members (up to {found.members}) and epochs (up to "
        f"{found.epochs[-1]}), from {low} to {high}{best}"
    )


def table(found: Grid, choice: Choice | None, costs: Costs) -> pd.DataFrame:
    """Every plan: what it costs, what it comes to, and what it loses against the best.

    The last three columns are of the plans that can be the best for the budget, in the unit of
    the figure.
    """
    lost = {one.plan: one for one in choice.losses} if choice else {}
    if choice:
        nothing = {"mean": 0.0, "low": 0.0, "high": 0.0}
    rows = []
    for plan in found.plans:
        one = lost.get(plan)
        own = (
            {"mean": one.mean, "low": one.low, "high": one.high}
            if one
            else (
                nothing
                if choice and plan == choice.best
                else dict.fromkeys(("mean", "low", "high"), math.nan)
            )
        )
        seconds = costs.seconds(plan)
        rows.append(
            {
                "members": plan.members,
                "epochs": plan.epochs,
                "img_member": costs.work(plan),
                "seconds": math.nan if seconds is None else seconds,
                **{name: found.mean(plan, name) for name in FIGURES},
                "loss": own["mean"],
                "loss_low_95": own["low"],
                "loss_high_95": own["high"],
            }
        )
    return pd.DataFrame(rows)
