"""Runs: their folders, the processes that train them, and what they have written so far.

Every worker imports this before it trains; what asks a run's members about pictures stands beside
it, in classifying.py, with all that pictures need.
"""

from ensemble.jobs.launch import worker_environment
from ensemble.jobs.queue import ahead_of
from ensemble.jobs.worker import give_way
from ensemble.runs.commands import (
    keep_warm_worker,
    launch,
    request_stop,
    requeue,
    resume,
    stop_requested,
)
from ensemble.runs.history import prediction_epochs, read_history, read_predictions
from ensemble.runs.members import Members, member_epochs, open_members
from ensemble.runs.solve_results import Trace, Traces, read_traces
from ensemble.runs.solve_status import SolveStatus
from ensemble.runs.solves import Solve, create_solve, delete_solve, find_solve, list_solves
from ensemble.runs.solving import launch_solve, stop_solve, work_solve
from ensemble.runs.status import ACTIVE, RESUMABLE, STATES, Status
from ensemble.runs.store import Run, create, delete, find, list_runs, rename, unreadable
from ensemble.runs.stress import queue_stress, start_stress, stop_stress, work_stress
from ensemble.runs.stress_results import Results, Stress, last_tick, read_scores, read_stress
from ensemble.runs.stress_status import StressStatus
from ensemble.runs.train_job import work

__all__ = [
    "ACTIVE",
    "RESUMABLE",
    "STATES",
    "Members",
    "Results",
    "Run",
    "Solve",
    "SolveStatus",
    "Status",
    "Stress",
    "StressStatus",
    "Trace",
    "Traces",
    "ahead_of",
    "create",
    "create_solve",
    "delete",
    "delete_solve",
    "find",
    "find_solve",
    "give_way",
    "keep_warm_worker",
    "last_tick",
    "launch",
    "launch_solve",
    "list_runs",
    "list_solves",
    "member_epochs",
    "open_members",
    "prediction_epochs",
    "queue_stress",
    "read_history",
    "read_predictions",
    "read_scores",
    "read_stress",
    "read_traces",
    "rename",
    "request_stop",
    "requeue",
    "resume",
    "start_stress",
    "stop_requested",
    "stop_solve",
    "stop_stress",
    "unreadable",
    "work",
    "work_solve",
    "work_stress",
    "worker_environment",
]
