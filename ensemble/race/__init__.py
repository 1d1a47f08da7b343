"""The race: training loops that take turns at this machine, and what each of them manages."""

from ensemble.race.commands import build_default_race, queue_race, run_race_worker, start_race, stop_race
from ensemble.race.results import Race, read_race, read_races
from ensemble.race.settings import RaceConfig
from ensemble.race.status import RaceJob, RaceStatus, read_race_job

__all__ = [
    "Race",
    "RaceConfig",
    "RaceJob",
    "RaceStatus",
    "build_default_race",
    "queue_race",
    "read_race",
    "read_race_job",
    "read_races",
    "run_race_worker",
    "start_race",
    "stop_race",
]
