"""Committee: how many members are enough, what more would bring, and what each is worth."""

import streamlit as st

from ensemble.analysis.members import committee as committees
from ensemble.analysis.members.enough import MARGINS, Enough
from ensemble.analysis.members.extrapolation import extrapolate
from ensemble.analysis.predictions import Predictions
from ensemble.analysis.quality.calibration_noise import ensemble_error
from ensemble.figures.inspect.committee import NAMES, alt, figure, sees, table
from ensemble.ui.inspect.loader import measured
from ensemble.ui.inspect.members import costs, enough
from ensemble.ui.inspect.members.enough import all_committees
from ensemble.ui.inspect.shown import Inspected
from ensemble.ui.predictions.fitting import Fitting
from ensemble.ui.shared import address, theme
from ensemble.ui.shared import figure_panel as pictures
from ensemble.wording.formats import plural
from ensemble.wording.verdicts import committee as words
from ensemble.wording.verdicts.calibration import by_chance


def show(shown: Inspected) -> None:
    """The verdict, the curve over the size, costs, the members' worth, the best of each size."""
    if shown.members == 1:
        st.info("One member is no committee: train two or more to see how many are enough.",
                icon=":material/group_off:")  # fmt: skip
        return
    # A few seconds for 64 members; it says so only where it takes more than a moment.
    with st.spinner(f"Judging committees of the {shown.members} members …"):
        judged = measured(shown, all_committees)
        fitting = shown.fitting
        picked = measured(shown, best_by_nll, fitting)
    verdict = st.container()
    with st.container(horizontal=True, gap="large"):
        name = address.choose(address.FIGURE, "Figure", NAMES, "accuracy", width="content")
        if name in MARGINS:
            enough.choose(name)
    found = enough.decided(shown, name, *enough.chosen(name)) if name in MARGINS else None
    with verdict:
        tell(found, shown)
    curve = committees.curve(judged, name)
    title = f"{NAMES[name]} over the committee's size · {shown.source}"
    pictures.show(
        figure(judged, name, found, title, theme.palette()), key="committee",
        of=shown.run, epoch=shown.epoch, name=f"{shown.stem}-committee-{name}",
        title="The committees' figures by their size", alt=alt(curve, name, judged.n),
        table=lambda: table(judged, picked), sees=sees(judged, curve, name),
    )  # fmt: skip
    if name == "ece":
        st.caption(by_chance(measured(shown, ensemble_error)))
    st.markdown("**What each further member brings and costs**")
    beyond = extrapolate(judged, name)
    costing = costs.costs(judged, name, beyond, shown)
    st.dataframe(costing, hide_index=True, key="committee_costs")
    st.caption(costs.caption(judged, beyond, name, list(costing)))
    left, right = st.columns(2, gap="large")
    with left:
        st.markdown("**What each member is worth**")
        st.dataframe(words.worth(judged, shown.noun), hide_index=True, key="committee_worth")
        st.caption(words.without(judged.members))
    with right:
        st.markdown("**The best committee of each size**")
        st.dataframe(words.best(judged, picked), hide_index=True, key="committee_best")
        st.caption(words.best_by(fitting is not None))


def tell(found: Enough | None, shown: Inspected) -> None:
    """The verdict in a line, and in the next what carries it."""
    if not found:
        st.markdown("##### How many members are enough is not judged by ECE.")
        st.caption(f"It is no mean over {plural(shown.noun)}, so no margin of it can be tested: "
                   "choose "
                   "another figure.")  # fmt: skip
        return
    st.markdown(f"##### {words.verdict(found, shown.noun)}")
    st.caption(words.evidence(found, shown.noun))


def best_by_nll(made: Predictions, fitting: Fitting | None = None) -> list[tuple[int, ...]]:
    """The members of the best committee of each size by NLL, on the images held out if any are.

    The same committees are looked at there as on the test images.
    """
    on = fitting.made if fitting else made
    return committees.best_of_each_size(on.probabilities, on.labels)
