"""The members of several runs on one map, a colour and a mark for each run."""

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from ensemble.comparison.run_member_map import RunMemberMap
from ensemble.figures import chart_style
from ensemble.figures.comparison.colors import assign_group_colors
from ensemble.figures.inspect.member_map import hide_map_axes
from ensemble.figures.palette import Palette
from ensemble.wording import escaping
from ensemble.wording import run_members as words
from ensemble.wording.run_names import format_unique_run_name

if TYPE_CHECKING:
    import plotly.graph_objects as go

HEIGHT = 480
ROW_HEIGHT_PX = 22  # of the legend, a row a run
_MAX_LEGEND_RUNS = 10  # of more, the pointer says which is which
SYMBOLS = ("circle", "square", "diamond", "triangle-up", "x", "star", "cross")


def plot_run_members(found: RunMemberMap, title: str, palette: Palette) -> "go.Figure":
    """Every member where it stands.

    Args:
      found: the map; of at least two runs.
    """
    import plotly.graph_objects as go  # here, for it takes a while and only this needs it

    colors = assign_group_colors(len(found.runs))
    chart = go.Figure()
    for place, run in enumerate(found.runs):
        own = np.flatnonzero(found.owner == place)
        chart.add_scatter(
            x=found.scaling.points[own, 0],
            y=found.scaling.points[own, 1],
            mode="markers",
            name=escaping.escape_plotly_text(format_unique_run_name(run)),
            marker={
                "size": 11,
                "symbol": SYMBOLS[place % len(SYMBOLS)],
                "color": colors[place],
                "line": {"color": palette.ground, "width": 1},
            },
            hovertext=[
                "<br>".join(map(escaping.escape_plotly_text, words.describe_run_point(found, int(number))))
                for number in own
            ],
            hoverinfo="text",
            customdata=own[:, None].tolist(),  # as an array it comes back as none
            cliponaxis=False,
        )
    few = len(found.runs) <= _MAX_LEGEND_RUNS
    legend_height = ROW_HEIGHT_PX * len(found.runs) if few else 0
    chart.update_layout(chart_style.build_chart_layout(title, HEIGHT + legend_height, palette, showlegend=few))
    hide_map_axes(chart)
    chart.update_layout(legend_orientation="v", margin_b=16 + legend_height)
    return chart


def tabulate_run_map(found: RunMemberMap) -> pd.DataFrame:
    """A row a member: its run, its number, where it is drawn, its accuracy."""
    return pd.DataFrame(
        {
            "run": [found.runs[place].id for place in found.owner],
            "member": found.members + 1,
            "epoch": [found.epochs[place] for place in found.owner],
            "x": found.scaling.points[: len(found.owner), 0],
            "y": found.scaling.points[: len(found.owner), 1],
            "accuracy": found.accuracy,
        }
    )
