"""Regressions among the runs: kept apart from ensembles, in one queue with them."""

import json
import os
import shutil
import subprocess
import sys

import numpy as np
import pytest

from ensemble import regression, runs
from ensemble.config import EnsembleConfig
from ensemble.errors import ConfigError, RunError, StorageError, UnknownRunError
from ensemble.jobs.queue import list_jobs_ahead
from ensemble.regression.regression_job import LbfgsConfig
from ensemble.regression.regression_samples import load_regression_samples
from ensemble.storage.folders import data_folder

SMALL = LbfgsConfig(samples=120, features=8, classes=3, iterations=3, sweep=False)


def test_a_regression_is_no_ensemble_and_an_ensemble_no_regression() -> None:
    solve, run = regression.create_regression(SMALL), runs.create_run(EnsembleConfig())
    assert [one.id for one in regression.list_regressions()] == [solve.id]
    assert [one.id for one in runs.list_runs()] == [run.id]
    assert runs.list_unreadable_runs() == {}
    assert regression.find_regression(solve.id).config == SMALL
    with pytest.raises(UnknownRunError, match="not an ensemble"):
        runs.find_run(solve.id)
    with pytest.raises(UnknownRunError, match="not a regression"):
        regression.find_regression(run.id)


def test_they_wait_for_each_other() -> None:
    solve = regression.create_regression(SMALL)
    run = runs.create_run(EnsembleConfig())
    later = regression.create_regression(SMALL)
    assert [one.id for one in runs.list_jobs_ahead(run)] == [solve.id]
    assert [one.id for one in list_jobs_ahead(later)] == [solve.id, run.id]


def test_one_that_is_at_work_is_stopped_before_it_is_deleted() -> None:
    solve = regression.create_regression(SMALL)
    with pytest.raises(RunError, match="stop it"):
        regression.delete_regression(solve.id)
    regression.stop_regression(solve.id)
    assert regression.run_regression_worker(solve.id).state == "stopped"
    assert not regression.stop_regression(solve.id), "too late is no error"
    regression.delete_regression(solve.id)
    assert regression.list_regressions() == []


@pytest.mark.long
def test_xla_begins_anew_with_any_number_of_devices_and_they_hear_each_other() -> None:
    code = """if True:
        import json
        from ensemble.regression import cpu_devices
        assert cpu_devices.prepare_solver_devices(8)
        import jax, jax.numpy as jnp
        found = []
        for devices in (8, 1, 4):
            cpu_devices.restart_cpu_devices(devices)
            found.append((jax.local_device_count(), float(jax.pmap(lambda x: jax.lax.psum(x, "d"),
                          "d")(jnp.ones(devices))[0])))
        print(json.dumps(found))
    """
    bare = {name: value for name, value in os.environ.items() if name != "JAX_NUM_CPU_DEVICES"}
    done = subprocess.run(
        [sys.executable, "-c", code], env=bare, capture_output=True, text=True, check=True, timeout=240
    )
    assert json.loads(done.stdout) == [[8, 8.0], [1, 1.0], [4, 4.0]]


@pytest.mark.long
def test_drawn_samples_are_scikit_learns_and_are_drawn_once() -> None:
    from sklearn.datasets import make_classification

    first = load_regression_samples(SMALL)
    x, labels = make_classification(120, 8, n_classes=3, n_informative=8, n_redundant=0, random_state=0)
    np.testing.assert_array_equal(first.x, x.astype(np.float32))
    np.testing.assert_array_equal(first.labels, labels)
    load_regression_samples(SMALL)
    assert len(list((data_folder() / "synthetic").glob("120-8-3-*"))) == 1


def draw_here(words: list[str], **more: object) -> None:
    """What the process that draws does, in this one, which has imported scikit-learn."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["-c", *words[3:]])
        exec(words[2], {})


def test_damaged_samples_are_drawn_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subprocess, "run", draw_here)
    right = load_regression_samples(SMALL).labels
    (folder,) = (data_folder() / "synthetic").glob("120-8-3-*")
    path = folder / "labels.npy"
    whole = path.read_bytes()
    path.write_bytes(whole[:-4] + b"\xff\xff\xff\x7f")  # a class that there is not
    with monkeypatch.context() as patch:
        patch.setattr(shutil, "rmtree", lambda *_, **__: None)  # as in a read-only folder
        with pytest.raises(StorageError, match="a label is of no class"):
            load_regression_samples(SMALL)
    np.testing.assert_array_equal(load_regression_samples(SMALL).labels, right)
    assert path.read_bytes() == whole


def test_a_datasets_pixels_are_samples_too() -> None:
    problem = load_regression_samples(LbfgsConfig(dataset="digits"))
    assert problem.x.shape == (1297, 784)
    assert problem.x.max() == 1.0
    assert problem.classes == 10


@pytest.mark.parametrize("wrong", [{"samples": 3}, {"linesearch": "exact"}, {"stepsize": -1.0}])
def test_a_setting_out_of_range_is_named_with_its_range(wrong: dict[str, object]) -> None:
    with pytest.raises(ConfigError, match="it has to be"):
        LbfgsConfig(**wrong)  # type: ignore[arg-type]
