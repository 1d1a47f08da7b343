"""Agreement: how different the members are, what that gains, and the images that split them."""

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import streamlit as st

from ensemble.analysis.members.diversity import oracle_accuracy
from ensemble.analysis.predictions import Predictions
from ensemble.figures import lines
from ensemble.figures.palette import Palette
from ensemble.ui.inspect.certainty import decomposition
from ensemble.ui.inspect.loader import measured, pictured
from ensemble.ui.inspect.members import lists
from ensemble.ui.inspect.members.pairs import MEASURES, Measure, matrix
from ensemble.ui.inspect.shown import Inspected
from ensemble.ui.shared import address, figure_panel
from ensemble.wording import formats

if TYPE_CHECKING:
    import plotly.graph_objects as go

WRITTEN = 10  # up to so many members a cell has its figure written in it


def show(shown: Inspected) -> None:
    """Draw the view."""
    if shown.members == 1:
        st.info("With one member there is nobody to agree or disagree with: train two or more to "
                "see where they differ.", icon=":material/person:")  # fmt: skip
        return
    left, right = st.columns(2, gap="large")
    with left:
        pairs(shown)
    with right:
        decomposition.show(shown)
    oracle(shown)
    lists.show(shown)


def pairs(shown: Inspected) -> None:
    """The matrix of all pairs of members, by one of four measures."""
    labels = {key: one.label for key, one in MEASURES.items()}
    key = address.choose("measure", "Measure", labels, "disagreement",
                         help=" ".join(one.help for one in MEASURES.values()))  # fmt: skip
    measure = MEASURES[key]
    values = measured(shown, matrix, key)
    title = f"{measure.title} · {shown.source}"
    figure_panel.show(
        pictured(shown, lambda palette: drawn(shown, measure, values, title, palette), "pairs",
                 key),
        key="inspect_pairs",
        name=f"{shown.stem}-{key.replace('_', '-')}", title=measure.title,
        alt=f"{measure.title} of every pair of {shown.members} members",
        table=lambda: table(values), sees=measure.sees(values, shown.n, shown.noun),
    )  # fmt: skip


def drawn(
    shown: Inspected, measure: Measure, values: np.ndarray, title: str, palette: Palette
) -> "go.Figure":
    """The matrix as a heat map, member 1 on top and on the left."""
    import plotly.graph_objects as go  # here, for it takes a while and only this needs it

    M = shown.members
    numbers = [str(m + 1) for m in range(M)]
    told = [[measure.tell(r, c, values[r, c], shown.n, shown.noun) for c in range(M)]
            for r in range(M)]  # fmt: skip
    seen = values.copy()
    if measure.blank_diagonal:
        np.fill_diagonal(seen, np.nan)
    chart = go.Figure(go.Heatmap(
        z=seen, x=numbers, y=numbers, hovertext=told, hoverinfo="text", xgap=1, ygap=1,
        colorscale=palette.scale, showscale=M > WRITTEN,
        text=[[measure.write(value) for value in row] for row in seen] if M <= WRITTEN else None,
        texttemplate="%{text}" if M <= WRITTEN else None, hoverongaps=False,
        colorbar={"title": {"text": measure.unit, "side": "right"}, "thickness": 12},
    ))  # fmt: skip
    chart.update_layout(lines.layout(title, 420, palette))
    # Numbers of members are short: to measure them, Plotly would draw the matrix twice.
    chart.update_layout(margin_b=50, margin_l=56)
    axis = {"title": "member", "type": "category", "showgrid": False, "fixedrange": True,
            "constrain": "domain", "automargin": False}  # fmt: skip
    chart.update_xaxes(axis)
    chart.update_yaxes(axis, autorange="reversed", scaleanchor="x")
    return chart


def table(values: np.ndarray) -> pd.DataFrame:
    """The matrix with the members' names."""
    names = [f"member {m + 1}" for m in range(len(values))]
    frame = pd.DataFrame(values, columns=names)
    frame.insert(0, "member", names)
    return frame


def oracle(shown: Inspected) -> None:
    """What the members know together, were one to choose rightly among them."""
    share = measured(shown, oracle_of)
    missing = round((1 - share) * shown.n)
    left = f"{formats.count(missing, shown.noun)} no member gets right" if missing else (
        f"there is no {shown.noun} that all members miss"
    )  # fmt: skip
    more = round((share - shown.made.right.mean()) * shown.n)
    st.markdown(
        f"At least one member is right on **{formats.percent(share, shown.n)}** of the "
        f"{shown.noun}s, {formats.digits(more, shown.noun)} over the ensemble; {left}.",
        help="Oracle accuracy: what one would reach who always knew which member to believe.",
    )


def oracle_of(made: Predictions) -> float:
    """The oracle accuracy of the members."""
    return oracle_accuracy(made.votes, made.labels)
