"""A trial's time beyond the training of its run, in a process that is warm."""

import statistics

from ensemble import runs, sweeps
from ensemble.config import EnsembleConfig
from ensemble.sweeps.worker import work_on_sweep


def overhead(network: str, trials: int) -> dict[str, float]:
    """Seconds of the trials after the first, from asked for to told, less training and testing.

    `to_first_step` is the median up to where training begins, compiling included.
    """
    base = EnsembleConfig(network=network, members=2, epochs=2, validation=0.1)
    config = sweeps.SweepConfig(space="learning_rate=0.01..0.3:log", trials=trials + 1, sampler="random", base=base)
    warm = sweeps.read_trials(work_on_sweep(sweeps.create_sweep(config).id))[1:]
    beyond, before = [], []
    for trial in warm:
        status, began = runs.find_run(trial.run_id).status, trial.started_at or 0.0
        beyond.append((trial.ended_at or 0.0) - began - status.seconds)
        before.append((status.started or 0.0) - began + (status.compile_seconds or 0.0))
    return {
        "median": round(statistics.median(beyond), 3),
        "most": round(max(beyond), 3),
        "to_first_step": round(statistics.median(before), 3),
    }
