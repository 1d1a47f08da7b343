"""Predicted numbers as the page reads them: each file once for each version of it.

What is returned is shared between tabs, with all that is computed of it: treat it as read-only.
"""

import streamlit as st

from ensemble.runs.epoch_files import locate_epoch_file
from ensemble.runs.numeric.numeric_predictions import TARGETS_FILE, select_numeric_epoch
from ensemble.runs.store import Run
from ensemble.ui.shared import loaders
from ensemble.views.numeric.evaluated_numbers import EvaluatedNumbers, evaluate_numeric_run


def load_evaluated_numbers(run: Run, epoch: int | None) -> EvaluatedNumbers:
    """A run's epoch; by default the one that is shown unless another is named.

    Raises:
      RunError: it has no predictions, none of that epoch, or they cannot be read.
    """
    epoch = select_numeric_epoch(run, epoch)
    versions = tuple(
        loaders.get_file_version(path)
        for path in (
            locate_epoch_file(run.path, "predictions", epoch),
            run.path / TARGETS_FILE,
            run.path / "status.json",
        )
    )
    return _read_evaluated_numbers(str(run.path), epoch, versions, run.name, run)


# Ten members on 10,000 examples take 2 MB.
@st.cache_resource(max_entries=8, show_spinner="Computing …")
def _read_evaluated_numbers(
    folder: str, epoch: int, versions: tuple[tuple[int, int], ...], name: str, _run: Run
) -> EvaluatedNumbers:
    return evaluate_numeric_run(_run, epoch)
