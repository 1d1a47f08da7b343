"""Sweeps: many runs that differ in a few settings, searched by Optuna for the best of them.

from ensemble import sweeps
sweeps.launch(SweepConfig(...))     make one and start its workers; request_stop, resume
sweeps.trials_of(sweep)             every trial, with its run; best(sweep), pareto(sweep)
sweeps.enlarge(id, 12)              twelve trials more
"""

from ensemble.sweeps.enlarging import enlarge
from ensemble.sweeps.settings import OBJECTIVES, SweepConfig
from ensemble.sweeps.status import SweepStatus
from ensemble.sweeps.store import (
    Sweep,
    create,
    delete,
    find,
    launch,
    list_sweeps,
    request_stop,
    resume,
    unreadable_sweeps,
)
from ensemble.sweeps.trials import Trial, best, pareto, trials_of

__all__ = [
    "OBJECTIVES",
    "Sweep",
    "SweepConfig",
    "SweepStatus",
    "Trial",
    "best",
    "create",
    "delete",
    "enlarge",
    "find",
    "launch",
    "list_sweeps",
    "pareto",
    "request_stop",
    "resume",
    "trials_of",
    "unreadable_sweeps",
]
