"""A sweep is given more trials than it was launched with."""

from dataclasses import replace

from ensemble.errors import ConfigError, RunError
from ensemble.jobs.folders import change_job_files, write_stored_config
from ensemble.sweeps.store import Sweep, find_sweep, resume_sweep


def enlarge_sweep(sweep_id: str, trials: int) -> Sweep:
    """Give a sweep so many trials more; one that has finished begins again.

    Raises:
      ConfigError: less than one more, or too many.
      RunError: a grid, which has all its trials; or its folder cannot be written.
    """
    if add_trials(sweep_id, trials).active:
        return find_sweep(sweep_id)
    return resume_sweep(sweep_id)


def add_trials(sweep_id: str, trials: int) -> Sweep:
    """As `enlarge_sweep`, but no worker is started."""
    from ensemble.sweeps.study import SweepStudy

    sweep = find_sweep(sweep_id)
    if trials < 1:
        raise ConfigError("A sweep is enlarged by at least one trial: give the number of trials to add.")
    if sweep.config.sampler == "grid":
        raise RunError(
            f"The sweep “{sweep_id}” is a grid with one trial for each combination: launch another with more values."
        )
    # Two may enlarge at once, and workers read how many there are to be.
    with SweepStudy(sweep.id, sweep.path, sweep.config).lock_trials(), change_job_files(sweep.path):
        config = find_sweep(sweep_id).config
        config = replace(config, trials=config.trials + trials)
        write_stored_config(sweep.path, sweep.kind, config.as_dict())
    return find_sweep(sweep_id)
