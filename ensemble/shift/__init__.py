"""Distribution shift: corruptions, out-of-distribution images, and the job that measures them."""

from ensemble.runs.checkpoints.folders import last_tick
from ensemble.shift.commands import queue_stress, start_stress, stop_stress, work_stress
from ensemble.shift.results import Results, Stress, read_scores, read_stress
from ensemble.shift.status import StressStatus

__all__ = [
    "Results",
    "Stress",
    "StressStatus",
    "last_tick",
    "queue_stress",
    "read_scores",
    "read_stress",
    "start_stress",
    "stop_stress",
    "work_stress",
]
