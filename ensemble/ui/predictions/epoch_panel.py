"""Which epoch's predictions a screen shows: judged and ready, or why there are none yet."""

from dataclasses import dataclass

from ensemble import runs
from ensemble.analysis.predictions import Predictions
from ensemble.errors import NotPreparedError, RunError
from ensemble.ui.predictions import address, controls, fitting, loader, waiting
from ensemble.ui.shared import guard


@dataclass(frozen=True, eq=False)
class Chosen:
    """An epoch of a run: its number, all that there are, and what the members said."""

    epoch: int
    epochs: list[int]
    made: Predictions


def choose(run: runs.Run, awaited: str) -> Chosen | None:
    """The epoch that the address names, else the last; None where a sentence says why.

    Args:
      run: the run.
      awaited: what will be here: "The test images stand".
    """
    waiting.new_run(run)
    if not (epochs := runs.prediction_epochs(run.id)):
        waiting.no_epoch(run, awaited)
        return None
    wanted = address.read().epoch
    epoch = waiting.epoch_to_show(run, epochs, wanted)
    if wanted not in (None, epoch):
        waiting.missing_epoch(wanted, epoch)
    try:
        made = loader.predictions(run, epoch)
        if run.config.validation and (lost := fitting.problem(run, epoch)):
            guard.problem(lost)
        return Chosen(epoch, epochs, made)
    except NotPreparedError as error:
        waiting.not_prepared(run, error)
    except RunError as error:
        guard.problem(error)
        controls.epoch(epochs, epoch, run)
    return None


def watch(run: runs.Run, chosen: Chosen) -> None:
    """Says when a later epoch is in, where none was chosen by hand."""
    if address.read().epoch is None:
        waiting.watch(run, chosen.epochs[-1], chosen.epoch)
