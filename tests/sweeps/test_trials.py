"""What a sweep's trials come to: their values, the best, the Pareto front, pruned and diverged."""

import errno
import gc
import itertools
from dataclasses import replace
from typing import Any

import optuna
import pytest
from optuna.storages import RDBStorage
from sqlalchemy.exc import OperationalError

from ensemble import runs, sweeps
from ensemble.errors import RunError
from ensemble.storage.atomic_files import read_json
from ensemble.storage.records import json_lines
from ensemble.sweeps import storages
from ensemble.sweeps.objectives import read_objective_values
from tests.comparison.drawn import finished
from tests.sweeps.conftest import Search
from tests.sweeps.light import DIVERGES, epochs_of, light_config, nll


def test_each_trial_is_a_run_with_the_sweeps_tag_and_the_value_that_run_came_to(search: Search) -> None:
    sweep = search()
    trials = sweeps.read_trials(sweep)
    assert sweep.state == "finished"
    assert sweep.status.done == len(trials) == 4
    for trial in trials:
        run = runs.find_run(trial.run_id)
        assert run.tags == (sweep.id,)
        assert run.state == "finished"
        assert {name: getattr(run.config, name) for name in trial.params} == trial.params
        config = runs.require_training_config(run)
        assert trial.state == "complete"
        assert trial.values == (nll(config, 3),)
        assert trial.epochs == {epoch: nll(config, epoch) for epoch in (1, 2, 3)}
        assert trial.started_at
        assert trial.ended_at
        assert trial.started_at <= trial.ended_at
    assert sweeps.find_best_trial(sweep) == min(trials, key=lambda one: one.values)
    assert len({one.run_id for one in trials}) == len(runs.list_runs()) == 4


def test_a_sweep_with_the_same_seed_asks_for_the_same_trials(search: Search) -> None:
    first, second, other = (search(sampler_seed=seed, trials=3) for seed in (3, 3, 4))
    asked = [[one.params for one in sweeps.read_trials(sweep)] for sweep in (first, second, other)]
    assert asked[0] == asked[1] != asked[2]
    assert len({one["learning_rate"] for one in asked[0]}) == 3


def test_a_grid_is_gone_through_exactly_once(search: Search) -> None:
    sweep = search(space="momentum=0.8,0.9 members=2..4", sampler="grid")
    found = [tuple(one.params.values()) for one in sweeps.read_trials(sweep)]
    assert sorted(found) == sorted(itertools.product((0.8, 0.9), (2, 3, 4)))
    assert all(runs.find_run(one.run_id).config.members == one.params["members"] for one in sweeps.read_trials(sweep))


def test_trials_that_are_better_by_one_of_two_objectives_are_all_on_the_front() -> None:
    sweep = sweeps.create_sweep(light_config(objectives="nll,seconds"))
    points = [(0.5, 3.0), (0.4, 5.0), (0.6, 2.0), (0.5, 4.0), (0.7, 6.0), (0.5, 3.0)]
    trials = [sweeps.Trial(number, "complete", {}, values) for number, values in enumerate(points)]
    assert [trial.number for trial in sweeps.find_pareto_trials(sweep, trials)] == [0, 1, 2, 5]


def test_a_run_has_no_values_when_one_of_two_objectives_is_unknown() -> None:
    run = finished()
    assert read_objective_values(run, ("seconds",)) == (20.0,)
    assert read_objective_values(run, ("nll",)) is None, "it holds no images out"
    assert read_objective_values(run, ("nll", "seconds")) is None


def test_the_pareto_front_is_what_no_other_trial_beats(search: Search) -> None:
    sweep = search(space="members=2..9 momentum=0.5,0.8,0.9", objectives="nll,seconds", trials=12)
    trials = sweeps.read_trials(sweep)
    points = {one.number: one.values for one in trials}

    def beaten(number: int) -> bool:
        a, b = points[number]
        return any((x <= a and y < b) or (x < a and y <= b) for x, y in points.values())

    expected = [number for number in points if not beaten(number)]
    assert [one.number for one in sweeps.find_pareto_trials(sweep)] == expected
    assert 0 < len(expected) < len(trials)
    best = sweeps.find_best_trial(sweep)
    assert best
    assert best.values[0] == min(nll for nll, _ in points.values())


def test_more_accuracy_is_better(search: Search) -> None:
    sweep = search(objectives="accuracy")
    best = sweeps.find_best_trial(sweep)
    assert best
    assert best.values == max(one.values for one in sweeps.read_trials(sweep))


def test_a_pruned_trials_run_is_stopped_and_says_why(search: Search) -> None:
    sweep = search(pruner="median", trials=12)
    pruned = [one for one in sweeps.read_trials(sweep) if one.state == "pruned"]
    assert pruned
    assert len(pruned) < 8
    for one in pruned:
        run = runs.find_run(one.run_id)
        assert run.state == "stopped"
        assert run.message == one.message
        assert run.message.startswith(f"Pruned after epoch {run.status.epoch} of 3")
        assert list(one.epochs) == epochs_of(run.path)
        assert one.values == ()


