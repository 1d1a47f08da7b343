"""How often members differed in runs of versions that did not write it down.

Their predictions are kept, so it is computed from them, once for each file, for as many epochs as
a curve needs.
"""

from typing import Any

import numpy as np
import streamlit as st

from ensemble import runs
from ensemble.analysis.members import disagreement
from ensemble.errors import RunError
from ensemble.ui.shared import loaders
from ensemble.ui.train import history

# Epochs that are read at most: each takes some 20 ms with ten members and 10,000 images.
_MAX_RECOMPUTED_EPOCHS = 24


def fill_missing_disagreement(run: runs.Run, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """`rows` with how often members differ, also where an earlier version left it out.

    Args:
      rows: lines of its history; they themselves stay as they are.
    """
    closed = next((row for row in rows if row.get("kind") == "epoch"), None)
    if run.config.members == 1 or closed is None or "disagreement" in closed:
        return rows
    lacking = [row["epoch"] for row in history.select_epoch_rows(rows) if "disagreement" not in row]
    places = np.unique(np.linspace(0, len(lacking) - 1, _MAX_RECOMPUTED_EPOCHS).round().astype(int))
    by_epoch = {epoch: _load_epoch_disagreement(run, epoch) for epoch in (lacking[place] for place in places)}
    return [row | by_epoch.get(row["epoch"], {}) if row.get("kind") == "epoch" else row for row in rows]


def _load_epoch_disagreement(run: runs.Run, epoch: int) -> dict[str, Any]:
    """The two fields of an epoch's line; {} where its predictions are not there or damaged."""
    file_version = loaders.get_file_version(run.path / "predictions" / f"epoch-{epoch:04d}.npz")
    try:
        return _compute_epoch_disagreement(run.id, epoch, file_version) if file_version != (0, 0) else {}
    except RunError:
        return {}


@st.cache_data(max_entries=512, show_spinner=False)
def _compute_epoch_disagreement(run_id: str, epoch: int, version: tuple[int, int]) -> dict[str, Any]:
    measures = disagreement.measure_disagreement(runs.read_run_predictions(run_id, epoch))
    return {"disagreement": measures.pairwise, "member_disagreement": measures.of_members.tolist()}
