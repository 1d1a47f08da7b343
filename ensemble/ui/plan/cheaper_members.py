"""What cheaper members are worth: snapshots, the last epochs, averaged parameters."""

from typing import Any

import pandas as pd
import streamlit as st

from ensemble import runs
from ensemble.budget.worth import CheapEnsembleWorths, measure_cheap_ensembles
from ensemble.errors import EnsembleError
from ensemble.ui.plan.loader import build_plan_cache_key
from ensemble.ui.shared import guard
from ensemble.wording import escaping
from ensemble.wording.verdicts import cheaper_ensembles as words
from ensemble.wording.verdicts.plan import format_member_equivalent


def show_cheaper_members(run: runs.Run) -> None:
    try:
        with st.spinner("Judging snapshots, last epochs and averages …"):
            cheap_ensemble_worths: CheapEnsembleWorths = _compute_member_worths(build_plan_cache_key(run), run)
    except EnsembleError as error:
        guard.show_error_message(error)
        return
    if line := words.describe_best_cheaper_ensemble(cheap_ensemble_worths):
        st.markdown(f"**{line}**", help=words.EQUIVALENTS_GLOSS)
    else:
        st.markdown("This run kept only one epoch: there is nothing cheaper to judge.")
    st.dataframe(
        pd.DataFrame(
            {
                "made of": [words.format_cheaper_ensemble(row) for row in cheap_ensemble_worths.rows],
                "worth": [format_member_equivalent(row.equivalent) for row in cheap_ensemble_worths.rows],
                "networks run per image": [row.networks for row in cheap_ensemble_worths.rows],
            }
        ),
        hide_index=True,
        key="plan_worth",
    )
    notes = (words.MIXTURE_NOTE,) if cheap_ensemble_worths.varied else ()
    for note in (
        words.describe_worth_basis(cheap_ensemble_worths),
        *notes,
        *cheap_ensemble_worths.left_out,
        *words.list_cheaper_settings(run.training_config),
    ):
        st.caption(escaping.escape_markdown(note))


# A few figures each; what is kept is small, what it takes to make them is seconds.
@st.cache_resource(max_entries=32, show_spinner=False)
def _compute_member_worths(place: tuple[Any, ...], _run: runs.Run) -> CheapEnsembleWorths:
    return measure_cheap_ensembles(_run)
