"""A worker of a sweep whose runs learn in no time: all else of a run is as it always is.

The run's folder, its status, its lock and its heartbeat are real; what an epoch comes to is a
function of the settings, so that every value of a trial can be reckoned again.
"""

import sys
import time
from pathlib import Path
from typing import Any

from ensemble import runs
from ensemble.config import EnsembleConfig
from ensemble.errors import RunError
from ensemble.jobs import worker
from ensemble.jobs.outcome import Outcome, StopRequest
from ensemble.jobs.status import StatusWriter
from ensemble.runs.status import Status, build_epoch_status_fields
from ensemble.storage.records.json_lines import append_line, read_lines
from ensemble.sweeps import training
from ensemble.sweeps.settings import SweepConfig
from ensemble.sweeps.worker import work_on_sweep

DIVERGES = 0.4
PAUSE = 0.0


def nll(config: EnsembleConfig, epoch: int) -> float:
    """The validation NLL after an epoch: least at a rate of 0.1 and a momentum of 0.9."""
    off = (config.learning_rate - 0.1) ** 2 + (config.momentum - 0.9) ** 2
    return off + 1 / (1 + epoch) + config.members / 100


def light_config(**changes: Any) -> SweepConfig:
    """A sweep of three epochs a trial; by default at random, four trials."""
    base = EnsembleConfig(network="logistic", members=2, epochs=3, validation=0.1)
    given = {
        "space": "learning_rate=0.01..0.3 momentum=0.8,0.9",
        "trials": 4,
        "sampler": "random",
        "base": base,
        **changes,
    }
    return SweepConfig(**given)


def train_lightly(
    run_id: str,
    report: Any = lambda status: None,
    stop: StopRequest | None = None,
    turn: bool = True,
    synchronous: bool = False,
) -> runs.Run:
    """As `runs.execute_run`."""
    run = runs.find_run(run_id)

    def begin(status: StatusWriter[Status], stop: StopRequest) -> Outcome:
        return _epochs(run, status, stop, report)

    worker.execute_job(run, begin, report, stop, turn=turn)
    return runs.find_run(run_id)


def _epochs(run: runs.Run, status: StatusWriter[Status], stop: Any, report: Any) -> Outcome:
    config = runs.require_training_config(run)
    if config.learning_rate > DIVERGES:
        return Outcome("diverged", "Member 1's loss is no longer a number.")
    done = len([one for one in read_lines(run.path / "history.jsonl") if one["kind"] == "epoch"])
    for epoch in range(done + 1, config.epochs + 1):
        time.sleep(PAUSE)
        line = epoch_line(config, epoch)
        append_line(run.path / "history.jsonl", line)
        status.update(
            state="training",
            epoch=epoch,
            seconds=float(config.members * epoch),
            **build_epoch_status_fields(status.status, line),
        )
        report(status.status)
        if epoch < config.epochs and stop():
            return Outcome("stopped", "Stopped. Resume continues from here.")
    return Outcome("finished")


def epoch_line(config: EnsembleConfig, epoch: int) -> dict[str, Any]:
    """An epoch's line of the history, as the command line and the pages read it."""
    unknown = [None] * config.members
    return {
        "kind": "epoch",
        "epoch": epoch,
        "step": epoch,
        "progress": float(epoch),
        "train_loss": unknown,
        "train_accuracy": unknown,
        "test_loss": unknown,
        "test_accuracy": [0.5] * config.members,
        "ensemble_test_accuracy": 0.5,
        "ensemble_test_nll": 1.0,
        "ensemble_validation_nll": nll(config, epoch),
        "ensemble_validation_accuracy": 1 - nll(config, epoch) / 4,
    }


def epochs_of(folder: Path) -> list[int]:
    """The epochs that a run's history has a line for, in its order."""
    return [one["epoch"] for one in read_lines(folder / "history.jsonl") if one["kind"] == "epoch"]


if __name__ == "__main__":
    PAUSE = float(sys.argv[2])
    runs.execute_run = train_lightly
    training.count_packed_lanes = lambda config: config.members
    try:
        work_on_sweep(sys.argv[1])
    except RunError as error:
        print(f"Error: {error}")
