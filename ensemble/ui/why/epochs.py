"""What the members said of one image after each epoch: read once and kept, small."""

from typing import Any

import streamlit as st

from ensemble import runs
from ensemble.analysis.quality.averaging import Floats
from ensemble.errors import RunError
from ensemble.figures.inspect import along
from ensemble.figures.inspect.along import Along
from ensemble.figures.inspect.decomposition import spread
from ensemble.ui.shared import loaders
from ensemble.ui.train.example.recording import read_predictions
from ensemble.ui.why.opened import Opened


def over(opened: Opened) -> Along:
    """The image after each epoch; of many evenly spread ones, damaged ones left out."""
    shown, number = opened.shown, opened.number
    rows = {}
    for epoch in sorted({*spread(shown.epochs), shown.epoch}):
        seen = loaders.version(shown.run.path / "predictions" / f"epoch-{epoch:04d}.npz")
        row = _row((shown.run.id, epoch, number, seen), shown.run)
        if row is not None:
            rows[epoch] = row
    rows.setdefault(shown.epoch, shown.predictions.probabilities[:, number])
    return along.over_epochs(dict(sorted(rows.items())), int(shown.predictions.labels[number]))


# Some kilobytes each.
@st.cache_resource(max_entries=2_000, show_spinner=False)
def _row(place: tuple[Any, ...], _run: runs.Run) -> Floats | None:
    _, epoch, number, _ = place
    try:
        probabilities = read_predictions(_run, epoch)
    except RunError:
        return None
    row: Floats | None = (
        probabilities[:, number].copy() if number < probabilities.shape[1] else None
    )
    return row
