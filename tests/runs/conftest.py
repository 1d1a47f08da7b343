"""What several tests of runs begin with."""

import pytest

from ensemble import runs
from ensemble.config import EnsembleConfig
from ensemble.runs import Run
from ensemble.runs.checkpoints.manager import Checkpoints
from ensemble.runs.training.progress import Progress
from tests.runs.checkpointed import place


@pytest.fixture(scope="session")
def places() -> dict[int, Progress]:
    """The ends of two epochs."""
    return {epoch: place(epoch) for epoch in (1, 2)}


@pytest.fixture
def run(places: dict[int, Progress]) -> Run:
    """A run with the checkpoints of two epochs."""
    made = runs.create_run(EnsembleConfig(members=1))
    with Checkpoints(made.path) as checkpoints:
        for progress in places.values():
            checkpoints.save(progress)
    return made
