"""Trials that are trained several times: a run a seed, judged by the mean, one after the other."""

import os
from collections.abc import Callable
from dataclasses import replace
from statistics import fmean
from typing import Any

import pytest

from ensemble import runs, sweeps
from ensemble.config import EnsembleConfig
from ensemble.jobs.outcome import Outcome
from ensemble.jobs.status import write_status
from ensemble.storage.atomic_files import read_json
from ensemble.sweeps import claims, training
from ensemble.sweeps.objectives import read_objective_values
from ensemble.sweeps.study import SweepStudy
from ensemble.sweeps.worker import work_on_sweep
from tests.sweeps import light
from tests.sweeps.conftest import Search
from tests.sweeps.kills import kill_after, killed
from tests.sweeps.light import epochs_of, light_config

REAL_EXECUTE_RUN = runs.execute_run


@pytest.fixture(autouse=True)
def seeds_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    """A seed costs a tenth of a nat more than the one before it."""
    real = light.nll
    monkeypatch.setattr(light, "nll", lambda config, epoch: real(config, epoch) + config.seed / 10)


def values_of(run_id: str) -> tuple[float, ...]:
    values = read_objective_values(runs.find_run(run_id), ("nll",))
    assert values is not None
    return values


def assert_whole(sweep: sweeps.Sweep, repeats: int) -> None:
    """Every trial is complete, its runs have seeds in a row, and no run is anybody else's."""
    trials = sweeps.read_trials(sweep)
    assert [trial.state for trial in trials] == ["complete"] * sweep.config.trial_count
    for trial in trials:
        trained = [runs.find_run(run_id) for run_id in trial.run_ids]
        assert [run.config.seed for run in trained] == list(range(repeats))
        assert all(epochs_of(run.path) == [1, 2, 3] for run in trained)
        assert trial.values == (fmean(values_of(run.id)[0] for run in trained),)
    every = [run_id for trial in trials for run_id in trial.run_ids]
    assert sorted(every) == sorted(run.id for run in runs.list_runs())
    assert len(set(every)) == repeats * len(trials)


def test_each_trial_is_judged_by_the_mean_of_its_trainings(search: Search) -> None:
    sweep = search(repeats=3, trials=2)
    assert sweep.state == "finished"
    assert sweep.status.done == 2, "a trial is one, however often it is trained"
    assert_whole(sweep, 3)
    for trial in sweeps.read_trials(sweep):
        assert trial.run_id == trial.run_ids[0]
        first, second, third = (values_of(run_id)[0] for run_id in trial.run_ids)
        assert first < second < third
        assert trial.values == (pytest.approx(second),)
        for run_id in trial.run_ids:
            run = runs.find_run(run_id)
            assert run.tags == (sweep.id,)
            assert read_json(run.path / "trial.json") == {"sweep": sweep.id, "number": trial.number}


@pytest.mark.long
def test_the_pruner_is_told_of_the_first_training_alone(search: Search) -> None:
    sweep = search(repeats=2, trials=12, pruner="median")
    trials = sweeps.read_trials(sweep)
    assert {trial.state for trial in trials} == {"complete", "pruned"}
    for trial in trials:
        first = runs.require_training_config(runs.find_run(trial.run_id))
        assert trial.epochs == {epoch: light.nll(first, epoch) for epoch in trial.epochs}
        assert len(trial.run_ids) == (2 if trial.state == "complete" else 1)


