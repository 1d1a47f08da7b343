"""Members against epochs: which ensemble a training cost is best spent on, from the predictions after every epoch."""

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ensemble import runs
from ensemble.analysis.planning.plan_choice import PlanChoice, choose_best_plan
from ensemble.analysis.planning.plan_grid import LOWER_IS_BETTER, PLAN_METRICS, EnsemblePlan, PlanGrid
from ensemble.analysis.planning.plan_losses import PlanLoss, compute_plan_losses
from ensemble.analysis.planning.power import RequiredSampleSize
from ensemble.analysis.predictions import EnsemblePredictions
from ensemble.errors import EnsembleError, RunError
from ensemble.figures import chart_style
from ensemble.figures.palette import Palette
from ensemble.planning.plan_cautions import Caution, list_plan_cautions
from ensemble.planning.plan_costs import PlanCosts, estimate_plan_costs
from ensemble.planning.plan_grids import PlanGrids, load_plan_grids
from ensemble.views.evaluated_epoch import EvaluatedEpoch
from ensemble.views.parts import Choice, Figure, Figures, Paragraph, View
from ensemble.wording import formats
from ensemble.wording.run_names import format_run_name

if TYPE_CHECKING:
    import plotly.graph_objects as go


METRIC_NAMES = {"nll": "NLL", "accuracy": "Accuracy"}

CAUTIONS: dict[Caution, str] = {
    "schedule": "The learning rate falls to zero with the last epoch, so earlier epochs were still "
    "on their way: a run of fewer epochs with a schedule of its own would probably do better than "
    "the map says. Train one to be sure.",
    "warm-up": "The learning rate was still warming up.",
    "set aside": "Members that diverged are left out of every plan, and so is what they cost: a "
    "new run may have such a member too, and would then do worse.",
    "varied": "Members differ in their settings, so a committee here is a mixture of them: a plan "
    "at one value may do better or worse.",
    "augmentation": "Images are moved or mirrored anew in every epoch, so epochs beyond the last "
    "one here may bring more than the map suggests.",
    "stopped early": "The run was stopped early: epochs that it did not train are not in the map.",
    "one member": "With one member nothing is known of how much members differ: intervals are of the images alone.",
    "drawn": "Of the committees of each size some were drawn at random, every member in as many; "
    "sizes of one and of all but one are complete.",
    "thinned": "There are more epochs than the map has: evenly spread ones are looked at.",
}


def _format_plan(plan: EnsemblePlan) -> str:
    """A plan: "3 members for 5 epochs"."""
    return f"{formats.format_count(plan.members, 'member')} for {formats.format_count(plan.epochs, 'epoch')}"


def _format_plan_metric(figure: str, share: float, n: int) -> str:
    """A figure as it is on every screen: "0.0712", "98.12 %"."""
    return formats.format_percent(share, n) if figure == "accuracy" else formats.format_significant(share)


def _format_budget(costs: PlanCosts, passes: int) -> str:
    """What a budget comes to: "1,200,000 img·member, about 3 min"."""
    plan = EnsemblePlan(1, passes)
    seconds = costs.training_seconds(plan)
    about = "" if seconds is None else f", {'' if seconds < 1 else 'about '}"
    about += "" if seconds is None else formats.format_duration(seconds)
    return f"{formats.format_significant(costs.training_work(plan))} img·member{about}"


def describe_best_plan(choice: PlanChoice, share: str, chosen_on: str) -> str:
    """Return the best plan for a share of the training cost in per cent, and the images that chose it.

    Args:
      chosen_on: "validation" or "test".
    """
    return f"Best on the {chosen_on} images for {share} % of this run's training cost: {_format_plan(choice.best)}."


