"""Committee: how many of the members would have been enough, and what each of them is worth."""

import numpy as np
import pandas as pd
import streamlit as st

from ensemble.analysis.members import committee as committees
from ensemble.analysis.members.committee import Committee, Curve, Enough
from ensemble.analysis.members.subsets import DRAWN
from ensemble.figures.inspect.committee import NAMES, alt, figure, in_words, table
from ensemble.ui.inspect.answer import all_committees
from ensemble.ui.inspect.loader import measured
from ensemble.ui.inspect.shown import Inspected
from ensemble.ui.shared import address, theme
from ensemble.ui.shared import figure_panel as pictures
from ensemble.wording import formats

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
    # A few seconds for 64 members; it says so only where it takes more than a moment.
    with st.spinner(f"Judging committees of the {shown.members} members …"):
        judged = measured(shown, all_committees)
    enough = committees.enough(judged)
    st.markdown(f"##### {answer(judged, enough, shown.noun)}")
    name = address.choose(address.FIGURE, "Figure", NAMES, "accuracy", width="content")
    found = committees.curve(judged, name)
    title = f"{NAMES[name]} over the committee's size · {shown.source}"
    pictures.show(
        figure(judged, name, enough, title, theme.palette()), key="committee",
        name=f"{shown.stem}-committee-{name}",
        title="The committees' figures by their size", alt=alt(found, name, judged.n),
        table=lambda: table(judged), sees=sees(judged, found, name),
    )  # fmt: skip
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
        st.dataframe(best(judged), hide_index=True, key="committee_best")
        st.caption("By NLL, chosen on the test set itself: on new images it will do less well "
                   "than here.")  # fmt: skip


def answer(judged: Committee, enough: Enough, noun: str) -> str:
    """How many members would have been enough."""
    M, size = judged.members, enough.size
    found = committees.curve(judged, "accuracy")
    if size == M:
        return (f"It takes {everyone(M)}: most smaller committees can be told from the whole on "
                f"these {judged.n:,} {noun}s.")  # fmt: skip
    ones = "single members" if size == 1 else f"committees of {size}"
    share = "all" if enough.share == 1 else formats.percent(enough.share, places=0)
    apart = round((found.mean[size - 1] - found.mean[-1]) * judged.n)
    against = "as many as" if not apart else (
        f"{formats.count(abs(apart), noun)} {'more' if apart > 0 else 'fewer'} than"
    )  # fmt: skip
    return (
        f"{size} of the {M} members would have been enough: {share} of the {ones} cannot be told "
        f"from {everyone(M)} on these {judged.n:,} {noun}s. On average they get "
        f"{formats.percent(found.mean[size - 1], judged.n)} right, {against} the whole "
        f"({formats.percent(found.mean[-1], judged.n)})."
    )


def everyone(M: int) -> str:
    """All M members."""
    return "both members" if M == 2 else f"all {M} members"


def looked_at(judged: Committee) -> str:
    """Whether these are all committees, in words."""
    if judged.exact:
        return f"All {len(judged.size):,} committees that {judged.members} members can form"
    return f"{len(judged.size):,} committees, of most sizes {DRAWN} drawn by chance"


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


def best(judged: Committee) -> pd.DataFrame:
    """The best committee of each size by NLL, the smallest first."""
    rows = [row_of_best(judged, size) for size in range(1, judged.members + 1)]
    return pd.DataFrame(
        {
            "size": [str(size) for size in range(1, judged.members + 1)],
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
