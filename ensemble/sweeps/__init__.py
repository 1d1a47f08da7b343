"""Sweeps: many runs that differ in a few settings, searched by Optuna for the best of them.

from ensemble import sweeps
sweeps.launch(SweepConfig(...))     make one and start its workers; request_stop, resume
sweeps.trials_of(sweep)             every trial, with its run; best(sweep), pareto(sweep)
sweeps.enlarge(id, 12)              twelve trials more
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
