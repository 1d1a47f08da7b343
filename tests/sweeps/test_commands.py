"""A sweep is stopped, resumed, enlarged, deleted; nothing that it has done is lost."""

import time
from collections.abc import Callable
from typing import Any

import pytest

from ensemble import runs, sweeps
from ensemble.errors import ConfigError, RunError, UnknownRunError
from ensemble.jobs.outcome import Outcome
from ensemble.jobs.queue import list_queued_jobs
from ensemble.sweeps.enlargement import add_trials
from ensemble.sweeps.store import requeue_sweep
from ensemble.sweeps.worker import work_on_sweep
from tests.sweeps import light
from tests.sweeps.conftest import Search
from tests.sweeps.light import epochs_of, light_config, train_lightly
from tests.workers import held_by_a_worker


@pytest.fixture
def stop_in_second_trial(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """A sweep is asked to stop as its second trial begins."""

    def arrange(sweep_id: str) -> None:
        begun: list[str] = []

        def training(run_id: str, *args: Any, **more: Any) -> runs.Run:
            begun.append(run_id)
            if len(begun) == 2:
                assert sweeps.request_sweep_stop(sweep_id)
            return train_lightly(run_id, *args, **more)

        monkeypatch.setattr(runs, "execute_run", training)

    return arrange


def test_a_stopped_sweep_goes_on_with_the_trial_that_it_was_at(stop_in_second_trial: Callable[[str], None]) -> None:
    sweep = sweeps.create_sweep(light_config())
    stop_in_second_trial(sweep.id)
    sweep = work_on_sweep(sweep.id)
    trials = sweeps.read_trials(sweep)
    assert sweep.state == "stopped"
    assert [one.state for one in trials] == ["complete", "waiting"]
    assert epochs_of(runs.find_run(trials[1].run_id).path) == [1]
    requeue_sweep(sweep.id)
    again = sweeps.read_trials(work_on_sweep(sweep.id))
    assert again[1].run_id == trials[1].run_id
    assert again[0] == trials[0]
    assert [one.state for one in again] == ["complete"] * 4
    assert all(epochs_of(runs.find_run(one.run_id).path) == [1, 2, 3] for one in again)


def test_a_sweep_that_is_resumed_does_not_wait_for_its_own_trials(stop_in_second_trial: Callable[[str], None]) -> None:
    sweep = sweeps.create_sweep(light_config())
    stop_in_second_trial(sweep.id)
    left = sweeps.read_trials(work_on_sweep(sweep.id))[1].run_id
    runs.requeue_run(left)  # As its Resume on Runs does; its worker is about to begin.
    requeue_sweep(sweep.id)
    assert [job.id for job in list_queued_jobs()] == [sweep.id]
    began = time.monotonic()
    assert work_on_sweep(sweep.id).state == "finished"
    assert time.monotonic() - began < 20


def test_a_trial_whose_run_is_stopped_by_hand_is_left_and_the_search_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[str] = []

    def training(run_id: str, *args: Any, **more: Any) -> runs.Run:
        begun.append(run_id)
        if len(begun) == 2:
            (runs.find_run(run_id).path / "stop").touch()
        return train_lightly(run_id, *args, **more)

    monkeypatch.setattr(runs, "execute_run", training)
    trials = sweeps.read_trials(work_on_sweep(sweeps.create_sweep(light_config()).id))
    assert [one.state for one in trials] == ["complete", "pruned", "complete", "complete"]
    assert trials[1].message == "Its run was stopped manually."


def test_an_enlarged_sweep_makes_so_many_trials_more(search: Search) -> None:
    sweep = search()
    before = sweeps.read_trials(sweep)
    with pytest.raises(RunError, match="all its trials have ended"):
        requeue_sweep(sweep.id)
    assert add_trials(sweep.id, 2).config.trials == 6
    requeue_sweep(sweep.id)
    sweep = work_on_sweep(sweep.id)
    assert sweep.status.trials == sweep.status.done == 6
    assert sweeps.read_trials(sweep)[:4] == before
    drawn = [one.params["learning_rate"] for one in sweeps.read_trials(sweep)]
    assert len(set(drawn)) == 6  # not drawn again from the beginning


def test_only_what_can_be_enlarged_is(search: Search) -> None:
    with pytest.raises(RunError, match="is a grid"):
        add_trials(search(space="momentum=0.8,0.9", sampler="grid").id, 2)
    with pytest.raises(ConfigError, match="at least one trial"):
        add_trials(search().id, 0)


def test_trials_that_fail_one_after_the_other_end_the_search(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def failing(*args: Any) -> Outcome:
        raise RuntimeError("no room for it")

    monkeypatch.setattr(light, "_epochs", failing)
    sweep = work_on_sweep(sweeps.create_sweep(light_config(trials=9)).id)
    trials = sweeps.read_trials(sweep)
    assert sweep.state == "failed"
    assert [one.state for one in trials] == ["failed"] * 3
    assert sweep.message.startswith("3 trials failed one after the other")
    assert "no room for it" in capfd.readouterr().err
    assert "no room for it" in (runs.find_run(trials[0].run_id).path / "log.txt").read_text()


def test_a_sweep_is_listed_and_its_runs_outlive_it(search: Search) -> None:
    first, second = search(trials=2), search(trials=2)
    assert [one.id for one in sweeps.list_sweeps()] == [second.id, first.id]
    assert len(runs.list_runs()) == 4
    assert not runs.list_unreadable_runs()
    with held_by_a_worker(first.path), pytest.raises(RunError, match="is still active"):
        sweeps.delete_sweep(first.id)
    sweeps.delete_sweep(first.id)
    assert [one.id for one in sweeps.list_sweeps()] == [second.id]
    assert len(runs.list_runs()) == 4
    with pytest.raises(UnknownRunError):
        sweeps.find_sweep(first.id)
    with pytest.raises(UnknownRunError, match="is not a sweep"):
        sweeps.find_sweep(runs.list_runs()[0].id)


def test_one_that_has_ended_has_nothing_to_do(search: Search) -> None:
    with pytest.raises(RunError, match="is finished: there is nothing to do"):
        work_on_sweep(search().id)
