"""Sweeps: many runs that differ in a few settings, searched by Optuna for the best of them.

    from ensemble import sweeps
    sweeps.launch_sweep(SweepConfig(...))  create one and start its workers; `request_sweep_stop`, `resume_sweep`
    sweeps.read_trials(sweep)              every trial, with its run; `find_best_trial`, `find_pareto_trials`
    sweeps.enlarge_sweep(id, 12)           add twelve trials

Every trial is a run of `ensemble.runs`.
"""

from ensemble.sweeps.enlargement import enlarge_sweep
from ensemble.sweeps.settings import OBJECTIVES, SweepConfig
from ensemble.sweeps.status import SweepStatus
from ensemble.sweeps.store import (
    Sweep,
    create_sweep,
    delete_sweep,
    find_sweep,
    launch_sweep,
    list_sweeps,
    request_sweep_stop,
    resume_sweep,
)
from ensemble.sweeps.trials import Trial, find_best_trial, find_pareto_trials, read_trials

__all__ = [
    "OBJECTIVES",
    "Sweep",
    "SweepConfig",
    "SweepStatus",
    "Trial",
    "create_sweep",
    "delete_sweep",
    "enlarge_sweep",
    "find_best_trial",
    "find_pareto_trials",
    "find_sweep",
    "launch_sweep",
    "list_sweeps",
    "read_trials",
    "request_sweep_stop",
    "resume_sweep",
]
