"""What averaging saves: the ensemble's loss is the average member's less their diversity."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from ensemble.analysis.members.diversity import NllDecomposition
from ensemble.figures import chart_style
from ensemble.figures.palette import MUTED_COLOR, Palette, build_band_color
from ensemble.wording import formats

if TYPE_CHECKING:
    import plotly.graph_objects as go

MAX_MARKED_EPOCHS = 24  # epochs, up to which each has a mark of its own
_MAX_TICKS = 8
MAX_EPOCHS = 24  # of more, so many are looked at
_DecompositionByEpoch = dict[int, NllDecomposition]


def plot_loss_decomposition(
    decomposition: _DecompositionByEpoch, current_epoch: int, title: str, palette: Palette
) -> "go.Figure":
    """Two lines and the band between them; a dotted line where the shown epoch is."""
    import plotly.graph_objects as go  # here, for it takes a while and only this needs it

    epochs = list(decomposition)
    mean = [parts.mean_member_nll for parts in decomposition.values()]
    whole = [parts.ensemble_nll for parts in decomposition.values()]
    mode = "lines+markers" if len(decomposition) <= MAX_MARKED_EPOCHS else "lines"
    hovers = [
        f"Epoch {epoch}: diversity {formats.format_significant(parts.diversity)} nats, "
        f"{formats.format_percent(parts.diversity / (parts.mean_member_nll or 1), places=0)} "
        "of the average member's NLL"
        for epoch, parts in decomposition.items()
    ]
    each = [
        f"Epoch {epoch}: NLL of the average member {formats.format_significant(nll)} nats"
        for epoch, nll in zip(epochs, mean, strict=True)
    ]
    line: dict[str, Any] = {"x": epochs, "mode": mode, "hoverinfo": "text"}
    chart = go.Figure(
        [
            go.Scatter(y=mean, name="mean member", line={"color": MUTED_COLOR, "width": 1.5}, hovertext=each, **line),
            go.Scatter(
                y=whole,
                name="ensemble",
                line=chart_style.style_ensemble_line(palette),
                fill="tonexty",
                fillcolor=build_band_color(),
                hovertext=hovers,
                **line,
            ),
        ]
    )
    chart.update_layout(**chart_style.build_chart_layout(title, 420, palette))
    chart.add_vline(current_epoch, line={"color": MUTED_COLOR, "width": 1, "dash": "dot"})
    step = -(-(epochs[-1] - epochs[0]) // _MAX_TICKS) or 1
    chart.update_xaxes(title="epochs", fixedrange=True, tick0=epochs[0], dtick=step)
    chart.update_yaxes(title="NLL (nats)", fixedrange=True)
    return chart


def tabulate_loss_decomposition(decomposition: _DecompositionByEpoch) -> pd.DataFrame:
    return pd.DataFrame([{"epoch": epoch, **vars(parts)} for epoch, parts in decomposition.items()])


def explain_decomposition_chart(here: NllDecomposition) -> str:
    share = here.diversity / here.mean_member_nll if here.mean_member_nll else 0.0
    return (
        f"Averaging lowers the NLL by {formats.format_percent(share, places=0)}: from the average "
        f"member's {formats.format_significant(here.mean_member_nll)}, less "
        f"{formats.format_significant(here.diversity)} by diversity, to "
        f"{formats.format_significant(here.ensemble_nll)}."
    )


def select_spread_epochs(epochs: Sequence[int]) -> list[int]:
    """At most `MAX_EPOCHS` of the epochs, both ends kept: each is a file to read."""
    places = np.linspace(0, len(epochs) - 1, min(len(epochs), MAX_EPOCHS)).round().astype(int)
    return [epochs[place] for place in places]
