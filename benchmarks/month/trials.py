"""A sweep with all its trials, asked for and told of as its worker does, and trained by nobody."""

import os
import shutil
from dataclasses import replace
from typing import Any

SPACE = "learning_rate=0.01..0.5:log momentum=0.5..0.95"
BEST_RATE, BEST_MOMENTUM = 0.1, 0.9


def write_sweep(source: str, count: int) -> str:
    """A finished sweep of so many trials; its id.

    Args:
      source: a finished run that holds images out: each trial's run has its files, with a
        validation NLL that depends on the trial's settings.
      count: of trials.
    """
    from ensemble import runs, sweeps
    from ensemble.jobs.status import write_status
    from ensemble.sweeps.claims import TrialClaim, claim_trial, record_trial_result
    from ensemble.sweeps.settings import SweepConfig
    from ensemble.sweeps.study import SweepStudy

    run = runs.find_run(source)
    base = runs.require_training_config(run)
    config = SweepConfig(base=base, space=SPACE, trials=count, sampler="random")
    sweep = sweeps.create_sweep(config)
    archive = SweepStudy(sweep.id, sweep.path, sweep.config)
    lines = runs.read_history(run.id)
    while isinstance(claim := claim_trial(sweep, archive), TrialClaim):
        trial_run = runs.find_run(claim.run_id)
        trained = runs.require_training_config(trial_run)
        write_trial_files(run, trial_run, lines, rate_settings(trained))
        with archive.lock_trials():
            record_trial_result(sweep, archive, claim.trial, runs.find_run(claim.run_id))
    write_status(sweep.path, replace(sweep.status, state="finished", done=count, trials=count))
    return sweep.id


def rate_settings(config: Any) -> float:
    """By how much settings multiply the NLL: 1 for the best."""
    off = (config.learning_rate / BEST_RATE - 1) ** 2 + (config.momentum - BEST_MOMENTUM) ** 2
    return float(1 + off / 10)


def write_trial_files(source: Any, run: Any, lines: list[dict[str, Any]], factor: float) -> None:
    """What a trial's run has once it has finished.

    Args:
      source: the run whose predictions and members it has.
      run: of the trial.
      lines: the history of the source.
      factor: what its NLL is multiplied by.
    """
    from ensemble.jobs.status import write_status
    from ensemble.storage.records.json_lines import append_line

    for name in ("predictions", "validation", "parameters"):
        if not (source.path / name).is_dir():
            continue
        shutil.copytree(source.path / name, run.path / name, copy_function=os.link)
    for line in lines:
        changed = {
            name: value * factor
            for name, value in line.items()
            if name in ("ensemble_validation_nll", "ensemble_test_nll")
        }
        append_line(run.path / "history.jsonl", {**line, **changed})
    moments = {name: getattr(run.status, name) for name in ("created", "queued", "updated")}
    status = replace(source.status, **moments, started=run.status.created)
    nll = source.status.best_ensemble_validation_nll * factor
    write_status(run.path, replace(status, best_ensemble_validation_nll=nll))
