"""Logistic regression by L-BFGS, with and without `pmap`: solved by a worker, read by pages."""

from ensemble.regression.regression_job import (
    LbfgsConfig,
    Regression,
    RegressionStatus,
    create_regression,
    delete_regression,
    find_any_regression,
    find_regression,
    follow_regression,
    launch_regression,
    list_regressions,
    list_unreadable_regressions,
    stop_regression,
)
from ensemble.regression.solve_traces import RegressionTraces, SolveTrace, read_regression_traces
from ensemble.regression.worker import run_regression_worker

__all__ = [
    "LbfgsConfig",
    "Regression",
    "RegressionStatus",
    "RegressionTraces",
    "SolveTrace",
    "create_regression",
    "delete_regression",
    "find_any_regression",
    "find_regression",
    "follow_regression",
    "launch_regression",
    "list_regressions",
    "list_unreadable_regressions",
    "read_regression_traces",
    "run_regression_worker",
    "stop_regression",
]
