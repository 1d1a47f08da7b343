"""An environment in which no scheduler is."""

import pytest


@pytest.fixture
def no_cluster(monkeypatch: pytest.MonkeyPatch) -> None:
    """It says nothing of other processes."""
    for name in ("SLURM_JOB_ID", "JAX_COORDINATOR_ADDRESS", "ENSEMBLE_NUM_PROCESSES"):
        monkeypatch.delenv(name, raising=False)
