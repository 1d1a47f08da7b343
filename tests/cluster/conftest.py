"""A real Slurm for the tests of this folder, where one can be had; they say why where not."""

from collections.abc import Iterator

import pytest

from ensemble.cluster import slurm_commands
from tests.cluster import mini
from tests.cluster.mini import MiniSlurm


@pytest.fixture(scope="session")
def cluster() -> Iterator[MiniSlurm]:
    """One for all tests."""
    if why := mini.missing():
        pytest.skip(f"No Slurm: {why}.")
    with MiniSlurm(mini.new_folder()).running() as made:
        yield made


@pytest.fixture
def slurm(cluster: MiniSlurm, monkeypatch: pytest.MonkeyPatch) -> Iterator[MiniSlurm]:
    """It, with nothing in its queue, found by this process and those that it starts."""
    monkeypatch.setenv("SLURM_CONF", str(cluster.conf))
    # Tests look at what changes within a moment.
    monkeypatch.setattr(slurm_commands, "ANSWER_CACHE_SECONDS", 0.0)
    monkeypatch.setattr(slurm_commands, "REFUSAL_CACHE_SECONDS", 0.0)
    yield cluster
    cluster.run("scancel", "--user=root")
    cluster.wait(lambda: not cluster.run("squeue", "-h"))