@pytest.mark.parametrize(
    ("error", "is_bug"),
    [
        (OSError(errno.EIO, "no answer"), False),
        (OperationalError("SELECT 1", None, Exception("no answer")), False),
        (RunError("There is no answer."), False),
        (ZeroDivisionError("no answer"), True),
    ],
)
def test_a_storage_that_does_not_answer_for_a_moment_ends_no_training(
    error: Exception, is_bug: bool, search: Search, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    real = optuna.trial.Trial.report
    failed: list[int] = []

    def report(self: optuna.trial.Trial, value: float, step: int) -> None:
        if not failed:
            failed.append(step)
            raise error
        real(self, value, step)

    monkeypatch.setattr(optuna.trial.Trial, "report", report)
    trials = sweeps.read_trials(search())
    assert [one.state for one in trials] == ["complete"] * 4
    assert [list(one.epochs) for one in trials] == [[1, 2, 3]] * 4
    assert failed == [1]
    said = capfd.readouterr().err
    assert ("Traceback" in said) == is_bug
    assert (f"An epoch of “{trials[0].run_id}” is told to the trials later" in said) != is_bug


@pytest.mark.long
def test_a_trial_that_diverged_has_failed_and_the_sampler_keeps_away_from_there(search: Search) -> None:
    # At random half of the trials would diverge.
    sweep = search(space="learning_rate=0.01..0.8", sampler="tpe", trials=30)
    trials = sweeps.read_trials(sweep)
    diverged = [one.params["learning_rate"] > DIVERGES for one in trials]
    assert [one.state == "failed" for one in trials] == diverged
    assert all(one.message.startswith("Member 1's loss") for one in trials if one.state == "failed")
    assert sum(diverged[:10]) >= 2
    assert sum(diverged[20:]) <= 1


@pytest.mark.long
def test_any_program_of_optunas_opens_the_same_study(search: Search, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ENSEMBLE_STORAGE", "sqlite")
    sweep = search(trials=2)
    storage = storages.dispose_when_unused(RDBStorage(f"sqlite:///{sweep.path}/study.db"))
    study = optuna.load_study(study_name=sweep.id, storage=storage)
    best = sweeps.find_best_trial(sweep)
    assert best
    assert study.best_value == best.values[0]
    assert study.best_params == best.params
    assert study.metric_names == ["nll"]
    assert [one.user_attrs["run"] for one in study.trials] == [one.run_id for one in sweeps.read_trials(sweep)]


def test_settings_that_do_not_fit_together_are_a_failed_trial_that_says_so(search: Search) -> None:
    sweep = search(space="warmup_epochs=0,5 epochs=3,6", sampler="grid")
    failed = [one for one in sweeps.read_trials(sweep) if one.state == "failed"]
    assert [one.params for one in failed] == [{"warmup_epochs": 5.0, "epochs": 3}]
    assert "choose a shorter warm-up" in failed[0].message
    assert sweep.state == "finished"


@pytest.mark.parametrize("word", ["sqlite", "journal"])
def test_the_storage_that_a_sweep_began_with_is_the_one_it_keeps(
    search: Search, word: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ENSEMBLE_STORAGE", word)
    sweep = search(trials=2)
    monkeypatch.setenv("ENSEMBLE_STORAGE", "sqlite" if word == "journal" else "journal")
    assert len(sweeps.read_trials(sweeps.find_sweep(sweep.id))) == 2
    assert (sweep.path / "study.db").exists() == (word == "sqlite")
    assert read_json(sweep.path / "config.json")["settings"]["storage"] == word


def test_a_storage_that_nobody_has_any_more_closes_its_connections(
    search: Search, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ENSEMBLE_STORAGE", "sqlite")
    path = search(trials=1).path / "study.db"
    pool: Any = storages._open_sqlite(path, path.stat().st_ino).engine.pool
    assert pool.checkedin() > 0
    storages._open_sqlite.cache_clear()
    gc.collect()
    assert pool.checkedin() == 0


def test_a_trial_reads_only_the_end_of_its_history_after_each_epoch_and_at_its_end(
    search: Search, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, parsed, epochs = json_lines.parse_history_line, list[bytes](), 200

    def parse_history_line(row: bytes, members: int | None = None) -> Any:
        parsed.append(row)
        return real(row, members)

    monkeypatch.setattr(json_lines, "parse_history_line", parse_history_line)
    sweep = search(trials=1, pruner="median", base=replace(light_config().base, epochs=epochs))
    [trial] = sweeps.read_trials(sweep)
    assert list(trial.epochs) == list(range(1, epochs + 1))
    assert len(parsed) < 5 * epochs
