"""Calibration: whether the ensemble is right as often as it says."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import streamlit as st

from ensemble.analysis import temperature
from ensemble.analysis.averaging import confidence
from ensemble.analysis.calibration import Reliability, reliability
from ensemble.analysis.intervals import wilson
from ensemble.analysis.predictions import Predictions
from ensemble.analysis.temperature import Tempered, Temperatures
from ensemble.ui import figure as pictures
from ensemble.ui import formats, inspect_lines, theme
from ensemble.ui.inspect_loader import measured
from ensemble.ui.inspect_shown import Inspected

if TYPE_CHECKING:
    import plotly.graph_objects as go

# "About 90 %": wide enough to hold some answers, narrow enough to mean something.
NINETY = (0.85, 0.95)
FEW = 30
LEAST = 20  # examples, below which two halves say nothing
TICKS = (0, 0.2, 0.4, 0.6, 0.8, 1)
WAYS = {"as_it_is": "as it is", "before": "before averaging", "after": "after averaging"}


def show(shown: Inspected) -> None:
    """The answer, the reliability diagram, and what a temperature would mend."""
    whole, members = measured(shown, diagrams)
    scaled = measured(shown, temperatures) if shown.n >= LEAST else None
    st.markdown(f"#### {answer(shown.made, scaled, shown.noun)}")
    left, right = st.columns([5, 4], gap="large")
    with left:
        title = f"Reliability · {shown.source}"
        pictures.show(
            figure(whole, members, shown.noun, title), key="calibration",
            name=f"{shown.stem}-calibration", title="Confidence against accuracy",
            alt=alt(whole, shown.noun), table=lambda: table(whole, members),
            sees=f"A point above the dashed line: {shown.noun}s that it is more often right about "
            "than it says. Below the picture, how many answers there are of each confidence.",
        )  # fmt: skip
    with right:
        mended(scaled, shown.noun)


def diagrams(made: Predictions) -> tuple[Reliability, list[Reliability]]:
    """The reliability diagram of the ensemble, and of each member; of one member none."""
    each = zip(made.probabilities, made.votes, strict=True) if made.members > 1 else ()
    members = [reliability(confidence(p), votes == made.labels) for p, votes in each]
    return reliability(made.confidence, made.right), members


def temperatures(made: Predictions) -> Temperatures:
    """The ensemble with and without a temperature."""
    return temperature.compare(made.probabilities, made.labels)


def answer(made: Predictions, scaled: Temperatures | None, noun: str) -> str:
    """Whether it is right as often as it says, and what a temperature is worth."""
    who = "the ensemble" if made.members > 1 else "the one member"
    about = (made.confidence >= NINETY[0]) & (made.confidence <= NINETY[1])
    few = about.sum() < FEW
    group = np.ones(len(about), bool) if few else about
    n, hits = int(group.sum()), int(made.right[group].sum())
    says, low, high = float(made.confidence[group].mean()), *wilson(hits, n)
    right = formats.percent(hits / n, n) if few else f"{100 * hits / n:.0f} %"
    if few:
        said = f"On average {who} is {formats.percent(says, n)} sure, and right about {right}"
        said += f" of {formats.count(n, noun)}"
    else:
        said = f"When {who} says about 90 %, it is right {right} of the time"
        said += f" ({formats.count(n, noun)})"
    apart = -1 if says < low else 1 if says > high else 0
    return f"{said}: {judgement(apart, scaled)}."


def judgement(apart: int, scaled: Temperatures | None) -> str:
    """What to think of it: 1 too sure, −1 not sure enough, 0 neither, beyond chance."""
    said = {
        1: "it is surer than it should be", -1: "it is less sure than it could be",
        0: "it is as sure as it should be, within what chance allows",
    }[apart]  # fmt: skip
    return said + (f"; {mends(scaled.as_it_is, scaled.after)}" if scaled else "")


def mends(before: Tempered, after: Tempered) -> str:
    """How much of the calibration error a temperature takes away."""
    share = 1 - after.quality.ece / before.quality.ece if before.quality.ece else 0.0
    number = formats.significant(after.temperature)
    if share >= 0.9:
        return f"a temperature of {number} mends nearly all of its calibration error"
    if share >= 0.5:
        return f"a temperature of {number} mends most of its calibration error"
    if share >= 0.1:
        return f"a temperature of {number} mends some of its calibration error"
    return f"a temperature ({number}) would not make it better"


def mended(scaled: Temperatures | None, noun: str) -> None:
    """The table of temperatures, and how to read it."""
    if not scaled:
        st.caption(f"Fewer than {LEAST} {noun}s: too few to fit a temperature on one half.")
        return
    st.dataframe(in_words(scaled), hide_index=True, key="calibration_table")
    st.caption(
        f"A temperature below 1 makes it surer, above 1 less sure; which {noun}s it gets right "
        f"hardly changes. Fitted on one half of the test set ({scaled.fitted:,}), judged on the "
        f"other {scaled.judged:,}. NLL: what the label's probability costs, in nats. ECE: how far "
        "confidence and accuracy lie apart, over 15 bins of equal width; adaptive: of equal "
        "count; MCE: in the worst bin, which may hold a single one."
    )


def in_words(scaled: Temperatures) -> pd.DataFrame:
    """One column each as it is, tempered before, and tempered after averaging."""
    fields = {"NLL": "nll", "ECE": "ece", "adaptive ECE": "adaptive_ece", "MCE": "mce"}
    columns: dict[str, list[str]] = {"figure": ["temperature", *fields]}
    for way, name in WAYS.items():
        one: Tempered = getattr(scaled, way)
        figures = [one.temperature, *(getattr(one.quality, field) for field in fields.values())]
        columns[name] = [formats.significant(value) for value in figures]
    return pd.DataFrame(columns)


def figure(
    ensemble: Reliability, members: Sequence[Reliability], noun: str, title: str
) -> "go.Figure":
    """The reliability diagram: accuracy over confidence, and the count of each bin below.

    Args:
      ensemble: the ensemble's bins.
      members: each member's; of one member none.
      noun: what one example is called.
      title: what stands over it, so that a saved picture says what it shows.
    """
    import plotly.graph_objects as go  # here, for it takes a while and only pictures need it
    from plotly.subplots import make_subplots

    chart = make_subplots(2, 1, shared_xaxes=True, row_heights=[0.78, 0.22], vertical_spacing=0.05)
    chart.add_scatter(
        x=[0, 1],
        y=[0, 1],
        mode="lines",
        name="as often right as it says",
        line={"color": theme.MUTED, "width": 1.5, "dash": "dash"},
        hoverinfo="skip",
    )
    chart.add_traces([go.Scatter(one) for one in thin(members, noun)])
    chart.add_scatter(**bold(ensemble, bool(members), noun))
    chart.add_bar(**counts(ensemble, noun), row=2, col=1)
    chart.update_layout(inspect_lines.layout(title, 560, bargap=0.1))
    chart.update_xaxes(range=[0, 1], tickvals=TICKS, ticktext=percents(), fixedrange=True)
    chart.update_yaxes(
        range=[0, 1.02],
        tickvals=TICKS,
        ticktext=percents(),
        fixedrange=True,
        title="right",
        automargin=True,
        row=1,
        col=1,
    )
    top = max(10, int(ensemble.count.max()))
    chart.update_yaxes(
        type="log",
        range=[np.log10(0.5), np.log10(2 * top)],
        fixedrange=True,
        title=f"{noun}s",
        dtick=2 if top > 999 else 1,
        automargin=True,
        row=2,
        col=1,
    )
    chart.update_xaxes(title="confidence: the probability of what it says", row=2, col=1)
    return chart  # fmt: skip


def percents() -> list[str]:
    """The words of `TICKS`."""
    return [f"{100 * tick:.0f} %" for tick in TICKS]


def thin(members: Sequence[Reliability], noun: str) -> list[dict[str, Any]]:
    """The members' lines, over the bins that hold something."""
    kept = [one.count > 0 for one in members]
    hovers = [[f"Member {m + 1}: {point(one, b, noun)}" for b in np.flatnonzero(kept[m])]
              for m, one in enumerate(members)]  # fmt: skip
    return inspect_lines.lines(
        [one.confidence[there] for one, there in zip(members, kept, strict=True)],
        [one.accuracy[there] for one, there in zip(members, kept, strict=True)], hovers,
    )  # fmt: skip


