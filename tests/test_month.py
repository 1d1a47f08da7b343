"""A month of `python -m benchmarks.month` is written as the program writes runs; it is a small one.

Opening it in a browser takes minutes: the benchmark does that.
"""

import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from benchmarks.month import __main__ as month
from benchmarks.month import filling
from benchmarks.month.recordings import Recordings, add_own_dataset
from ensemble import datasets, regression, runs, sweeps
from ensemble.analysis.numeric.point_ensemble import PointEnsemble
from ensemble.jobs.status import write_status
from ensemble.regression.regression_job import LbfgsConfig
from ensemble.runs.numeric.imported_numeric_run import create_imported_numeric_run
from ensemble.storage.records.json_lines import append_line
from ensemble.sweeps.trials import find_best_trial, read_trials
from tests.pages.ensembles import trained
from tests.sweeps.light import epoch_line

SIZE = filling.MonthSize(runs=100, trials=3, reports=0, datasets=2)


@pytest.fixture
def recordings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Recordings:
    """Runs as the benchmark trains them, written instead; in folders of their own."""
    for name in ("runs", "data"):
        (tmp_path / name).mkdir()
        monkeypatch.setenv(f"ENSEMBLE_{name.upper()}", str(tmp_path / name))
    add_own_dataset(0)
    chosen = trained(members=2, epochs=2, validation=0.1, network="logistic")
    nll = {"best_on": "validation", "best_epoch": 2, "best_ensemble_validation_nll": 0.5}
    write_status(chosen.path, replace(chosen.status, **nll))
    append_line(chosen.path / "history.jsonl", epoch_line(chosen.training_config, 2))
    numbers = create_imported_numeric_run(PointEnsemble(np.ones((2, 30))), np.ones(30))
    solve = regression.create_regression(LbfgsConfig(dataset="digits"))
    write_status(solve.path, replace(solve.status, state="finished"))
    own = trained(members=2, dataset="leaves_00", network="logistic")
    return Recordings({"chosen": chosen.id, "own": own.id}, numbers.id, solve.id)


def test_a_month_has_as_many_of_everything_as_was_asked_for(recordings: Recordings, tmp_path: Path) -> None:
    made = filling.fill_month(tmp_path, SIZE, recordings)
    every = runs.list_runs()
    assert runs.list_unreadable_runs() == {}
    counts = len(every) + len(regression.list_regressions())
    assert counts == SIZE.runs
    assert len(made.imported) == SIZE.predictions
    assert {"leaves_00", "leaves_01"} <= {run.config.dataset for run in every}
    assert datasets.find_dataset_info("leaves_01").prepared
    days = [(time.time() - runs.find_run(each).status.created) / 86_400 for each in made.trained]
    assert 28 < days[0] < 31
    assert 0 < days[-1] < 1
    assert len({run.name for run in every}) > 10
    assert any(run.tags for run in every)
    trials = read_trials(sweeps.find_sweep(made.sweep))
    assert [trial.state for trial in trials] == ["complete"] * SIZE.trials
    best = find_best_trial(sweeps.find_sweep(made.sweep))
    assert best
    assert best.values[0] == min(trial.values[0] for trial in trials)
    assert runs.read_run_predictions(made.trained[0], 1).shape[0] == 2


def test_what_took_too_long_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    row = {"cold_s": 5.0, "warm_s": 1.0, "cold_processor_s": 3.0, "warm_processor_s": 0.5}
    figures = {
        "pages": {"Train": row, "Runs": {**row, "warm_s": 2.5}},
        "commands": {"runs list": {"s": 1.5, "processor_s": 1.2}},
        "memory_bytes": {"peak": 700_000_000, "at_the_end": 500_000_000},
        "handles": {"before": 90, "after": 91},
        "sessions": 1_000,
    }
    assert month.list_missed_aims(figures) == ["Runs: 2.5 s warm", "memory", "handles"]
    month.print_table(figures)
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines if line.endswith("LATE")] == ["Runs"]
    assert "700 MB at most" in lines[-2]
