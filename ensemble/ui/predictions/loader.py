"""A run's predictions, judged once for each version of their file and shared by every tab."""

import streamlit as st

from ensemble import datasets, runs
from ensemble.analysis.predictions import Predictions, judge
from ensemble.errors import RunError
from ensemble.ui.shared import loaders


def predictions(run: runs.Run, epoch: int) -> Predictions:
    """What the run's members said of the test images after `epoch`.

    Raises:
      NotPreparedError: the run's dataset is not on this machine any more.
      RunError: the predictions are not there, or cannot be read.
    """
    path = run.path / "predictions" / f"epoch-{epoch:04d}.npz"
    return _predictions(run.id, epoch, loaders.version(path), run.config.dataset)


# 10 members on 10,000 images take 9 MB, 64 members 31 MB.
@st.cache_resource(max_entries=6, show_spinner=False)
def _predictions(run_id: str, epoch: int, seen: tuple[int, int], dataset: str) -> Predictions:
    return judged(run_id, epoch, dataset)


def judged(run_id: str, epoch: int, dataset: str) -> Predictions:
    """As `predictions`, read anew and not kept: for whoever keeps only what it draws of them."""
    labels = loaders.dataset(dataset).test_labels
    try:
        return judge(runs.read_predictions(run_id, epoch), labels)
    except ValueError as error:
        title = datasets.info(dataset).title
        raise RunError(
            f"The predictions of epoch {epoch} cannot be read: the file is damaged, or made with "
            f"another {title}. Choose another epoch."
        ) from error
