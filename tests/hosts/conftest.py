"""The program, started where no scheduler is."""

import sys

import pytest


@pytest.fixture
def no_cluster(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """`python -m ensemble`, in an environment that says nothing of other processes."""
    for name in ("SLURM_JOB_ID", "JAX_COORDINATOR_ADDRESS", "ENSEMBLE_NUM_PROCESSES"):
        monkeypatch.delenv(name, raising=False)
    return [sys.executable, "-m", "ensemble"]
