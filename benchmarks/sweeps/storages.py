"""Eight processes share the trials of one sweep, in each storage."""

import os
from collections.abc import Iterator

from benchmarks.sweeps.postgres import address
from ensemble import sweeps
from ensemble.sweeps.settings import STORAGE_VARIABLE
from tests.services.test_storages import WORKERS, a_worker
from tests.sweeps.light import light_config

TRIALS = 80


def seconds_a_trial() -> dict[str, float]:
    """Seconds a trial that learns in no time, from the first begun to the last that ended."""
    return dict(_measured())


def _measured() -> Iterator[tuple[str, float]]:
    with address() as postgres:
        for name, storage in {"sqlite": "", "journal": "journal", "postgresql": postgres}.items():
            if storage is not None:
                os.environ[STORAGE_VARIABLE] = storage
                yield name, round(_one(), 4)
    os.environ.pop(STORAGE_VARIABLE, None)


def _one() -> float:
    sweep = sweeps.create_sweep(light_config(trials=TRIALS))
    workers = [a_worker(sweep, pause=0.0) for _ in range(WORKERS)]
    for worker in workers:
        worker.wait()
    trials = sweeps.read_trials(sweep)
    assert [trial.state for trial in trials] == ["complete"] * TRIALS
    began, ended = (min(trial.started_at or 0 for trial in trials), max(trial.ended_at or 0 for trial in trials))
    return (ended - began) / TRIALS
