"""Runs that predict numbers lie among the others: made, found, listed, named, noted, deleted."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from ensemble import runs
from ensemble.analysis.numeric.normal_mixture import NormalMixture
from ensemble.analysis.numeric.numeric_ensemble import NumericEnsemble
from ensemble.analysis.numeric.point_ensemble import PointEnsemble
from ensemble.analysis.numeric.quantile_ensemble import QuantileEnsemble
from ensemble.config import CLASSIFICATION
from ensemble.errors import RunError
from ensemble.exchange.numeric_files import read_numeric_file
from ensemble.exchange.prediction_export import export_run
from ensemble.jobs.folders import create_run_folder
from ensemble.runs.annotations.names import rename_run
from ensemble.runs.annotations.notes import write_run_note
from ensemble.runs.numeric.imported_numeric_run import create_imported_numeric_run, write_imported_regression
from ensemble.runs.numeric.numeric_epochs import build_numeric_epoch_line
from ensemble.runs.numeric.numeric_launch import create_numeric_run, prepare_numeric_table
from ensemble.runs.numeric.numeric_predictions import (
    read_numeric_predictions,
    read_numeric_targets,
    select_numeric_epoch,
    write_numeric_arrays,
    write_numeric_targets,
)
from ensemble.runs.status import Status, build_epoch_status_fields
from ensemble.runs.store import RUN_STORE, RegressionTarget, Run, find_regression_run, list_runs, list_unreadable_runs
from ensemble.storage.atomic_files import read_json, write_json
from ensemble.tables.raw_table import TEXT, RawColumn
from ensemble.wording.run_names import format_run_name
from tests.runs.numeric.conftest import build_config, build_table

RNG = np.random.default_rng(5)
TARGETS = RNG.normal(size=50)
MIXTURE = NormalMixture(TARGETS + RNG.normal(0, 0.3, (3, 50)), RNG.uniform(0.05, 0.2, (3, 50)))


@pytest.fixture
def run(runs_of_one_test: Path) -> Run:
    return create_imported_numeric_run(
        MIXTURE,
        TARGETS,
        name=" a  name ",
        note="Where it is from.",
        target_name="height",
        unit="m",
        member_names=["a", "b", "c"],
        example_names=[f"e{number}" for number in range(50)],
    )


def test_an_import_is_read_as_it_was_given(run: Run) -> None:
    found = find_regression_run(run.id)
    assert (found.state, found.name, found.note) == ("imported", "a name", "Where it is from.")
    assert (found.member_names, found.target_name, found.unit) == (("a", "b", "c"), "height", "m")
    assert found.settings is None
    mixture = read_numeric_predictions(found, select_numeric_epoch(found))
    assert isinstance(mixture, NormalMixture)
    assert np.array_equal(mixture.mean, MIXTURE.mean)
    assert np.array_equal(mixture.variance, MIXTURE.variance)
    targets = read_numeric_targets(found)
    assert np.array_equal(targets.values, TARGETS)
    assert targets.example_names[7] == "e7"
    errors = TARGETS - MIXTURE.mean.mean(axis=0)
    assert found.status.ensemble_test_rmse == pytest.approx(np.sqrt((errors**2).mean()))
    assert found.status.best_epoch == 1
    assert runs.read_history(run.id)[0]["ensemble_test_rmse"] == found.status.ensemble_test_rmse


def test_quantiles_and_numbers_alone_are_kept_too(runs_of_one_test: Path) -> None:
    quantiles = np.sort(RNG.normal(size=(2, 3, 50)), axis=1)
    for predicted in (QuantileEnsemble(np.array([0.1, 0.5, 0.9]), quantiles), PointEnsemble(MIXTURE.mean)):
        run = create_imported_numeric_run(predicted, TARGETS)
        found = read_numeric_predictions(run, 1)
        assert type(found) is type(predicted)
        assert np.array_equal(found.mean, predicted.mean)
        assert run.status.ensemble_test_nll is None
        assert run.status.best_score == run.status.ensemble_test_rmse


def test_it_is_listed_named_and_deleted_and_no_run_of_classes(run: Run) -> None:
    assert [listed.id for listed in list_runs()] == [run.id]
    assert runs.list_runs(CLASSIFICATION) == []
    assert runs.list_unreadable_runs() == {}
    with pytest.raises(RunError, match="predicts numbers, and this is for classes"):
        runs.require_training_config(runs.find_run(run.id))
    assert rename_run(run.id, "other").name == "other"
    write_run_note(run.id, "noted")
    assert find_regression_run(run.id).note == "noted"
    RUN_STORE.delete(run.id)
    assert list_runs() == []


def test_what_is_damaged_is_said(run: Run) -> None:
    (run.path / "targets.npz").write_bytes(b"PK")
    with pytest.raises(RunError, match="import or train it again"):
        read_numeric_predictions(run, 1)
    write_numeric_targets(run.path, TARGETS)
    write_numeric_arrays(run.path, 1, {"mean": MIXTURE.mean, "variance": -MIXTURE.variance})
    with pytest.raises(RunError, match="variance is not a positive"):
        read_numeric_predictions(run, 1)
    with pytest.raises(RunError, match="has no epoch 3: it has 1"):
        select_numeric_epoch(run, 3)
    config = read_json(run.path / "config.json")
    write_json(run.path / "config.json", config | {"numbers": {"members": 2, "member_names": [1]}})
    with pytest.raises(RunError, match="cannot be read"):
        find_regression_run(run.id)
    assert run.id in list_unreadable_runs()


@pytest.mark.parametrize(("best_on", "shown"), [("validation", 1), ("test", 2)])
def test_the_epoch_is_chosen_on_validation_or_the_last_and_a_lost_member_is_left_out(
    runs_of_one_test: Path, best_on: str, shown: int
) -> None:
    status = Status(epochs=2, steps=20, best_on=best_on, set_aside={1: 12})
    with create_run_folder("numeric", 0.0) as folder:
        write_numeric_targets(folder, TARGETS)
        for epoch, score in ((1, 0.5), (2, 0.7)):
            mean, variance = MIXTURE.mean.copy(), MIXTURE.variance.copy()
            if epoch == 2:
                mean[1] = variance[1] = np.nan
            write_numeric_arrays(folder, epoch, {"mean": mean, "variance": variance})
            remaining = MIXTURE if epoch == 1 else MIXTURE.select_members([0, 2])
            line = build_numeric_epoch_line(remaining, TARGETS, epoch, step=10 * epoch, ensemble_validation_nll=score)
            status = replace(status, epoch=epoch, **build_epoch_status_fields(status, line))
        write_imported_regression(folder, RegressionTarget(members=3), status)
    run = find_regression_run(folder.name)
    if best_on == "validation":
        assert (run.status.best_epoch, run.status.best_score) == (1, 0.5)
    else:
        assert run.status.best_epoch == 1
    assert select_numeric_epoch(run) == shown
    assert read_numeric_predictions(run, 1).members == 3
    assert read_numeric_predictions(run, 2).members == 2


def test_what_is_tested_on_has_the_names_and_groups_of_its_own_rows() -> None:
    raw, config = build_table(), build_config()
    streets = np.array([f"street {row // 4}" for row in range(raw.rows)], object)
    raw = replace(raw, columns=(*raw.columns, RawColumn("street", TEXT, streets)))
    table = prepare_numeric_table(config, raw, "price", group="street")
    run = create_numeric_run(config, table)
    rows = table.row_numbers[table.split.test] - 1  # the sixth row has no price
    kept = read_numeric_targets(run)
    assert list(kept.example_names) == [f"row {row + 1}" for row in rows]
    np.testing.assert_array_equal(kept.values, raw.find_column("price").values[rows].astype(float))
    assert kept.groups is not None
    np.testing.assert_array_equal(kept.groups[:, None] == kept.groups, streets[rows][:, None] == streets[rows])


@pytest.mark.parametrize("form", ["normal", "points", "quantiles"])
def test_exported_predictions_are_read_back(form: str, runs_of_one_test: Path, tmp_path: Path) -> None:
    quantiles = np.sort(RNG.normal(size=(2, 3, 50)), axis=1)
    ensembles: dict[str, NumericEnsemble] = {
        "normal": MIXTURE,
        "points": PointEnsemble(MIXTURE.mean),
        "quantiles": QuantileEnsemble(np.array([0.1, 0.5, 0.9]), quantiles),
    }
    predicted = ensembles[form]
    run = create_imported_numeric_run(predicted, TARGETS, member_names=[f"m{n}" for n in range(predicted.members)])
    exported = export_run(run.id, tmp_path / "numbers.npz")
    assert exported.epochs == (1,)
    read = read_numeric_file(exported.path)
    assert type(read.mixture) is type(predicted)
    np.testing.assert_allclose(read.mixture.mean, predicted.mean)
    np.testing.assert_array_equal(read.targets, TARGETS)
    assert read.member_names == run.member_names


def test_the_names_of_runs_with_other_settings_differ() -> None:
    def name_run(**settings: object) -> str:
        config = build_config(**settings)
        return format_run_name(create_numeric_run(config, prepare_numeric_table(config, build_table(), "price")))

    assert name_run(seed=0) == "3 members · rate 0.003 · price"
    assert name_run(members=5, learning_rate=0.1, seed=2) == "5 members · rate 0.1 · price · seed 2"
