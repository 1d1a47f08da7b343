"""Runs: their folders, the processes that train them, and what they have written so far.

    from ensemble import runs
    runs.list_runs()                    every run, the newest first; find(id) is one of them
    runs.launch(EnsembleConfig(...))    make one and start its worker; request_stop, resume
    runs.read_history(id)               what was measured as it trained
    runs.read_predictions(id, epoch)    float32 (members, examples, classes) of test_set(run)

Every worker imports this before it trains; what asks a run's members about pictures is in
`ensemble.recognition`, with all that pictures need.
"""

from ensemble.jobs.launch import worker_environment
from ensemble.jobs.queue import ahead_of
from ensemble.jobs.worker import give_way
from ensemble.runs.annotations.names import rename
from ensemble.runs.history import (
    prediction_epochs,
    read_history,
    read_predictions,
    read_validation,
)
from ensemble.runs.imported import create_imported
from ensemble.runs.members import Members, member_epochs, open_members
from ensemble.runs.status import ACTIVE, RESUMABLE, STATES, Status, who_was_set_aside
from ensemble.runs.store import (
    Run,
    create,
    delete,
    find,
    keep_warm_worker,
    launch,
    list_runs,
    request_stop,
    requeue,
    resume,
    trained_here,
    unreadable,
)
from ensemble.runs.test_set import TestSet, test_set
from ensemble.runs.training.worker import work

__all__ = [
    "ACTIVE",
    "RESUMABLE",
    "STATES",
    "Members",
    "Run",
    "Status",
    "TestSet",
    "ahead_of",
    "create",
    "create_imported",
    "delete",
    "find",
    "give_way",
    "keep_warm_worker",
    "launch",
    "list_runs",
    "member_epochs",
    "open_members",
    "prediction_epochs",
    "read_history",
    "read_predictions",
    "read_validation",
    "rename",
    "request_stop",
    "requeue",
    "resume",
    "test_set",
    "trained_here",
    "unreadable",
    "who_was_set_aside",
    "work",
    "worker_environment",
]