def bold(found: Reliability, many: bool, noun: str) -> dict[str, Any]:
    """The ensemble's line, with the 95 % interval of each of its points."""
    bins = np.flatnonzero(found.count)
    ends = np.array([wilson(found.accuracy[b] * found.count[b], int(found.count[b])) for b in bins])
    return {
        "x": found.confidence[bins], "y": found.accuracy[bins], "mode": "lines+markers",
        "line": inspect_lines.bold(), "marker": {"size": 8},
        "cliponaxis": False, "name": "ensemble" if many else "the one member",
        "error_y": {"array": ends[:, 1] - found.accuracy[bins], "symmetric": False,
                    "arrayminus": found.accuracy[bins] - ends[:, 0], "thickness": 1, "width": 3},
        "hovertext": [f"{'The ensemble' if many else 'It'}: {point(found, b, noun)}<br>95 %: "
                      f"{100 * low:.0f} to {100 * high:.0f} %"
                      for b, (low, high) in zip(bins, ends, strict=True)],
        "hoverinfo": "text",
    }  # fmt: skip


def counts(found: Reliability, noun: str) -> dict[str, Any]:
    """How many answers of the ensemble there are in each bin."""
    return {
        "x": (found.edges[:-1] + found.edges[1:]) / 2, "y": found.count,
        "marker": {"color": theme.MUTED}, "showlegend": False, "hoverinfo": "text",
        "hovertext": [f"{formats.count(int(count), noun)} from {100 * low:.0f} to {100 * high:.0f} "
                      "% sure" for count, low, high in
                      zip(found.count, found.edges[:-1], found.edges[1:], strict=True)],
    }  # fmt: skip


def point(found: Reliability, b: int, noun: str) -> str:
    """One bin in words."""
    return (
        f"{formats.count(int(found.count[b]), noun)} with {100 * found.confidence[b]:.1f} % on "
        f"average, {100 * found.accuracy[b]:.1f} % right"
    )


def alt(found: Reliability, noun: str) -> str:
    """The picture in words: where most answers are, and how often they are right."""
    b = int(found.count.argmax())
    return f"Accuracy over confidence in bins. The fullest bin has {point(found, b, noun)}"


def table(ensemble: Reliability, members: Sequence[Reliability]) -> pd.DataFrame:
    """Every bin of the ensemble and of each member: one row each."""
    named = [("ensemble", ensemble)]
    named += [(inspect_lines.member(m), one) for m, one in enumerate(members)]
    return pd.concat(
        pd.DataFrame(
            {
                "who": name, "above": one.edges[:-1], "up_to": one.edges[1:], "count": one.count,
                "mean_confidence": one.confidence, "accuracy": one.accuracy,
            }
        ) for name, one in named
    )  # fmt: skip
