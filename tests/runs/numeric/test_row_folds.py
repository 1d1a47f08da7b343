"""A regression with folds: its members predict the training rows that they left out."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ensemble import runs
from ensemble.analysis.inference.paired_intervals import mean_interval
from ensemble.analysis.numeric.normal_mixture import NormalMixture
from ensemble.errors import ConfigError, RunError
from ensemble.runs import Run
from ensemble.runs.numeric.numeric_answers import load_row_predictor
from ensemble.runs.numeric.numeric_launch import create_numeric_run, create_run_with_table, prepare_numeric_table
from ensemble.runs.training import fold_predictions
from ensemble.runs.training_predictions import TRAINING_PREDICTIONS_FILE, has_training_predictions, load_row_predictions
from ensemble.tables.prepared_table import read_prepared_table
from ensemble.views.numeric.evaluated_numbers import evaluate_numeric_run
from ensemble.views.registry import NUMERIC_VIEWS
from ensemble.views.summary import summarize_view
from tests.runs.groups.inline import InlineTasks, arrays, follow
from tests.runs.numeric.conftest import build_config, build_table, create_run

# Five members of three folds: two judge folds 0 and 1, one judges fold 2.
SETTINGS: dict[str, Any] = {"members": 5, "folds": 3, "validation": 0.1, "devices": 1}


@pytest.fixture(scope="module")
def ended(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A run with folds that has come to its end."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ENSEMBLE_RUNS", str(tmp_path_factory.mktemp("runs")))
        run = runs.execute_run(create_run(**SETTINGS).id)
    assert run.state == "finished", run.message
    return run


@pytest.fixture
def at_home(ended: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ENSEMBLE_RUNS", str(ended.path.parent))


def read_bits(run: Run) -> tuple[Any, ...]:
    """The bits of all that a run has learned and predicted."""
    with np.load(run.path / TRAINING_PREDICTIONS_FILE, allow_pickle=False) as file:
        judged = {name: file[name].tobytes() for name in file.files}
    return *(arrays(run.path, what) for what in ("predictions", "validation", "parameters")), judged


@pytest.mark.usefixtures("at_home")
def test_each_training_row_is_predicted_by_the_members_that_left_it_out(ended: Run) -> None:
    table = read_prepared_table(ended.path)
    train = table.split.train
    stored, folds = load_row_predictions(ended, train), table.assign_folds(3, ended.config.split_seed)
    np.testing.assert_array_equal(stored.numbers, train)
    assert stored.epoch == ended.status.best_epoch
    every = load_row_predictor(ended, stored.epoch, table.encoding)(table.features[train])
    for fold, judges in ((0, [0, 3]), (1, [1, 4]), (2, [2])):
        rows = np.flatnonzero(folds == fold)
        own = NormalMixture(every.mean[judges][:, rows], every.variance[judges][:, rows])
        np.testing.assert_allclose(stored.mean[rows], own.compute_mean(), rtol=1e-5)
        np.testing.assert_allclose(stored.spread[rows], own.compute_spread(), rtol=1e-5)
        np.testing.assert_allclose(stored.nll[rows], own.compute_nll(table.targets[train[rows]]), rtol=1e-5)
        assert (stored.judges[rows] == len(judges)).all()


@pytest.mark.usefixtures("at_home")
def test_killed_before_it_has_judged_it_does_so_when_it_is_resumed(ended: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    run, judge = create_run(**SETTINGS), fold_predictions._judge_training_rows

    def die(*_: Any) -> None:
        raise KeyboardInterrupt  # as of a process that is ended here

    with monkeypatch.context() as killed:
        killed.setattr(fold_predictions, "_judge_training_rows", die)
        with pytest.raises(KeyboardInterrupt):
            runs.execute_run(run.id)
    assert not has_training_predictions(runs.find_run(run.id))
    with monkeypatch.context() as stopped:
        stopped.setattr(fold_predictions, "_judge_training_rows", lambda run, epoch, _: judge(run, epoch, lambda: True))
        assert runs.execute_run(runs.requeue_run(run.id).id).state == "stopped"
    assert not has_training_predictions(runs.find_run(run.id))
    assert runs.execute_run(runs.requeue_run(run.id).id).state == "finished"
    assert read_bits(run) == read_bits(ended)


@pytest.mark.usefixtures("at_home")
def test_a_run_in_groups_is_that_of_one_process_to_the_bit(ended: Run) -> None:
    run = follow(create_run(**SETTINGS, groups=2), InlineTasks())
    assert run.state == "finished", run.message
    assert read_bits(run) == read_bits(ended)


@pytest.mark.usefixtures("at_home")
def test_views_show_cross_validated_figures_and_targets_to_check(ended: Run) -> None:
    table = read_prepared_table(ended.path)
    numbers, stored = evaluate_numeric_run(ended), load_row_predictions(ended, table.split.train)
    squared = (table.targets[stored.numbers] - stored.mean) ** 2
    low, high = np.sqrt(mean_interval(squared))
    assert numbers.training_rows.rmse == pytest.approx((np.sqrt(squared.mean()), low, high))
    assert numbers.training_rows.nll == pytest.approx((stored.nll.mean(), *mean_interval(stored.nll)))
    evidence = " ".join(summarize_view(NUMERIC_VIEWS["answer"], numbers).evidence)
    assert "Each member learned from 2/3 of the training rows" in evidence
    assert f"Cross-validated on the {len(squared)} training rows: RMSE " in evidence
    judges = f"by the members that never learned from it, 1 to 2 of 5, after epoch {stored.epoch}."
    assert judges in evidence
    view = summarize_view(NUMERIC_VIEWS["worst"], numbers, {"examples": "training", "worst": "surprise"})
    assert "training rows furthest off" in view.answer
    assert any(judges in sentence for sentence in view.evidence)
    scores = (stored.mean - table.targets[stored.numbers]) / stored.spread
    first = np.argsort(-np.abs(scores))[0]
    (shown,) = view.tables
    assert shown.frame.iloc[0]["example"] == f"row {table.row_numbers[stored.numbers[first]]}"
    assert shown.numbers
    every = shown.numbers()
    assert len(every) == len(squared)
    np.testing.assert_allclose(every["error_over_spread"], scores[np.argsort(-np.abs(scores), kind="stable")])
    test = summarize_view(NUMERIC_VIEWS["worst"], numbers)
    assert test.tables[0].numbers
    assert len(test.tables[0].numbers()) == len(numbers.targets)


def test_a_wrong_training_target_is_the_first_to_check(runs_of_one_test: Path) -> None:
    config = build_config(members=4, folds=2, epochs=30, learning_rate=0.01, validation=0.1)
    table = prepare_numeric_table(config, build_table(), "price")
    row = int(table.split.train[7])
    name = f"row {table.row_numbers[row]}"
    table.targets[row] += 200
    run = runs.execute_run(create_numeric_run(config, table).id)
    view = summarize_view(NUMERIC_VIEWS["worst"], evaluate_numeric_run(run), {"examples": "training"})
    assert f"normal noise explains: {name}. Check" in " ".join(view.evidence)
    assert view.tables[0].frame.iloc[0][["example", "suspect"]].tolist() == [name, "✗"]


def test_a_run_without_folds_says_which_setting_judges_its_targets(runs_of_one_test: Path) -> None:
    run = runs.execute_run(create_run(epochs=1).id)
    view = summarize_view(NUMERIC_VIEWS["worst"], evaluate_numeric_run(run))
    assert view.paragraphs[-1].text.endswith("launch a run with folds.")
    assert "training rows" not in " ".join(summarize_view(NUMERIC_VIEWS["answer"], evaluate_numeric_run(run)).evidence)


@pytest.mark.usefixtures("at_home")
def test_damaged_and_missing_predictions_are_reported(ended: Run) -> None:
    file = ended.path / TRAINING_PREDICTIONS_FILE
    kept = file.read_bytes()
    try:
        file.write_bytes(kept[:-300])
        with pytest.raises(RunError, match="look at its test rows, or train it again"):
            load_row_predictions(ended, read_prepared_table(ended.path).split.train)
        assert not summarize_view(
            NUMERIC_VIEWS["worst"], evaluate_numeric_run(ended), {"examples": "training"}
        ).available
        evidence = summarize_view(NUMERIC_VIEWS["answer"], evaluate_numeric_run(ended)).evidence
        assert "cannot be read" in evidence[-1]
        file.unlink()
        for view in ("answer", "worst"):
            told = summarize_view(NUMERIC_VIEWS[view], evaluate_numeric_run(ended)).to_text()
            assert "The predictions of its training rows are missing from its folder" in told
    finally:
        file.write_bytes(kept)


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"folds": 1}, "choose 2 or more, or 0 for none"),
        ({"folds": 4, "members": 3}, "choose at most 3 folds, or 4 members or more"),
    ],
)
def test_settings_that_do_not_go_together_are_refused(settings: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ConfigError, match=sentence):
        build_config(**settings)


def test_folds_that_a_table_cannot_fill_are_refused_before_a_run_is_made() -> None:
    with pytest.raises(ConfigError, match="fill only 1: choose fewer folds"):
        prepare_numeric_table(build_config(folds=3), build_table(20), "price", group="city")


def test_a_trial_of_a_sweep_has_the_folds_of_the_table_that_it_copies(runs_of_one_test: Path) -> None:
    config = build_config(folds=3)
    own = create_numeric_run(config, prepare_numeric_table(config, build_table(), "price", group="area"))
    first, second = (read_prepared_table(run.path) for run in (own, create_run_with_table(config, own.path)))
    assert first.train_groups is not None
    np.testing.assert_array_equal(second.train_groups, first.train_groups)
    np.testing.assert_array_equal(second.assign_folds(3, 0), first.assign_folds(3, 0))


def test_a_batch_is_at_most_the_rows_that_a_member_learns_from(runs_of_one_test: Path) -> None:
    run = create_run(folds=3, batch_size=4096)
    train = len(read_prepared_table(run.path).split.train)
    assert run.config.batch_size == train - -(-train // 3)
    assert any("training rows that a member learns from" in note for note in read_prepared_table(run.path).notes)
