"""Runs: their folders, the processes that train them, and what they have written so far."""

from ensemble.runs.history import prediction_epochs, read_history, read_predictions
from ensemble.runs.launching import (
    keep_spare,
    launch,
    request_stop,
    requeue,
    resume,
    stop_requested,
    worker_environment,
)
from ensemble.runs.queue import ahead_of
from ensemble.runs.status import ACTIVE, RESUMABLE, STATES, Status
from ensemble.runs.store import Run, create, delete, find, list_runs, rename, unreadable
from ensemble.runs.worker import work

__all__ = [
    "ACTIVE",
    "RESUMABLE",
    "STATES",
    "Run",
    "Status",
    "ahead_of",
    "create",
    "delete",
    "find",
    "keep_spare",
    "launch",
    "list_runs",
    "prediction_epochs",
    "read_history",
    "read_predictions",
    "rename",
    "request_stop",
    "requeue",
    "resume",
    "stop_requested",
    "unreadable",
    "work",
    "worker_environment",
]
