"""Committee: how many of the members would have been enough, and what each of them is worth."""

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import streamlit as st

from ensemble.analysis import committee as committees
from ensemble.analysis.committee import FIGURES, Committee, Curve, Enough
from ensemble.analysis.predictions import Predictions
from ensemble.analysis.subsets import DRAWN
from ensemble.ui import address, formats, inspect_lines, theme
from ensemble.ui import figure as pictures
from ensemble.ui.inspect_loader import measured
from ensemble.ui.inspect_shown import Inspected

if TYPE_CHECKING:
    import plotly.graph_objects as go

NAMES = {"accuracy": "Accuracy", "nll": "NLL", "brier": "Brier", "ece": "ECE"}
UNITS = {"accuracy": "accuracy", "nll": "NLL (nats)", "brier": "Brier score", "ece": "ECE"}
GLOSS = {
    "accuracy": "the share that is right",
    "nll": "what the label's probability costs, in nats",
    "brier": "the squared distance to the label, 0 to 2",
    "ece": "how far confidence and accuracy lie apart",
}


def show(shown: Inspected) -> None:
    """The answer, the curve over the size, the members' worth and the best of each size."""
    if shown.members == 1:
        st.info("One member is no committee: train two or more to see how many are enough.",
                icon=":material/group_off:")  # fmt: skip
        return
    judged = measured(shown, judge)
    enough = committees.enough(judged)
    st.markdown(f"#### {answer(judged, enough, shown.noun)}")
    name = address.choose("figure", "Figure", NAMES, "accuracy", width="content")
    found = committees.curve(judged, name)
    title = f"{NAMES[name]} over the committee's size · {shown.source}"
    pictures.show(
        figure(judged, name, enough, title), key="committee", name=f"{shown.stem}-committee-{name}",
        title="The committees' figures by their size", alt=alt(found, name, judged.n),
        table=lambda: table(judged), sees=sees(judged, found, name),
    )  # fmt: skip
    left, right = st.columns(2, gap="large")
    with left:
        st.markdown("**What each member is worth**")
        st.dataframe(worth(judged, shown.noun), hide_index=True, key="committee_worth")
        st.caption(f"Without it: all {judged.members} members against all but this one. A member "
                   "that alone is poor can still be worth having, if it errs elsewhere.")  # fmt: skip
    with right:
        st.markdown("**The best committee of each size**")
        st.dataframe(best(judged), hide_index=True, key="committee_best")
        st.caption("By NLL, chosen on the test set itself: on new images it will do less well "
                   "than here.")  # fmt: skip


def judge(made: Predictions) -> Committee:
    """Every committee of the members, or a draw of them."""
    return committees.committee(made.probabilities, made.labels)


def answer(judged: Committee, enough: Enough, noun: str) -> str:
    """How many members would have been enough."""
    M, size = judged.members, enough.size
    found = committees.curve(judged, "accuracy")
    if size == M:
        return (f"It takes all {M} members: most smaller committees get fewer {noun}s right than "
                "the whole, by more than chance.")  # fmt: skip
    ones = "single members" if size == 1 else f"committees of {size}"
    share = "all" if enough.share == 1 else f"{100 * enough.share:.0f} %"
    fewer = (found.mean[size - 1] - found.mean[-1]) * judged.n
    return (
        f"{size} of the {M} members would have been enough: {share} of the {ones} cannot be told "
        f"from all {M} on these {judged.n:,} {noun}s. On average they get "
        f"{formats.percent(found.mean[size - 1], judged.n)} right, the whole "
        f"{formats.percent(found.mean[-1], judged.n)} ({formats.digits(fewer, noun)})."
    )


def looked_at(judged: Committee) -> str:
    """Whether these are all committees, in words."""
    if judged.exact:
        return f"All {len(judged.size):,} committees that {judged.members} members can form"
    return f"{len(judged.size):,} committees, of most sizes {DRAWN} drawn by chance"


def sees(judged: Committee, found: Curve, name: str) -> str:
    """What to see in the curve of one figure."""
    first, last = in_words(found.mean[0], name, judged.n), in_words(found.mean[-1], name, judged.n)
    gloss = f"{NAMES[name]} ({GLOSS[name]})"
    return (
        f"{gloss} goes from {first} for one member to {last} for all {judged.members}; the band is "
        f"from the best to the worst committee of a size. {looked_at(judged)}."
    )


def in_words(value: float, name: str, n: int) -> str:
    """A figure as it is written on every screen."""
    return formats.percent(value, n) if name == "accuracy" else formats.significant(value)


def figure(judged: Committee, name: str, enough: Enough, title: str) -> "go.Figure":
    """One figure over the committee's size: the mean, its band, the single members, enough.

    Args:
      judged: the committees.
      name: one of `FIGURES`.
      enough: the smallest size that cannot be told from the whole.
      title: what stands over it, so that a saved picture says what it shows.
    """
    import plotly.graph_objects as go  # here, for it takes a while and only pictures need it

    found = committees.curve(judged, name)
    scale = 100 if name == "accuracy" else 1
    traces = [*band(found, scale), mean(found, name, judged.n), *singles(judged, name)]
    chart = go.Figure([go.Scatter(trace) for trace in traces])
    at, height = enough.size, scale * found.mean[enough.size - 1]
    chart.add_scatter(x=[at], y=[height], mode="markers", hoverinfo="skip", showlegend=False,
                      name="enough", cliponaxis=False,
                      marker={"symbol": "circle-open", "size": 18, "color": theme.ink(),
                              "line": {"width": 2}})  # fmt: skip
    below = name == "accuracy"
    chart.add_annotation(
        x=at, y=height, text=f"<b>{at} {'is' if at == 1 else 'are'} enough</b>", showarrow=False,
        xanchor="left", yanchor="top" if below else "bottom", xshift=10, yshift=-8 if below else 8,
        font={"color": theme.ink(), "size": 13},
    )  # fmt: skip
    chart.update_layout(inspect_lines.layout(title, 440))
    chart.update_xaxes(title="members in the committee", fixedrange=True, range=ends(found),
                       dtick=1 if judged.members <= 16 else 8 if judged.members > 32 else 4,
                       tick0=0)  # fmt: skip
    chart.update_yaxes(title=UNITS[name], ticksuffix=" %" if name == "accuracy" else "",
                       fixedrange=True, automargin=True)  # fmt: skip
    return chart


