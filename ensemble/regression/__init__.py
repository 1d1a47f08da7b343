"""Logistic regression by L-BFGS, with and without `pmap`: solved by a worker, read by pages."""

from ensemble.regression.results import Trace, Traces, read_traces
from ensemble.regression.settings import LbfgsConfig
from ensemble.regression.status import SolveStatus
from ensemble.regression.store import (
    Solve,
    create_solve,
    delete_solve,
    find_solve,
    follow_solve,
    launch_solve,
    list_solves,
    stop_solve,
    unreadable_solves,
)
from ensemble.regression.worker import work_solve

__all__ = [
    "LbfgsConfig",
    "Solve",
    "SolveStatus",
    "Trace",
    "Traces",
    "create_solve",
    "delete_solve",
    "find_solve",
    "follow_solve",
    "launch_solve",
    "list_solves",
    "read_traces",
    "stop_solve",
    "unreadable_solves",
    "work_solve",
]
