"""Plan: how many members for how many epochs, of one of the runs that are compared."""

from collections.abc import Sequence

from ensemble import runs
from ensemble.ui.compare import controls
from ensemble.ui.plan import panel
from ensemble.ui.shared import address
from ensemble.wording.run_names import told_apart


def show(every: Sequence[runs.Run]) -> None:
    """A run to choose, and its plan."""
    names = {run.id: told_apart(run) for run in every}
    chosen = controls.one(address.RUN, "Plan from", names, every[0].id, width=420,
                          help="From the predictions that this run keeps of every "
                          "epoch.")  # fmt: skip
    run = next(one for one in every if one.id == chosen)
    panel.show(run)
