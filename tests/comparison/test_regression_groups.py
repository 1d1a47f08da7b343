"""Regressions with several seeds per setting are compared over seeds and rows, with one verdict everywhere."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from scipy.stats import norm

from ensemble import runs
from ensemble.cli.program import main
from ensemble.comparison.regression_groups import compare_regression_groups
from ensemble.comparison.run_groups import group_runs
from ensemble.config import EnsembleConfig
from ensemble.errors import PredictionsError, RunError
from ensemble.jobs.status import write_status
from ensemble.report import write_report
from ensemble.runs import Run, delete_run
from ensemble.runs.numeric.imported_numeric_run import create_imported_numeric_run
from ensemble.runs.numeric.numeric_predictions import (
    read_numeric_predictions,
    read_numeric_targets,
    write_numeric_arrays,
)
from ensemble.wording.verdicts.settings_verdict import list_settings_evidence
from tests.runs.numeric.conftest import create_run

RATES = (0.001, 0.003, 0.01)
SEEDS = range(3)


def predict_with_noise(run: Run, noise: float, seed: int) -> Run:
    """A finished run whose members are off by this much, and say so."""
    targets = read_numeric_targets(run).values
    rng = np.random.default_rng(seed)
    mean = targets + rng.normal(0, noise, (3, len(targets)))
    write_numeric_arrays(run.path, 1, {"mean": mean, "variance": np.full(mean.shape, 100.0)})
    write_status(run.path, replace(run.status, state="finished", epoch=1, seconds=2.0, steps=6))
    return runs.find_run(run.id)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("runs")


@pytest.fixture(autouse=True)
def where_they_are(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ENSEMBLE_RUNS", str(folder))


@pytest.fixture(scope="module")
def compared(folder: Path) -> list[Run]:
    """Three rates with three seeds each; the members of the highest rate are four times as far off."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ENSEMBLE_RUNS", str(folder))
        return [
            predict_with_noise(
                create_run(learning_rate=rate, seed=seed, test=0.6), 20.0 if rate == 0.01 else 5.0, 10 * seed + n
            )
            for n, rate in enumerate(RATES)
            for seed in SEEDS
        ]


def test_seeds_are_one_group_and_the_worst_setting_is_found(compared: list[Run]) -> None:
    comparison = compare_regression_groups(group_runs(compared))
    assert [group.group.title for group in comparison.groups] == ["rate 0.001", "rate 0.003", "rate 0.01"]
    assert [len(group.runs) for group in comparison.groups] == [3, 3, 3]
    assert comparison.tests == 6, "three pairs, by NLL and by squared error"
    verdict = comparison.verdict
    assert verdict is not None
    assert [group.title for group in verdict.worse] == ["rate 0.01"]
    assert verdict.is_about_settings
    assert comparison.baseline is not None
    assert comparison.baseline.reason == "default settings"


def test_losses_and_differences_are_those_of_a_plain_computation(compared: list[Run]) -> None:
    comparison = compare_regression_groups(group_runs(compared), compared[0].id)
    targets = read_numeric_targets(compared[0]).values
    nll, squared = [], []
    for run in compared:
        with np.load(run.path / "predictions" / "epoch-0001.npz") as kept:
            density = norm.pdf(targets, kept["mean"], np.sqrt(kept["variance"])).mean(axis=0)
            nll.append(-np.log(density).mean())
            squared.append(((targets - kept["mean"].mean(axis=0)) ** 2).mean())
    means = np.reshape(nll, (3, 3))
    for group, expected, errors in zip(comparison.groups, means, np.reshape(squared, (3, 3)), strict=True):
        np.testing.assert_allclose(group.list_run_means("nll"), expected)
        np.testing.assert_allclose(group.list_run_means("squared_error"), np.sqrt(errors))
    keys = [group.group.key for group in comparison.groups]
    saved = comparison.differences["nll"][keys[2], keys[0]].saved
    assert saved.mean == pytest.approx(means[0].mean() - means[2].mean())
    assert saved.over == "seeds and images"
    assert saved.low < saved.mean < saved.high < 0


def test_single_runs_tell_of_settings_by_their_members_where_these_are_known(compared: list[Run]) -> None:
    singles = [run for run in compared if run.settings and run.settings.seed == 0]
    comparison = compare_regression_groups(group_runs(singles))
    assert {d.saved.over for pairs in comparison.differences.values() for d in pairs.values()} == {"seeds and images"}
    verdict = comparison.verdict
    assert verdict is not None
    assert verdict.is_about_settings
    assert "independent members" in " ".join(list_settings_evidence(verdict, "row"))
    predicted = read_numeric_predictions(singles[0], 1)
    targets = read_numeric_targets(singles[0])
    imported = create_imported_numeric_run(predicted, targets.values, example_names=targets.example_names)
    verdict = compare_regression_groups(group_runs([singles[0], imported])).verdict
    assert verdict is not None
    assert not verdict.is_about_settings, "nothing is known of other seeds of an imported run"
    delete_run(imported.id)


def test_the_command_and_the_report_say_the_same(compared: list[Run], tmp_path: Path) -> None:
    ids = [run.id for run in compared]
    done = CliRunner().invoke(main, ["compare", *ids, "--json"])
    assert done.exit_code == 0, done.output
    said = json.loads(done.stdout)
    assert (said["task"], said["tests"], len(said["groups"])) == ("regression", 6, 3)
    answer = said["verdict"]["answer"]
    plain = CliRunner().invoke(main, ["compare", *ids, "--by", "learning_rate"])
    assert answer in plain.stdout
    assert "RMSE" in plain.stdout
    report = write_report(ids, tmp_path / "report.html").path.read_text("utf-8")
    assert answer in report
    assert "Test losses by group" in report


def test_other_rows_and_other_tasks_are_refused(compared: list[Run]) -> None:
    other = predict_with_noise(create_run(split_seed=5), 5.0, 0)
    with pytest.raises(RunError, match="different test rows"):
        compare_regression_groups(group_runs([*compared, other]))
    images = runs.create_run(EnsembleConfig(network="logistic", members=2))
    with pytest.raises(PredictionsError, match="name runs of one task"):
        write_report([compared[0].id, images.id], Path("report.html"))
    mixed = CliRunner().invoke(main, ["compare", compared[0].id, images.id])
    assert "compare runs of one task" in mixed.output
