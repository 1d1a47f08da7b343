"""From a click to a sweep: launched, resumed, asked to stop, enlarged."""

import time
from dataclasses import replace

from ensemble.access import Action, limits
from ensemble.errors import ConfigError, RunError
from ensemble.jobs import job
from ensemble.jobs.folders import changing
from ensemble.jobs.launch import start_worker
from ensemble.jobs.placement import Placement
from ensemble.jobs.queue import without_worker
from ensemble.jobs.status import write_status
from ensemble.sweeps.settings import SweepConfig
from ensemble.sweeps.store import Sweep, create, find, write_config


def launch(config: SweepConfig, placement: Placement | None = None) -> Sweep:
    """Make a sweep and start its workers, which wait their turn.

    Args:
      config: its settings.
      placement: where its workers are to be; by default on this machine.

    Raises:
      RunError: it cannot be written, or the database not be reached.
    """
    sweep = create(config, placement)
    start_worker(sweep)
    return sweep


def resume(sweep_id: str) -> Sweep:
    """Start the workers of a stopped or failed sweep again: trials go on where they were."""
    sweep = requeue(sweep_id)
    start_worker(sweep)
    return sweep


def request_stop(sweep_id: str) -> bool:
    """Ask all its workers to stop, within about a second; whether there was one to ask."""
    return job.request_stop(find(sweep_id))


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
        write_config(sweep.path, replace(config, trials=config.trials + trials))
    return find(sweep_id)


def requeue(sweep_id: str) -> Sweep:
    """Put a sweep that can go on back into state `queued`.

    Raises:
      RunError: it is active, or has all its trials; or its folder cannot be written.
    """
    sweep = find(sweep_id)
    cannot = f"The sweep “{sweep_id}” cannot be resumed: "
    if sweep.active:
        raise RunError(f"{cannot}it is {sweep.state} already.")
    if sweep.status.state == "finished" and sweep.status.done >= sweep.config.wanted:
        raise RunError(f"{cannot}all its trials have ended. Give it more with --enlarge.")
    busy = f"{cannot}a worker is at it still. Stop it first."
    resuming = changing(sweep.path, action=Action.RESUME)
    with limits.launching(), resuming, without_worker(sweep.path, busy):
        if (sweep := find(sweep_id)).awaited:
            raise RunError(f"{cannot}it is {sweep.status.state} already.")
        job.forget_stop(sweep.path)
        now = time.time()
        status = replace(sweep.status, state="queued", queued=now, updated=now, pid=None,
                         message="", seconds_left=None, trials=sweep.config.wanted)  # fmt: skip
        write_status(sweep.path, status)
    return find(sweep_id)
