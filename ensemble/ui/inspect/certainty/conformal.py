"""Conformal sets: for each example the classes it may be, with an error rate that is promised."""

import streamlit as st

from ensemble.analysis.predictions import Predictions
from ensemble.analysis.quality.conformal import METHODS, Calibrated
from ensemble.analysis.quality.coverage import Achieved, judge_sets
from ensemble.figures.inspect.conformal import alt, figure, table
from ensemble.ui.inspect.loader import measured
from ensemble.ui.inspect.shown import Inspected
from ensemble.ui.predictions import downloads, sets
from ensemble.ui.predictions.fitting import Fitting
from ensemble.ui.shared import figure_panel as pictures
from ensemble.ui.shared import theme
from ensemble.wording.verdicts import sets as words

Judged = dict[str, tuple[Calibrated, Achieved]]


def show(shown: Inspected) -> None:
    """What the sets come to, the controls, their sizes, and every kind's and class's figures."""
    answered = st.container()
    sets.control(shown.noun, "inspect_sets")
    rate, method = sets.asked()
    each = measured(shown, judged, rate, shown.fitting)
    made, found = each[method]
    answered.markdown(f"##### {words.verdict(made, found, shown.noun)}")
    title = f"Conformal sets at {words.level(rate)} · {shown.source}"
    pictures.show(
        figure(found, shown.noun, title, theme.palette()), key="inspect_sets",
        of=shown.run, epoch=shown.epoch,
        name=f"{shown.stem}-sets", title="Sizes of the sets", alt=alt(found, shown.noun),
        table=lambda: table(found), sees=words.sees(found, shown.noun),
    )  # fmt: skip
    st.dataframe(words.by_method(each), hide_index=True, key="inspect_sets_table")
    st.caption(words.promise(made, shown.noun, shown.fitting is None))
    listed = words.worst(found)
    st.dataframe(downloads.on_screen(words.by_class(found, shown.names, listed)), hide_index=True,
                 key="inspect_sets_classes", width="content")  # fmt: skip
    some = "" if len(listed) == len(shown.names) else (
        f"Of {len(shown.names):,} classes the {words.WORST} whose sets hold it least often. "
    )  # fmt: skip
    st.caption(
        some
        + f"{words.calibrated_on(made.n, found.n, shown.noun, shown.fitting is None)}; in brackets "
        "the 95 % interval."
    )


def judged(made: Predictions, rate: float, fitting: Fitting | None = None) -> Judged:
    """Each kind of sets, calibrated and judged on other examples."""
    apart = sets.calibration(fitting)
    return {one: judge_sets(made.averaged, made.labels, rate, one, apart) for one in METHODS}
