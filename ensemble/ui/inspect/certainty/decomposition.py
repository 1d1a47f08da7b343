"""What averaging saves, epoch by epoch: the ensemble's loss is the mean member's less diversity."""

import streamlit as st

from ensemble import runs
from ensemble.analysis.members.diversity import Decomposition, decomposition
from ensemble.errors import RunError
from ensemble.figures.inspect.decomposition import EPOCHS, Found, figure, sees, spread, table
from ensemble.ui.inspect.loader import pictured
from ensemble.ui.inspect.shown import Inspected
from ensemble.ui.shared import figure_panel, loaders
from ensemble.ui.train.example.recording import ID, read_predictions, test_set
from ensemble.wording.run_names import called


def show(shown: Inspected) -> None:
    """Draw the parts of the loss over the epochs, and say what they are at the one shown."""
    found = over_epochs(shown)
    here = found[shown.epoch]
    title = f"NLL: mean member less diversity · {called(shown.run)}"
    figure_panel.show(
        pictured(shown, lambda palette: figure(found, shown.epoch, title, palette),
                 "decomposition", *found.items()),
        key="inspect_decomposition",
        of=shown.run, name=f"{shown.run.id}-decomposition", title="The NLL's parts over the epochs",
        alt="NLL of the mean member and of the ensemble over the epochs; between them, diversity",
        table=lambda: table(found),
        sees=sees(here),
    )  # fmt: skip


def over_epochs(shown: Inspected) -> Found:
    """The parts at the shown epoch and at others, evenly spread; damaged ones are left out."""
    found: Found = {}
    for epoch in sorted({*spread(shown.epochs), shown.epoch}):
        path = shown.run.path / "predictions" / f"epoch-{epoch:04d}.npz"
        at = _at(shown.run.id, epoch, loaders.version(path), shown.run)
        if at:
            found[epoch] = at
    return found


@st.cache_resource(max_entries=20 * EPOCHS, show_spinner=False)
def _at(run_id: str, epoch: int, seen: tuple[int, int], _run: runs.Run) -> Decomposition | None:
    labels = (test_set() if run_id == ID else loaders.test_set(_run)).labels
    try:
        probabilities = read_predictions(_run, epoch)
    except RunError:
        return None
    return decomposition(probabilities, labels) if probabilities.shape[1] == len(labels) else None
