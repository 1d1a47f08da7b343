"""A sweep is given more trials than it was launched with."""

from dataclasses import replace

from ensemble.errors import ConfigError, RunError
from ensemble.jobs.folders import changing, write_config
from ensemble.sweeps.store import Sweep, find, resume


def enlarge(sweep_id: str, trials: int) -> Sweep:
    """Give a sweep so many trials more; one that has finished begins again.

    Raises:
      ConfigError: less than one more, or too many.
      RunError: a grid, which has all its trials; or its folder cannot be written.
    """
    if enlarged(sweep_id, trials).active:
        return find(sweep_id)
    return resume(sweep_id)


def enlarged(sweep_id: str, trials: int) -> Sweep:
    """As `enlarge`, but no worker is started."""
    from ensemble.sweeps.archive import Archive

    sweep = find(sweep_id)
    if trials < 1:
        raise ConfigError("A sweep is enlarged by at least one trial: say how many more.")
    if sweep.config.sampler == "grid":
        raise RunError(
            f"The sweep “{sweep_id}” is a grid, which has a trial for each combination: launch "
            "another with more values."
        )
    # Two may enlarge at once, and workers read how many there are to be.
    with Archive(sweep.id, sweep.path, sweep.config).alone(), changing(sweep.path):
        config = find(sweep_id).config
        config = replace(config, trials=config.trials + trials)
        write_config(sweep.path, sweep.kind, config.as_dict())
    return find(sweep_id)
