"""How many of the pictures in the list are right, or that it cannot be told without labels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import streamlit as st

from ensemble import runs
from ensemble.errors import EnsembleError
from ensemble.ui.classify.answer.reading_cache import identify_classifier
from ensemble.ui.classify.state import ReadingRow
from ensemble.wording import escaping

if TYPE_CHECKING:
    from ensemble.recognition.classifier import Classifier
    from ensemble.shift.accuracy_fit import RunAccuracyFit

_MAX_FITS = 2  # of runs and epochs: of 10,000 images with 10 classes 3 MB


def show_accuracy_estimate(classifier: Classifier, rows: Sequence[ReadingRow]) -> None:
    """The answer below the list, with what it rests on; nothing of fewer marks than it takes."""
    # Here, for the page opens without SciPy and only a long list needs it.
    from ensemble.analysis.unlabelled.accuracy_estimate import MIN_IMAGES, estimate_accuracy
    from ensemble.analysis.unlabelled.output_measures import join_outputs
    from ensemble.wording.accuracy_estimates import AccuracyStatement

    parts = [row.outputs for row in rows if row.outputs is not None]
    if sum(part.n for part in parts) < MIN_IMAGES:
        return
    try:
        fitted = _fit_classifier_accuracy(identify_classifier(classifier), classifier)
    except EnsembleError as error:
        st.caption(escaping.escape_markdown(error))
        return
    statement = AccuracyStatement(fitted, estimate_accuracy(fitted.fit, join_outputs(parts)), classifier.noun)
    st.markdown(escaping.escape_markdown(statement.sentence))
    if statement.notes:
        with st.expander("What this rests on"):
            if statement.told:
                st.dataframe(
                    statement.table,
                    hide_index=True,
                    width="content",
                    key="classify_estimate",
                    alt="The share that is right, estimated in three ways, with its interval",
                )
            for note in statement.notes:
                st.caption(escaping.escape_markdown(note))


@st.cache_resource(max_entries=_MAX_FITS, show_spinner=False)
def _fit_classifier_accuracy(who: str, _asked: Classifier) -> RunAccuracyFit:
    from ensemble.shift.accuracy_fit import fit_run_accuracy

    return fit_run_accuracy(runs.find_run(_asked.run_id), _asked.epoch)
