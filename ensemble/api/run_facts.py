"""What a notebook shows of a run as the last line of a cell, and the run as one HTML file."""

from pathlib import Path

from ensemble import runs
from ensemble.api.notebook import Facts
from ensemble.config import REGRESSION
from ensemble.errors import EnsembleError
from ensemble.runs.epoch_choice import read_reported_metrics
from ensemble.wording import formats
from ensemble.wording.run_names import format_run_name


def collect_run_facts(run_id: str) -> tuple[str, Facts]:
    """What it is called, and how it stands now."""
    try:
        run = runs.find_run(run_id)
    except EnsembleError as error:
        return run_id, [("state", str(error))]
    facts = [("id", run.id), ("state", run.state), ("epoch", f"{run.status.epoch} of {run.config.epochs}")]
    if run.task == REGRESSION:
        rmse = formats.format_significant(run.status.ensemble_test_rmse)
        facts += [("test RMSE", f"{rmse} {run.unit}".strip())] if run.status.epoch else []
    elif (share := (reported := read_reported_metrics(run)).accuracy) is not None:
        n = run.data.test_size
        right = f"{formats.format_percent(share, n)} {formats.format_wilson_interval(share, n)}"
        at = "" if reported.epoch == run.status.epoch else f" (epoch {reported.epoch})"
        facts.append((f"test accuracy{at}", right))
    if run.message:
        facts.append(("message", run.message))
    return format_run_name(run), facts


def write_run_report(
    run_id: str, path: Path, with_members: bool, all_epochs: bool, replace: bool, weights: str
) -> Path:
    """Write the run's report and say where it is; see `Run.save_report`."""
    from ensemble.report import write_report  # here: pictures take a while to import

    done = write_report(
        [run_id], path, with_members=with_members, all_epochs=all_epochs, weights=weights, replace=replace
    )
    return done.path
