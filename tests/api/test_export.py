"""A run in other programs' forms, from Python: what is wrong is raised as what it is."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import ensemble
from ensemble import runs
from ensemble.errors import ConfigError, PredictionsError, RunError
from ensemble.storage.folders import runs_folder
from tests.conftest import REPO
from tests.export.drawn import create_drawn_run

UNTOUCHED = """
import sys
import ensemble
exported = ensemble.open_run(sys.argv[1]).export("weights.npz")
assert "jax" not in sys.modules
print(exported.path, exported.figures["accuracy"])
"""


@pytest.mark.long
def test_an_export_leaves_jax_here_as_it_is(tmp_path: Path) -> None:
    run = create_drawn_run("logistic")
    done = subprocess.run(
        [sys.executable, "-c", UNTOUCHED, run.id],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(REPO), "ENSEMBLE_RUNS": str(runs_folder())},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    path, accuracy = done.stdout.split()
    assert path == "weights.npz"
    recorded, labels = runs.read_run_predictions(run.id, 2), runs.load_test_set(run).labels
    right = recorded.mean(axis=0).argmax(axis=1) == labels
    assert float(accuracy) == pytest.approx(right.mean())
    with np.load(tmp_path / path) as file:
        assert file["members/1/params/Dense_0/kernel"].shape == (784, 10)


def test_what_is_wrong_is_raised_here(tmp_path: Path) -> None:
    run = ensemble.open_run(create_drawn_run("logistic").id)
    with pytest.raises(RunError, match="has no members of epoch 7"):
        run.export(tmp_path / "a.npz", epoch=7)


@pytest.mark.long
def test_what_was_asked_for_is_in_the_file_and_no_other_file_is_lost(tmp_path: Path) -> None:
    run = ensemble.open_run(create_drawn_run("logistic").id)
    with pytest.raises(ConfigError, match="format is 'x': it has to be one of safetensors, npz"):
        run.export(tmp_path / "a", format="x")
    (tmp_path / "there.npz").write_bytes(b"mine")
    with pytest.raises(PredictionsError, match="already exists"):
        run.export(tmp_path / "there.npz")
    assert (tmp_path / "there.npz").read_bytes() == b"mine"
    exported = run.export(tmp_path / "a.stablehlo", "stablehlo", epoch=2, temperature=2)
    assert (exported.format, exported.epoch, exported.temperature) == ("stablehlo", 2, 2.0)
    assert exported.figures == pytest.approx(exported.recorded, abs=1e-5)
    assert exported.nbytes == (tmp_path / "a.stablehlo").stat().st_size
