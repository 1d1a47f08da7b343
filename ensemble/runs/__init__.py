"""Runs: their folders, the processes that train them, and what they have written so far.

    from ensemble import runs
    runs.list_runs()                      every run, the newest first; `find_run` finds one
    runs.launch_run(EnsembleConfig(...))  create one and start its worker; `request_run_stop`, `resume_run`
    runs.read_history(id)                 what was measured as it trained
    runs.read_run_predictions(id, epoch)  float32 (members, examples, classes) of `load_test_set`

Every worker imports this before it trains; what asks a run's members about pictures is in
`ensemble.recognition`, with all that pictures need.
"""

from ensemble.jobs.launch import build_worker_environment
from ensemble.jobs.queue import list_jobs_ahead
from ensemble.jobs.worker import lower_priority
from ensemble.runs.annotations.names import rename_run
from ensemble.runs.epoch_choice import is_chosen_on_validation, select_default_epoch
from ensemble.runs.history import (
    list_prediction_epochs,
    read_history,
    read_run_predictions,
    read_thinned_history,
    read_validation_predictions,
)
from ensemble.runs.imported_run import create_imported_run
from ensemble.runs.members import Members, list_member_epochs, open_members
from ensemble.runs.status import ACTIVE, RESUMABLE, STATES, Status, describe_diverged_members
from ensemble.runs.store import (
    Run,
    create_run,
    delete_run,
    find_run,
    keep_warm_worker,
    launch_run,
    list_runs,
    list_unreadable_runs,
    request_run_stop,
    requeue_run,
    require_training_config,
    resume_run,
)
from ensemble.runs.test_set import TestSet, load_test_set
from ensemble.runs.training.worker import execute_run

# As they were called up to version 0.1.0, for programs of other people.
create, delete, find, launch, rename, resume = (create_run, delete_run, find_run, launch_run, rename_run, resume_run)
read_predictions, request_stop, test_set = read_run_predictions, request_run_stop, load_test_set

__all__ = [
    "ACTIVE",
    "RESUMABLE",
    "STATES",
    "Members",
    "Run",
    "Status",
    "TestSet",
    "build_worker_environment",
    "create",
    "create_imported_run",
    "create_run",
    "delete",
    "delete_run",
    "describe_diverged_members",
    "execute_run",
    "find",
    "find_run",
    "is_chosen_on_validation",
    "keep_warm_worker",
    "launch",
    "launch_run",
    "list_jobs_ahead",
    "list_member_epochs",
    "list_prediction_epochs",
    "list_runs",
    "list_unreadable_runs",
    "load_test_set",
    "lower_priority",
    "open_members",
    "read_history",
    "read_predictions",
    "read_run_predictions",
    "read_thinned_history",
    "read_validation_predictions",
    "rename",
    "rename_run",
    "request_run_stop",
    "request_stop",
    "requeue_run",
    "require_training_config",
    "resume",
    "resume_run",
    "select_default_epoch",
    "test_set",
]
