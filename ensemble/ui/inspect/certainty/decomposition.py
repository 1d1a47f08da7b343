"""What averaging saves, epoch by epoch: the ensemble's loss is the mean member's less diversity."""

from collections.abc import Sequence

import numpy as np
import streamlit as st

from ensemble import runs
from ensemble.analysis.members.diversity import Decomposition, decomposition
from ensemble.errors import RunError
from ensemble.figures.inspect.decomposition import Found, figure, table
from ensemble.ui.inspect.loader import pictured
from ensemble.ui.inspect.shown import Inspected
from ensemble.ui.shared import figure_panel, loaders
from ensemble.wording import formats
from ensemble.wording.run_names import called

EPOCHS = 24  # of more, so many are looked at: each is a file to read


def show(shown: Inspected) -> None:
    """Draw the parts of the loss over the epochs, and say what they are at the one shown."""
    found = over_epochs(shown)
    here = found[shown.epoch]
    share = here.diversity / here.mean_member_nll if here.mean_member_nll else 0.0
    title = f"NLL: mean member less diversity · {called(shown.run)}"
    figure_panel.show(
        pictured(shown, lambda palette: figure(found, shown.epoch, title, palette),
                 "decomposition", *found.items()),
        key="inspect_decomposition",
        name=f"{shown.run.id}-decomposition", title="The NLL's parts over the epochs",
        alt="NLL of the mean member and of the ensemble over the epochs; between them, diversity",
        table=lambda: table(found),
        sees=f"The ensemble's NLL of {formats.significant(here.ensemble_nll)} is the mean member's "
        f"{formats.significant(here.mean_member_nll)} less a diversity of "
        f"{formats.significant(here.diversity)}: by differing, the members save "
        f"{formats.percent(share, places=0)}.",
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


def spread(epochs: Sequence[int]) -> list[int]:
    """At most `EPOCHS` of the epochs, both ends kept."""
    places = np.linspace(0, len(epochs) - 1, min(len(epochs), EPOCHS)).round().astype(int)
    return [epochs[place] for place in places]


@st.cache_resource(max_entries=20 * EPOCHS, show_spinner=False)
def _at(run_id: str, epoch: int, seen: tuple[int, int], _run: runs.Run) -> Decomposition | None:
    labels = loaders.test_set(_run).labels
    try:
        probabilities = runs.read_predictions(run_id, epoch)
    except RunError:
        return None
    return decomposition(probabilities, labels) if probabilities.shape[1] == len(labels) else None