def describe_plan_evidence(choice: PlanChoice, costs: PlanCosts, n: int) -> str:
    """Return the plan's score on the test images, and the cheapest plan that may be as good."""
    best = choice.best_estimate
    value = _format_plan_metric(choice.metric, best.mean, n)
    low = _format_plan_metric(choice.metric, best.low, n).removesuffix(" %")
    high = _format_plan_metric(choice.metric, best.high, n)
    score = f"{METRIC_NAMES[choice.metric]} {value} ({low} to {high}) on the test images."
    return f"{score} {_describe_other_plans(choice, costs)}"


def _describe_other_plans(choice: PlanChoice, costs: PlanCosts) -> str:
    if choice.affordable_plans == 1:
        return "The budget is too small for any other plan."
    if len(choice.candidates) == 1:
        return f"It is the best of the {choice.affordable_plans:,} plans within the budget (95 %)."
    text = (
        f"{len(choice.candidates):,} of the {choice.affordable_plans:,} plans within the budget may be the best (95 %)"
    )
    cheapest = choice.cheapest
    if cheapest == choice.best:
        return f"{text}; none of these costs less."
    text = f"{text}. The cheapest of these is {_format_plan(cheapest)} ({_format_budget(costs, cheapest.cost)})"
    if choice.runner_up and choice.runner_up.plan == cheapest:  # its loss is reported next
        return f"{text}."
    (lost,) = (loss for loss in choice.losses if loss.plan == cheapest)
    return f"{text}: {describe_plan_loss(choice.metric, lost)}."


def describe_runner_up(choice: PlanChoice, costs: PlanCosts, n: int, members: int) -> str:
    """What the second best loses, and what it would take to be sure of that; "" without one."""
    second = choice.runner_up
    if second is None or choice.sample_size is None:
        return ""
    text = f"Second: {_format_plan(second.plan)}, {describe_plan_loss(choice.metric, second)}."
    if second.loss_sign:
        return text
    epochs = max(second.plan.epochs, choice.best.epochs)
    return f"{text} {describe_required_effort(choice.sample_size, costs, n, members, epochs)}"


def describe_plan_loss(figure: str, loss: PlanLoss) -> str:
    """Describe what a plan loses against another: "worse by 0.002 nats (95 %: 0.0004 to 0.0036)"."""
    unit, scale = ("points", 100) if figure == "accuracy" else ("nats", 1)
    low, high = (loss.low, loss.high) if loss.mean >= 0 else (-loss.high, -loss.low)
    interval = f"95 %: {_format_negative(low * scale)} to {_format_negative(high * scale)}"
    open_ = "" if loss.loss_sign else ", which may be chance"
    if not loss.mean:
        return f"level with it ({interval} {unit})"
    side = "better" if loss.mean < 0 else "worse"
    size = formats.format_significant(abs(loss.mean) * scale, 2)
    return f"{side} by {size} {unit} ({interval}){open_}"


def _format_negative(number: float) -> str:
    return f"{'−' if number < 0 else ''}{formats.format_significant(abs(number), 2)}"


