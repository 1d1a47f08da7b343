"""Distribution shift: corruptions, out-of-distribution images, and the job that measures them."""

from ensemble.runs.checkpoints.folders import find_last_tick
from ensemble.shift.results import StressResults, count_measured_images, read_ood_scores
from ensemble.shift.stress_job import (
    StressState,
    StressStatus,
    queue_stress,
    read_stress,
    start_stress,
    stop_stress,
    work_stress,
)

__all__ = [
    "StressResults",
    "StressState",
    "StressStatus",
    "count_measured_images",
    "find_last_tick",
    "queue_stress",
    "read_ood_scores",
    "read_stress",
    "start_stress",
    "stop_stress",
    "work_stress",
]
