"""How strange real digits and strangers are to the members, and where the threshold stands."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ensemble.analysis.quality.averaging import Floats
from ensemble.figures import lines
from ensemble.figures.palette import RIGHT, WRONG, Palette
from ensemble.wording import formats

if TYPE_CHECKING:
    import plotly.graph_objects as go

    from ensemble.recognition.rejection_threshold import Gate

ROW = 36  # pixels
# Dots of a row are spread evenly over its height by this step, which never comes back to itself.
GOLDEN, HEIGHT = (5**0.5 - 1) / 2, 0.56


def figure(gate: "Gate", score: float, known: str, title: str, palette: Palette) -> "go.Figure":
    """A row of dots for each kind of image, one a dot, with the threshold as a line through all.

    Args:
      gate: the threshold, and the scores that it was set on and judged on.
      score: that of the mark that is open.
      known: what the real digits are called: "MNIST".
      title: what stands over it, so that a saved picture says what it shows.
      palette: the page's colours.
    """
    import plotly.graph_objects as go  # here, for it takes a while and only this needs it

    named = rows(gate, known)
    chart = go.Figure([go.Scatter(dots(one, place, gate)) for place, one in enumerate(named, 1)])
    chart.add_scatter(**mark(score, gate, palette))
    chart.update_layout(**lines.layout(title, ROW * (len(named) + 1) + 190, palette))
    top = chart.layout.margin.t + 20  # room for words over the line, under the title
    chart.update_layout(showlegend=False, margin={"t": top, "r": 72, "b": 60})
    line = {"color": palette.ink, "width": 2}
    chart.add_vline(gate.threshold, line=line)
    chart.add_annotation(
        x=gate.threshold, y=1, yref="paper", yanchor="bottom", xanchor="left", showarrow=False,
        text="turned away →", font={"size": 12, "color": palette.ink},
    )  # fmt: skip
    for place, (_, scores) in enumerate(named, 1):
        chart.add_annotation(
            x=1, xref="paper", xanchor="left", xshift=8, y=place, showarrow=False,
            text=formats.percent(share(scores, gate), 500), font={"size": 12},
        )  # fmt: skip
    chart.update_xaxes(title="how strange to the members (score)", fixedrange=True,
                       zeroline=False)  # fmt: skip
    chart.update_yaxes(
        tickvals=list(range(len(named) + 1)), ticktext=["<b>this mark</b> ",
                                                        *(f"{name} " for name, _ in named)],
        range=[len(named) + 0.5, -0.5], fixedrange=True, showgrid=False, zeroline=False,
        automargin=True,
    )  # fmt: skip
    return chart


def rows(gate: "Gate", known: str) -> list[tuple[str, Floats]]:
    """The kinds of images by name, with their scores: the real digits first."""
    return [(known, gate.known), *((one.title, one.scores) for one in gate.strangers)]


def share(scores: Floats, gate: "Gate") -> float:
    """The share that is turned away."""
    return float(np.mean(np.asarray(scores) > gate.threshold))


def dots(row: tuple[str, Floats], place: int, gate: "Gate") -> dict[str, Any]:
    """One row: a dot for each image, over each other only where they are equally strange."""
    name, scores = row
    away = np.asarray(scores) > gate.threshold
    # The first row are real digits: what is turned away of them is a mistake, of others what stays.
    right = ~away if place == 1 else away
    hover = [f"{name}: {formats.significant(float(one))}, "
             f"{'turned away' if gone else 'let through'}, {'✓ rightly' if good else '✗ wrongly'}"
             for one, gone, good in zip(scores, away, right, strict=True)]  # fmt: skip
    return {
        "x": scores, "y": place + spread(len(scores)), "mode": "markers", "name": name,
        "marker": {"color": np.where(right, RIGHT, WRONG).tolist(), "size": 5,
                   "opacity": 0.7},
        "hovertext": hover, "hoverinfo": "text",
    }  # fmt: skip


def spread(count: int) -> NDArray[np.float64]:
    """Heights of the dots of a row around its middle: evenly spread, no chance in it."""
    return np.asarray(HEIGHT * (np.arange(count) * GOLDEN % 1 - 0.5))


def mark(score: float, gate: "Gate", palette: Palette) -> dict[str, Any]:
    """The open mark, in the ensemble's ink."""
    done = "turned away" if score > gate.threshold else "let through"
    return {
        "x": [score], "y": [0], "mode": "markers", "name": "this mark",
        "marker": {"color": palette.ink, "size": 13, "symbol": "diamond"}, "hoverinfo": "text",
        "hovertext": [f"This mark: {formats.significant(score)}, {done}"], "cliponaxis": False,
    }  # fmt: skip


def alt(gate: "Gate", known: str) -> str:
    """The picture in words: what share of each kind is turned away."""
    told = ", ".join(f"{name} {formats.percent(share(scores, gate), 500)}"
                     for name, scores in rows(gate, known))  # fmt: skip
    return f"Scores of real digits and strangers with the threshold; turned away: {told}"


def table(gate: "Gate", known: str, score: float) -> pd.DataFrame:
    """A row for each image: its kind, its score, and whether it is turned away."""
    frames = [pd.DataFrame({"images": ["this mark"], "score": [score]})]
    frames += [pd.DataFrame({"images": name, "score": scores}) for name, scores in
               rows(gate, known)]  # fmt: skip
    frame = pd.concat(frames, ignore_index=True)
    frame["threshold"] = gate.threshold
    frame["turned_away"] = frame["score"] > gate.threshold
    return frame


def shares(gate: "Gate", known: str, noun: str) -> pd.DataFrame:
    """The table on the screen: of each kind, how many were shown and how many turned away."""
    kept: Sequence[tuple[str, int, float]] = [
        (f"{known}, other {noun}s", gate.judged, 1 - gate.kept),
        *((one.title, one.n, one.share) for one in gate.strangers),
    ]
    return pd.DataFrame(
        [{"shown": name, "turned away": formats.percent(part, 500), "of images": f"{n:,}"}
         for name, n, part in kept]
    )  # fmt: skip
