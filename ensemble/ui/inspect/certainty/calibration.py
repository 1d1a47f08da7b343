"""Calibration: whether the ensemble is right as often as it says."""

import numpy as np
import pandas as pd
import streamlit as st

from ensemble.analysis.predictions import Predictions
from ensemble.analysis.quality import temperature
from ensemble.analysis.quality.averaging import confidence
from ensemble.analysis.quality.calibration import Reliability, reliability
from ensemble.analysis.quality.intervals import wilson
from ensemble.analysis.quality.temperature import Temperatures, Tempered
from ensemble.figures.inspect.calibration import alt, figure, table
from ensemble.ui.inspect.loader import measured
from ensemble.ui.inspect.shown import Inspected
from ensemble.ui.shared import figure_panel as pictures
from ensemble.ui.shared import theme
from ensemble.wording import formats

# "About 90 %": wide enough to hold some answers, narrow enough to mean something.
NINETY = (0.85, 0.95)
FEW = 30
LEAST = 20  # examples, below which two halves say nothing
TEMPERED = {"as_it_is": "as it is", "before": "before averaging", "after": "after averaging"}
ALONE = {"as_it_is": "as it is", "after": "with a temperature"}
NOTHING = 0.0005  # of calibration error: too little to be worth improving


def show(shown: Inspected) -> None:
    """The answer, the reliability diagram, and what a temperature would improve."""
    whole, members = measured(shown, diagrams)
    scaled = measured(shown, temperatures) if shown.n >= LEAST else None
    st.markdown(f"##### {answer(shown.made, scaled, shown.noun)}")
    left, right = st.columns([5, 4], gap="large")
    with left:
        title = f"Reliability · {shown.source}"
        pictures.show(
            figure(whole, members, shown.noun, title, theme.palette()), key="calibration",
            name=f"{shown.stem}-calibration", title="Confidence against accuracy",
            alt=alt(whole, shown.noun), table=lambda: table(whole, members),
            sees=f"A point above the dashed line: {shown.noun}s that it is more often right about "
            "than it says. Below the picture, how many answers there are of each confidence.",
        )  # fmt: skip
    with right:
        temperature_table(scaled, shown.noun, TEMPERED if shown.members > 1 else ALONE)


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
    right = formats.percent(hits / n, n) if few else formats.percent(hits / n, places=0)
    if few:
        said = f"On average {who} is {formats.percent(says, n)} sure, and right about {right}"
        said += f" of {formats.count(n, noun)}"
    else:
        said = f"When {who} says about 90 %, it is right {right} of the time"
        said += f" ({formats.count(n, noun)})"
    apart = -1 if says < low else 1 if says > high else 0
    return f"{said}: {judgement(apart, scaled)}."


def judgement(apart: int, scaled: Temperatures | None) -> str:
    """A sentence on the calibration; `apart`: 1 too sure, −1 not sure enough, 0 within chance."""
    said = {
        1: "it is surer than it should be", -1: "it is less sure than it could be",
        0: "it is well calibrated: right as often as it says, within what chance allows",
    }[apart]  # fmt: skip
    return said + (f"; {improvement(scaled.as_it_is, scaled.after)}" if scaled else "")


def improvement(before: Tempered, after: Tempered) -> str:
    """How much of the calibration error (ECE) a temperature takes away, in words."""
    if before.quality.ece < NOTHING:
        return "there is next to nothing that a temperature could improve"
    share = 1 - after.quality.ece / before.quality.ece
    number = formats.significant(after.temperature)
    if share >= 0.9:
        return f"a temperature of {number} improves calibration: nearly all of the error goes"
    if share >= 0.5:
        return f"a temperature of {number} improves calibration: most of the error goes"
    if share >= 0.1:
        return f"a temperature of {number} improves calibration: some of the error goes"
    return f"a temperature ({number}) would not improve calibration"


def temperature_table(scaled: Temperatures | None, noun: str, named: dict[str, str]) -> None:
    """The table of temperatures, and how to read it."""
    if not scaled:
        st.caption(f"Fewer than {LEAST} {noun}s: too few to fit a temperature on one half.")
        return
    st.dataframe(in_words(scaled, named), hide_index=True, key="calibration_table")
    st.caption(
        f"A temperature below 1 makes it surer, above 1 less sure; which {noun}s it gets right "
        f"hardly changes. Fitted on one half of the test set ({scaled.fitted:,}), judged on the "
        f"other {scaled.judged:,}. NLL: what the label's probability costs, in nats. ECE: how far "
        "confidence and accuracy lie apart, over 15 bins of equal width; adaptive: of equal "
        "count; MCE: in the worst bin, which may hold a single one."
    )


def in_words(scaled: Temperatures, named: dict[str, str]) -> pd.DataFrame:
    """One column each as it is, tempered before, and tempered after averaging."""
    fields = {"NLL": "nll", "ECE": "ece", "adaptive ECE": "adaptive_ece", "MCE": "mce"}
    columns: dict[str, list[str]] = {"figure": ["temperature", *fields]}
    for field, name in named.items():
        one: Tempered = getattr(scaled, field)
        figures = [one.temperature, *(getattr(one.quality, figure) for figure in fields.values())]
        columns[name] = [formats.significant(value) for value in figures]
    return pd.DataFrame(columns)
