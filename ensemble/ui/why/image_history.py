"""What the members said of one image after each epoch: read once and kept, small."""

from typing import Any

import streamlit as st

from ensemble import runs
from ensemble.analysis.quality.averaging import Floats
from ensemble.errors import RunError
from ensemble.ui.shared import loaders
from ensemble.ui.train.example.recording import load_member_probabilities
from ensemble.ui.why.selected_image import SelectedImage
from ensemble.views import probability_path
from ensemble.views.evaluated_epoch import select_spread_epochs
from ensemble.views.probability_path import ProbabilityPath


def load_image_history(selected: SelectedImage) -> ProbabilityPath:
    """The image after each epoch; of many evenly spread ones, damaged ones left out."""
    shared_epoch, number = selected.shared_epoch, selected.number
    rows = {}
    for epoch in sorted({*select_spread_epochs(shared_epoch.epochs), shared_epoch.epoch}):
        file_version = loaders.get_file_version(shared_epoch.run.path / "predictions" / f"epoch-{epoch:04d}.npz")
        row = _load_image_probabilities((shared_epoch.run.id, epoch, number, file_version), shared_epoch.run)
        if row is not None:
            rows[epoch] = row
    rows.setdefault(shared_epoch.epoch, shared_epoch.predictions.probabilities[:, number])
    return probability_path.trace_over_epochs(dict(sorted(rows.items())), int(shared_epoch.predictions.labels[number]))


# Some kilobytes each.
@st.cache_resource(max_entries=2_000, show_spinner=False)
def _load_image_probabilities(place: tuple[Any, ...], _run: runs.Run) -> Floats | None:
    _, epoch, number, _ = place
    try:
        probabilities = load_member_probabilities(_run, epoch)
    except RunError:
        return None
    row: Floats | None = probabilities[:, number].copy() if number < probabilities.shape[1] else None
    return row
