"""Which epoch of a run is meant where none is named: one rule for screens, commands and files.

Of a run that holds validation images out it is the epoch with the ensemble's lowest NLL on them;
of any other the last one: never the best on the test images.
"""

from collections.abc import Sequence

from ensemble.runs.store import Run

CHOSEN_ON_VALIDATION, CHOSEN_LAST = "validation", "last"


def is_chosen_on_validation(run: Run, epoch: int) -> bool:
    """Whether it is the epoch with the ensemble's lowest NLL on the run's validation images."""
    return run.status.best_on == "validation" and run.status.best_epoch == epoch


def select_default_epoch(run: Run, kept: Sequence[int]) -> int:
    """The epoch that is shown, compared, exported and asked unless another is named.

    Args:
      run: the run.
      kept: the epochs to choose among, from 1, rising; at least one.
    """
    return next((epoch for epoch in kept if is_chosen_on_validation(run, epoch)), kept[-1])
