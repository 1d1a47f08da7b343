"""Finding runs: one by its id or its name, or all there are."""

from ensemble import runs
from ensemble.api.numeric_predictions import NumericJudgement
from ensemble.api.regression_run import RegressionRun
from ensemble.api.run import Run
from ensemble.config import REGRESSION
from ensemble.errors import UnknownRunError
from ensemble.runs.store import explain_wrong_task
from ensemble.storage.folders import runs_folder
from ensemble.wording.run_names import format_run_name


def open_run(id_or_name: str) -> Run | RegressionRun:
    """The run of this id, or else the one of this name: a `Run`, or a `RegressionRun` that predicts numbers.

    Examples:
      >>> import ensemble
      >>> ensemble.open_run("three of them").state
      'finished'
      >>> ensemble.open_run("none of that name")
      Traceback (most recent call last):
      ...
      ensemble.errors.UnknownRunError: There is no run “none of that name” in ...

    Raises:
      UnknownRunError: there is none, or several of that name: the message says which.
      RunError: its files cannot be read.
    """
    try:
        return open_stored_run(runs.find_run(id_or_name))
    except UnknownRunError:
        wanted = " ".join(id_or_name.split())
    matches = [run for run in runs.list_runs() if wanted in (run.name, format_run_name(run))]
    if len(matches) == 1:
        return open_stored_run(matches[0])
    if matches:
        ids = ", ".join(run.id for run in matches[:8])
        raise UnknownRunError(f"{len(matches):,} runs are called “{wanted}”: open one by id: {ids}.")
    raise UnknownRunError(
        f"There is no run “{wanted:.40}” in {runs_folder()}: ensemble.list_runs() lists all "
        "runs; ENSEMBLE_RUNS sets the folder."
    )


def open_numbers(id_or_name: str, epoch: int | None = None) -> NumericJudgement:
    """Judge a run that predicts numbers: `open_run(id_or_name).judge(epoch)`.

    Args:
      id_or_name: of the run.
      epoch: after which epoch; None is the one chosen on validation examples, else the last.

    Raises:
      UnknownRunError: there is none, or several of that name, or it does not predict numbers.
      RunError: it has no predictions, or they cannot be read.
    """
    run = open_run(id_or_name)
    if not isinstance(run, RegressionRun):
        raise UnknownRunError(explain_wrong_task(run.stored, REGRESSION))
    return run.judge(epoch)


def list_runs() -> list[Run | RegressionRun]:
    """Every run that can be read, the newest first.

    Examples:
      >>> import ensemble
      >>> [run.name for run in ensemble.list_runs()]
      ['three of them']
    """
    return [open_stored_run(run) for run in runs.list_runs()]


def open_stored_run(run: runs.Run) -> Run | RegressionRun:
    """Open a run that was read already."""
    return RegressionRun(run.id) if run.task == REGRESSION else Run(run.id)