def ends(found: Curve) -> list[float]:
    """The ends of the axis of sizes: a little room on both sides."""
    room = 0.03 * len(found.size) + 0.15
    return [1 - room, len(found.size) + room]


def band(found: Curve, scale: float) -> list[dict[str, Any]]:
    """From the worst to the best committee of each size."""
    line = {"x": found.size, "mode": "lines", "line": {"width": 0}, "hoverinfo": "skip",
            "legendgroup": "band"}  # fmt: skip
    return [
        {**line, "y": scale * found.low, "showlegend": False, "name": "lowest"},
        {**line, "y": scale * found.high, "fill": "tonexty", "name": "best to worst",
         "fillcolor": "rgba(123, 135, 148, 0.25)"},
    ]  # fmt: skip


def mean(found: Curve, name: str, n: int) -> dict[str, Any]:
    """The mean over the committees of each size."""
    hovers = [
        f"{formats.count(int(size), 'member')}: {in_words(middle, name, n)} on average, "
        f"{in_words(low, name, n)} to {in_words(high, name, n)}<br>"
        f"{formats.count(int(count), 'committee')}"
        for size, middle, low, high, count in
        zip(found.size, found.mean, found.low, found.high, found.count, strict=True)
    ]  # fmt: skip
    return {
        "x": found.size, "y": (100 if name == "accuracy" else 1) * found.mean,
        "mode": "lines+markers" if len(found.size) <= 16 else "lines", "marker": {"size": 7},
        "line": inspect_lines.bold(), "name": "mean of the committees", "cliponaxis": False,
        "hovertext": hovers, "hoverinfo": "text",
    }  # fmt: skip


def singles(judged: Committee, name: str) -> list[dict[str, Any]]:
    """Each member alone, a dot at size 1."""
    M, values = judged.members, getattr(judged, name)[: judged.members]
    traces = inspect_lines.lines(
        [[1]] * M, [[(100 if name == "accuracy" else 1) * value] for value in values],
        [[f"Member {m + 1} alone: {in_words(value, name, judged.n)}"]
         for m, value in enumerate(values)], cliponaxis=False,
    )  # fmt: skip
    marks = [
        {"color": trace["line"]["color"], "size": 9, "line": {"color": theme.ground(), "width": 1}}
        for trace in traces
    ]
    return [
        {**trace, "mode": "markers", "marker": mark, "opacity": max(0.6, trace["opacity"])}
        for trace, mark in zip(traces, marks, strict=True)
    ]


def worth(judged: Committee, noun: str) -> pd.DataFrame:
    """What is lost without each member."""
    found, M = committees.worth(judged), judged.members
    return pd.DataFrame(
        {
            "member": range(1, M + 1),
            "alone": [formats.percent(share, judged.n) for share in judged.accuracy[:M]],
            "without it": [formats.digits(-share * judged.n, noun) for share in found.accuracy],
            "NLL without it": [signed(loss) for loss in found.nll],
        }
    )


def signed(value: float) -> str:
    """A difference to two significant figures, with its sign."""
    sign = "+" if value > 0 else "−" if value < 0 else "±"
    return f"{sign}{formats.significant(abs(value), 2)}"


def best(judged: Committee) -> pd.DataFrame:
    """The best committee of each size by NLL, the smallest first."""
    rows = [row_of_best(judged, size) for size in range(1, judged.members + 1)]
    return pd.DataFrame(
        {
            "size": range(1, judged.members + 1),
            "NLL": [formats.significant(judged.nll[row]) for row in rows],
            "accuracy": [formats.percent(judged.accuracy[row], judged.n) for row in rows],
            "members": [spoken(judged, size) for size in range(1, judged.members + 1)],
        }
    )


def row_of_best(judged: Committee, size: int) -> int:
    """Where the best committee of a size stands."""
    mask = sum(1 << member for member in committees.best_of_size(judged, size))
    return int(np.flatnonzero(judged.masks == np.uint64(mask))[0])


def spoken(judged: Committee, size: int) -> str:
    """The members of the best committee of a size: "1, 3, 4"; "all" of them."""
    if size == judged.members:
        return "all"
    return ", ".join(str(member + 1) for member in committees.best_of_size(judged, size))


def alt(found: Curve, name: str, n: int) -> str:
    """The picture in words."""
    first, last = in_words(found.mean[0], name, n), in_words(found.mean[-1], name, n)
    return f"Mean {NAMES[name]} over the committee's size, from {first} to {last}"


def table(judged: Committee) -> pd.DataFrame:
    """Every size: how many committees, and each figure's mean, least and largest."""
    curves = {name: committees.curve(judged, name) for name in FIGURES}
    first = curves["accuracy"]
    columns: dict[str, Any] = {"size": first.size, "committees": first.count}
    for name, found in curves.items():
        columns |= {f"{name}_mean": found.mean, f"{name}_least": found.low,
                    f"{name}_largest": found.high}  # fmt: skip
    columns["best_by_nll"] = [
        " ".join(str(member + 1) for member in committees.best_of_size(judged, int(size)))
        for size in first.size
    ]
    return pd.DataFrame(columns)
