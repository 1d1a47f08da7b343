"""Calibration: whether the ensemble is right as often as it says."""

import streamlit as st

from ensemble.analysis.predictions import Predictions
from ensemble.analysis.quality import temperature
from ensemble.analysis.quality.calibration_noise import ensemble_error
from ensemble.analysis.quality.calibration_test import CalibrationTest, calibration_test
from ensemble.analysis.quality.temperature import Temperatures
from ensemble.figures.inspect.calibration import alt, diagrams, figure, sees, table
from ensemble.ui.inspect.loader import measured
from ensemble.ui.inspect.shown import Inspected
from ensemble.ui.predictions.fitting import Fitting
from ensemble.ui.shared import figure_panel as pictures
from ensemble.ui.shared import theme
from ensemble.wording.verdicts import calibration as words


def show(shown: Inspected) -> None:
    """The answer, the reliability diagram, and what a temperature would improve."""
    whole, members = measured(shown, diagrams)
    fitting = shown.fitting
    enough = shown.n >= least(fitting)
    scaled = measured(shown, temperatures, fitting) if enough else None
    found = measured(shown, judged)
    st.markdown(f"##### {words.verdict(found, shown.noun)}")
    st.caption(f"{words.evidence(found, shown.noun)}  \n"
               f"{words.error(measured(shown, ensemble_error))}")  # fmt: skip
    left, right = st.columns([5, 4], gap="large")
    with left:
        title = f"Reliability · {shown.source}"
        pictures.show(
            figure(whole, members, shown.noun, title, theme.palette()), key="calibration",
            of=shown.run, epoch=shown.epoch,
            name=f"{shown.stem}-calibration", title="Confidence against accuracy",
            alt=alt(whole, shown.noun), table=lambda: table(whole, members),
            sees=sees(shown.noun),
        )  # fmt: skip
    with right:
        improvement(scaled, shown.noun, least(fitting))
        if scaled:
            temperature_table(
                scaled, shown.noun, words.TEMPERED if shown.members > 1 else words.ALONE
            )


def least(fitting: Fitting | None) -> int:
    """Test images, below which what a temperature saves cannot be told: two halves take twice."""
    return temperature.LEAST if fitting else 2 * temperature.LEAST


def temperatures(made: Predictions, fitting: Fitting | None = None) -> Temperatures:
    """The ensemble with and without a temperature."""
    held = fitting and (fitting.made.probabilities, fitting.made.labels)
    return temperature.compare(made.probabilities, made.labels, held)


def judged(made: Predictions) -> CalibrationTest:
    """Whether confidence and accuracy of the ensemble differ by more than chance."""
    return calibration_test(made.confidence, made.right)


def improvement(scaled: Temperatures | None, noun: str, least: int) -> None:
    """What a temperature is worth, or why that is not known."""
    if not scaled:
        st.caption(words.too_few(least, noun))
        return
    st.markdown(f"**{words.temperature(scaled, noun)}**")
    st.caption(words.temperature_evidence(scaled, noun))


def temperature_table(scaled: Temperatures, noun: str, named: dict[str, str]) -> None:
    """The table of temperatures, and how to read it."""
    st.dataframe(words.in_words(scaled, named), hide_index=True, key="calibration_table")
    st.caption(words.notes(noun))
