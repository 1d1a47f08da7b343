"""What the plans of a budget lose against the best of them, each with its interval."""

from typing import TYPE_CHECKING

from ensemble.analysis.planning.plan_choice import PlanChoice
from ensemble.analysis.planning.plan_losses import PlanLoss
from ensemble.figures import chart_style
from ensemble.figures.palette import MUTED_COLOR, Palette
from ensemble.wording.verdicts import plan as words

if TYPE_CHECKING:
    import plotly.graph_objects as go

MAX_PLANS = 12  # plans in the picture
_LOSS_AXES = {"nll": "more NLL than the best, nats", "accuracy": "less accuracy than the best, points"}


def _select_least_losses(choice: PlanChoice, most: int = MAX_PLANS) -> list[PlanLoss]:
    """The plans of the picture: those that lose least, the least first."""
    return sorted(choice.losses, key=lambda loss: (loss.mean, loss.plan.cost))[:most]


def plot_plan_losses(choice: PlanChoice, title: str, palette: Palette) -> "go.Figure":
    """A row a plan: what it loses, and the interval; all intervals hold together."""
    import plotly.graph_objects as go  # here, for it takes a while and only pictures need it

    rows, scale = _select_least_losses(choice), 100 if choice.metric == "accuracy" else 1
    chart = go.Figure()
    for name, color, kept in (
        ("not shown to be worse", palette.ink, [row for row in rows if row.loss_sign <= 0]),
        ("shown to be worse", MUTED_COLOR, [row for row in rows if row.loss_sign > 0]),
    ):
        if kept:
            chart.add_scatter(
                x=[scale * row.mean for row in kept],
                y=[words.format_plan(row.plan) for row in kept],
                mode="markers",
                marker={"color": color, "size": 9},
                name=name,
                error_x={
                    "type": "data",
                    "symmetric": False,
                    "color": color,
                    "thickness": 1.5,
                    "array": [scale * (row.high - row.mean) for row in kept],
                    "arrayminus": [scale * (row.mean - row.low) for row in kept],
                },
                hoverinfo="text",
                hovertext=[
                    f"{words.format_plan(row.plan)}: {words.describe_plan_loss(choice.metric, row)}" for row in kept
                ],
            )
    height = 170 + 24 * len(rows)
    chart.update_layout(chart_style.build_chart_layout(title, height, palette))
    chart.update_xaxes(title=_LOSS_AXES[choice.metric], zeroline=True, fixedrange=True, zerolinecolor=MUTED_COLOR)
    order = [words.format_plan(row.plan) for row in reversed(rows)]
    chart.update_yaxes(categoryorder="array", categoryarray=order, automargin=True, fixedrange=True)
    return chart


def describe_plan_losses_chart(choice: PlanChoice) -> str:
    rows = _select_least_losses(choice)
    open_ = sum(row.loss_sign <= 0 for row in rows)
    return (
        f"What {len(rows)} plans lose against {words.format_plan(choice.best)}, with 95 % "
        f"intervals: {open_} of them are not shown to be worse"
    )