def test_epochs_of_a_later_training_are_not_told_where_the_first_had_fewer(
    search: Search, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = light._epochs

    def begin(run: runs.Run, status: Any, stop: Any, report: Any) -> Outcome:
        if run.config.seed:
            return real(run, status, stop, report)
        return real(run, status, lambda: True, report)  # It ends after an epoch, as by patience.

    def ended(run: runs.Run, *args: Any) -> Outcome:
        begin(run, *args)
        return Outcome("finished")

    monkeypatch.setattr(light, "_epochs", ended)
    [trial] = sweeps.read_trials(search(repeats=2, trials=1))
    assert [len(epochs_of(runs.find_run(run_id).path)) for run_id in trial.run_ids] == [1, 3]
    assert list(trial.epochs) == [1]


@pytest.mark.parametrize(
    ("state", "expected", "message"),
    [
        ("diverged", "failed", "Member 1's loss is no number."),
        ("failed", "failed", "No memory."),
        ("stopped", "pruned", "Its run was stopped manually."),
    ],
)
def test_a_later_training_that_does_not_finish_is_what_the_trial_comes_to(
    search: Search, monkeypatch: pytest.MonkeyPatch, state: str, expected: str, message: str
) -> None:
    real = light._epochs

    def ended(run: runs.Run, *args: Any) -> Outcome:
        return Outcome(state, message) if run.config.seed == 1 else real(run, *args)

    monkeypatch.setattr(light, "_epochs", ended)
    [trial] = sweeps.read_trials(search(repeats=3, trials=1))
    assert (trial.state, trial.message, trial.values) == (expected, message, ())
    assert [runs.find_run(run_id).state for run_id in trial.run_ids] == ["finished", state]


def after(number: int) -> Callable[..., bool]:
    """Whether this is a call number so many, from 1."""
    calls: list[int] = []

    def counted(*args: Any, **notes: Any) -> bool:
        calls.append(1)
        return len(calls) == number

    return counted


def notes_repeats(*args: Any, **notes: Any) -> bool:
    return "repeats" in notes


KILLS: dict[str, tuple[Any, str, bool, Callable[[], Callable[..., bool]]]] = {
    "the first has finished": (training, "claim_next_repeat", True, lambda: after(1)),
    "the next made": (claims.runs, "create_run", False, lambda: after(2)),
    "the next known": (SweepStudy, "set_trial_attributes", False, lambda: notes_repeats),
    "the next claimed": (training, "claim_next_repeat", False, lambda: after(1)),
    "within the next": (light, "append_line", False, lambda: after(5)),
    "the second has finished": (training, "claim_next_repeat", True, lambda: after(2)),
    "all have finished": (training, "record_trial_result", True, lambda: after(1)),
    "told": (SweepStudy, "finish_trial", False, lambda: after(1)),
}


@pytest.mark.parametrize("kill", KILLS)
def test_a_worker_killed_between_or_within_trainings_costs_none_and_doubles_none(
    kill: str, a_dead_owner: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    sweep = sweeps.create_sweep(light_config(trials=2, repeats=3))
    place, name, before, when = KILLS[kill]
    kill_after(monkeypatch, place, name, before, when())
    with killed():
        work_on_sweep(sweep.id)
    a_dead_owner()
    sweep = work_on_sweep(sweep.id)
    assert sweep.state == "finished"
    assert_whole(sweep, 3)


def test_a_trial_whose_workers_are_killed_between_trainings_is_given_up_in_the_end(
    a_dead_owner: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    sweep = sweeps.create_sweep(light_config(trials=1, repeats=5))
    for _ in range(claims.MAX_TRIAL_ATTEMPTS):
        with monkeypatch.context() as once:
            kill_after(once, training, "claim_next_repeat", before=True)
            with killed():
                work_on_sweep(sweep.id)
    [trial] = sweeps.read_trials(work_on_sweep(sweep.id))
    assert trial.state == "failed"
    assert trial.message == "Its worker was killed 3 times: see the log of its run."
    assert len(trial.run_ids) == claims.MAX_TRIAL_ATTEMPTS


def test_a_stop_between_trainings_leaves_the_trial_to_whoever_resumes(monkeypatch: pytest.MonkeyPatch) -> None:
    sweep = sweeps.create_sweep(light_config(trials=1, repeats=5))
    for trained in range(1, 5):
        with monkeypatch.context() as once:
            real = training.needs_more_repeats

            def stopping(*args: Any, real: Any = real) -> bool:
                sweeps.request_sweep_stop(sweep.id)
                return bool(real(*args))

            once.setattr(training, "needs_more_repeats", stopping)
            assert work_on_sweep(sweep.id).state == "stopped"
        [trial] = sweeps.read_trials(sweep)
        assert (trial.state, len(trial.run_ids)) == ("waiting", trained)
        sweeps.store.requeue_sweep(sweep.id)
    assert work_on_sweep(sweep.id).state == "finished", "a stop is no attempt"
    assert_whole(sweeps.find_sweep(sweep.id), 5)


def test_a_trial_that_another_took_over_between_trainings_is_left_to_it() -> None:
    """On another host nothing tells that the owner lives while no run of it is under way."""
    sweep = sweeps.create_sweep(light_config(trials=1, repeats=2))
    archive = SweepStudy(sweep.id, sweep.path, sweep.config)
    claimed = claims.claim_trial(sweep, archive)
    assert isinstance(claimed, claims.TrialClaim)
    run = runs.execute_run(claimed.run_id, turn=False)
    write_status(run.path, replace(run.status, updated=1.0))
    os.utime(run.status_file, (1.0, 1.0))  # the disk's clock has it that nothing is heard of it
    elsewhere = {"host": "another", "pid": 1, "ticks": 7}
    archive.set_trial_attributes(claimed.trial, owner=elsewhere)
    taken = claims.claim_trial(sweep, archive)
    assert isinstance(taken, claims.TrialClaim)
    assert runs.find_run(taken.run_id).config.seed == 1
    archive.set_trial_attributes(claimed.trial, owner=elsewhere)
    assert claims.claim_next_repeat(sweep, archive, taken) is None, "it is another's"
    archive.set_trial_attributes(claimed.trial, owner=claims.build_owner_record())
    assert claims.claim_next_repeat(sweep, archive, claimed) is None, "the next is there"
    assert len(runs.list_runs()) == 2


def test_a_trial_whose_earlier_run_was_deleted_has_failed(search: Search, monkeypatch: pytest.MonkeyPatch) -> None:
    real = light._epochs

    def begin(run: runs.Run, *args: Any) -> Outcome:
        for other in runs.list_runs():
            if run.config.seed and other.id != run.id:
                runs.delete_run(other.id)
        return real(run, *args)

    monkeypatch.setattr(light, "_epochs", begin)
    [trial] = sweeps.read_trials(search(repeats=2, trials=1))
    assert (trial.state, trial.message) == ("failed", "Its run was deleted.")


def test_trials_that_are_repeated_are_not_packed() -> None:
    config = light_config(trials=8)
    assert training.compute_pack_size(config, 0, 16) > 1
    assert training.compute_pack_size(light_config(trials=8, repeats=2), 0, 16) == 1


@pytest.mark.long
def test_real_trainings_of_a_trial_differ_by_their_seed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runs, "execute_run", REAL_EXECUTE_RUN)
    base = EnsembleConfig(dataset="digits", network="logistic", members=1, epochs=1, validation=0.1, seed=4)
    sweep = work_on_sweep(sweeps.create_sweep(light_config(trials=2, repeats=2, base=base)).id)
    trials = sweeps.read_trials(sweep)
    assert [trial.state for trial in trials] == ["complete"] * 2
    for trial in trials:
        assert [runs.find_run(run_id).config.seed for run_id in trial.run_ids] == [4, 5]
        first, second = (values_of(run_id)[0] for run_id in trial.run_ids)
        assert first != second
        assert trial.values == (fmean((first, second)),)
    assert len(runs.list_runs()) == 4
