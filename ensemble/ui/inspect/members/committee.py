"""Committee: how many members are enough, what more would bring, and what each is worth."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
import streamlit as st

from ensemble.analysis.members import committee as committees
from ensemble.analysis.members.committee import Committee, Curve
from ensemble.analysis.members.enough import MARGINS, Enough
from ensemble.analysis.members.extrapolation import extrapolate
from ensemble.analysis.members.subsets import drawn_at_most
from ensemble.analysis.predictions import Predictions
from ensemble.analysis.quality.calibration_noise import ensemble_error
from ensemble.figures.inspect.committee import NAMES, alt, figure, in_words, table
from ensemble.ui.inspect.loader import measured
from ensemble.ui.inspect.members import costs, enough
from ensemble.ui.inspect.members.enough import all_committees
from ensemble.ui.inspect.shown import Inspected
from ensemble.ui.predictions.fitting import Fitting
from ensemble.ui.shared import address, theme
from ensemble.ui.shared import figure_panel as pictures
from ensemble.wording import formats
from ensemble.wording.formats import plural
from ensemble.wording.verdicts import chosen
from ensemble.wording.verdicts import committee as words
from ensemble.wording.verdicts.calibration import by_chance

GLOSS = {
    "accuracy": "the share that is right",
    "nll": "what the label's probability costs, in nats",
    "brier": "the squared distance to the label, 0 to 2",
    "ece": "how far confidence and accuracy lie apart",
}


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
        name=f"{shown.stem}-committee-{name}",
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
        st.dataframe(worth(judged, shown.noun), hide_index=True, key="committee_worth")
        st.caption(
            f"Without it: {everyone(judged.members)} against all but this one. A member that is "
            "poor alone can still be worth having, if it errs elsewhere."
        )
    with right:
        st.markdown("**The best committee of each size**")
        st.dataframe(best(judged, picked), hide_index=True, key="committee_best")
        st.caption(best_by(fitting))


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


def everyone(M: int) -> str:
    """All M members."""
    return "both members" if M == 2 else f"all {M} members"


def looked_at(judged: Committee) -> str:
    """Whether these are all committees, in words."""
    if judged.exact:
        return f"All {len(judged.size):,} committees that {judged.members} members can form"
    there_are = formats.significant(2**judged.members - 1)
    return (
        f"{len(judged.size):,} of about {there_are} committees that {judged.members} members can "
        f"form: of each size all, or {drawn_at_most(judged.members)} drawn at random (seed 0)"
    )


def sees(judged: Committee, found: Curve, name: str) -> str:
    """What to see in the curve of one figure."""
    first, last = in_words(found.mean[0], name, judged.n), in_words(found.mean[-1], name, judged.n)
    return (
        f"{NAMES[name]} ({GLOSS[name]}) goes from {first} for one member to {last} for "
        f"{everyone(judged.members)}; the band is from the best to the worst committee of a size. "
        f"{looked_at(judged)}."
    )


def worth(judged: Committee, noun: str) -> pd.DataFrame:
    """What is lost without each member."""
    found, M = committees.worth(judged), judged.members
    return pd.DataFrame(
        {
            "member": [str(member) for member in range(1, M + 1)],
            "alone": [formats.percent(share, judged.n) for share in judged.accuracy[:M]],
            "without it": [formats.digits(-share * judged.n, noun) for share in found.accuracy],
            "NLL without it": [signed(loss) for loss in found.nll],
        }
    )


def signed(value: float) -> str:
    """A difference to two significant figures, with its sign."""
    sign = "+" if value > 0 else "−" if value < 0 else "±"
    return f"{sign}{formats.significant(abs(value), 2)}"


def best_by_nll(made: Predictions, fitting: Fitting | None = None) -> list[tuple[int, ...]]:
    """The members of the best committee of each size by NLL, on the images held out if any are.

    The same committees are looked at there as on the test images.
    """
    on = fitting.made if fitting else made
    return committees.best_of_each_size(on.probabilities, on.labels)


def best_by(fitting: Fitting | None) -> str:
    """By what and on which images the best committees are chosen."""
    if fitting is None:
        return f"By NLL, {chosen.ON_TEST}."
    return f"By NLL, {chosen.ON_VALIDATION}; the figures are those of all test images."


def best(judged: Committee, picked: Sequence[tuple[int, ...]]) -> pd.DataFrame:
    """The best committee of each size, the smallest first, with its figures."""
    rows = [row_of(judged, who) for who in picked]
    return pd.DataFrame(
        {
            "size": [str(size) for size in range(1, judged.members + 1)],
            "NLL": [formats.significant(judged.nll[row]) for row in rows],
            "accuracy": [formats.percent(judged.accuracy[row], judged.n) for row in rows],
            "members": [spoken(who, judged.members) for who in picked],
        }
    )


def row_of(judged: Committee, who: tuple[int, ...]) -> int:
    """Where the committee of these members stands."""
    mask = sum(1 << member for member in who)
    return int(np.flatnonzero(judged.masks == np.uint64(mask))[0])


def spoken(who: tuple[int, ...], members: int) -> str:
    """The members of a committee: "1, 3, 4"; "all" of them."""
    return "all" if len(who) == members else ", ".join(str(member + 1) for member in who)
