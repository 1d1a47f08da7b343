"""What cheaper members are worth: snapshots, the last epochs, averaged parameters."""

from typing import Any

import pandas as pd
import streamlit as st

from ensemble import runs
from ensemble.budget.worth import Worths, worths_of
from ensemble.errors import EnsembleError
from ensemble.ui.plan.loader import place
from ensemble.ui.shared import guard
from ensemble.wording import escaping
from ensemble.wording.verdicts import worth as words
from ensemble.wording.verdicts.plan import equivalent


def show(run: runs.Run) -> None:
    """What a run's cheaper ensembles are worth, held against its own members."""
    try:
        with st.spinner("Judging snapshots, last epochs and averages …"):
            found: Worths = _worths(place(run), run)
    except EnsembleError as error:
        guard.problem(error)
        return
    if line := words.headline(found):
        st.markdown(f"**{line}**", help=words.GLOSS)
    else:
        st.markdown("This run has kept one epoch alone: there is nothing cheaper to judge.")
    st.dataframe(
        pd.DataFrame(
            {
                "made of": [words.named(one) for one in found.rows],
                "worth": [equivalent(one.found) for one in found.rows],
                "networks asked an image": [one.asked for one in found.rows],
            }
        ),
        hide_index=True,
        key="plan_worth",
    )
    notes = (words.VARIED,) if found.varied else ()
    for note in (words.basis(found), *notes, *found.left_out, *words.offers(run.trained)):
        st.caption(escaping.markdown(note))


# A few figures each; what is kept is small, what it takes to make them is seconds.
@st.cache_resource(max_entries=32, show_spinner=False)
def _worths(place: tuple[Any, ...], _run: runs.Run) -> Worths:
    return worths_of(_run)