def describe_required_effort(size: RequiredSampleSize, costs: PlanCosts, n: int, members: int, epochs: int) -> str:
    if size.times is None:
        return "They do not differ on these images, so the effort to tell them apart is unknown."
    ways = []
    if size.examples is not None and size.examples > n:
        ways.append(f"about {formats.format_significant(size.examples, 2)} test images")
    if size.members is not None and size.members > members:
        more = size.members - members
        cost = _format_budget(costs, more * epochs)
        ways.append(f"about {formats.format_significant(more, 2)} more members ({cost})")
    if not ways:
        times = formats.format_significant(size.times, 2)
        return f"Telling them apart takes about {times} times as many images and members."
    return f"If the difference is as large as it looks, telling them apart takes {' or '.join(ways)}."


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
    cell_labels = [[_format_plan_metric(name, grid.mean(plan, name), grid.n) for plan in row] for row in rows]
    hovers = [
        [
            f"{_format_plan(plan)}<br>{METRIC_NAMES[name]} {text}<br>{_format_budget(costs, plan.cost)}"
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
        _format_plan_metric(name, float(mean), grid.n) for mean in (grid.means[name].min(), grid.means[name].max())
    )
    best = f"; best for the budget: {_format_plan(choice.best)}" if choice else ""
    return (
        f"{METRIC_NAMES[name]} by members (up to {grid.members}) and epochs (up to "
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


# Shares of the run's training cost that a plan may take, in per cent.
_BUDGETS = {share: f"{share} %" for share in ("10", "25", "50", "75", "100")}


def members_for_epochs_view(epoch: EvaluatedEpoch, members: int, figure: str) -> View:
    """Yield the best plan for a training cost, and the map of all plans.

    Args:
      epoch: an epoch of the run.
      members: the number of members that is recommended.
      figure: the metric to judge by; "nll" for those that plans are not judged by.
    """
    metric = figure if figure in PLAN_METRICS else "nll"
    try:
        grids = epoch.measure(_load_epoch_grids, epoch.run.id, wait="Judging every committee after every epoch …")
        costs = estimate_plan_costs(epoch.run)
    except EnsembleError as error:
        yield Paragraph(str(error), "missing")
        return
    plan_costs = [plan.cost for plan in grids.test.plans]
    least, whole = min(plan_costs), max(plan_costs)
    shares = {word: title for word, title in _BUDGETS.items() if int(word) * whole // 100 >= least}
    default = next(word for word in shares if int(word) * epoch.members >= 100 * members)
    share = yield Choice("budget", "Training cost", shares, default, "How much of this run's training cost to spend.")
    choice = choose_best_plan(grids.test, int(share) * whole // 100, metric, grids.validation)
    assert choice is not None  # every share pays for the cheapest plan
    yield Paragraph(describe_best_plan(choice, share, grids.selection_split), "finding")
    recommended = EnsemblePlan(members, int(grids.test.epochs[-1]))
    parts = [describe_plan_evidence(choice, costs, grids.test.n)]
    if recommended == choice.best:
        parts.append("It is the recommendation above.")
    elif recommended.cost <= choice.budget and recommended in grids.test.plans:
        (lost,) = compute_plan_losses(grids.test, [recommended], choice.best, metric)
        parts.append(f"The recommendation above, {_format_plan(recommended)}, is {describe_plan_loss(metric, lost)}.")
    parts.append(describe_runner_up(choice, costs, grids.test.n, grids.test.members))
    yield Paragraph(" ".join(filter(None, parts)), "evidence")
    title = f"{METRIC_NAMES[metric]} by members and epochs · {format_run_name(epoch.run)} · test images"
    yield Figures.single(
        Figure(
            label="",
            alt=describe_plan_heatmap_chart(grids.test, choice, metric),
            explanation="The bluer, the better. Each cell is the mean over all committees of that size after that "
            "epoch; along a dotted line training costs the same share of the whole run.",
            draw=lambda palette: plot_plan_heatmap(
                grids.test, choice, costs=costs, name=metric, title=title, palette=palette
            ),
            key="plan",
            file=f"plan-{metric}",
            title="Members by epochs",
            table=lambda: tabulate_plans(grids.test, choice, costs),
            of_epoch=False,
            drawn_from=(metric, share),
            help="Thick frame: the best plan that the budget (the thick line) pays for. Thin frames: with it, the "
            "plans one of which is the best (95 %). By NLL a smaller committee of the same epoch never is.",
        )
    )
    for note in (*(CAUTIONS[name] for name in list_plan_cautions(epoch.run, grids, choice.best)), *grids.left_out):
        yield Paragraph(note, "note")


def _load_epoch_grids(_: EnsemblePredictions, run_id: str) -> PlanGrids:
    if not runs.list_prediction_epochs(run_id):
        raise RunError("Members against epochs needs a run of your own with its predictions after every epoch.")
    return load_plan_grids(runs.find_run(run_id))
