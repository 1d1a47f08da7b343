"""A run that the examples open."""

from pathlib import Path

import numpy as np
import pytest

from ensemble.runs import Run
from ensemble.runs.parameters import load_run_network, write_parameters
from tests.pages.ensembles import trained


@pytest.fixture
def three(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Three members, two epochs, finished; what is written goes to a folder of the test's.

    Their predictions are known beforehand, their parameters after the last epoch are drawn.
    """
    monkeypatch.chdir(tmp_path)
    run = trained(name="three of them")
    network, draws = load_run_network(run), np.random.default_rng(0)
    drawn = {name: draws.normal(0, 0.1, (3, *shape.shape)).astype(np.float32) for name, shape in network.shapes.items()}
    write_parameters(run.path, 2, network.nest_arrays(drawn), best=2)
    return run
