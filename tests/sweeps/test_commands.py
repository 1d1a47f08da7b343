"""A sweep is stopped, resumed, enlarged, deleted; nothing that it has done is lost."""

import time
from collections.abc import Callable
from typing import Any

import pytest

from ensemble import runs, sweeps
from ensemble.errors import ConfigError, RunError, UnknownRunError
from ensemble.jobs.outcome import Outcome
from ensemble.jobs.queue import in_order
from ensemble.sweeps.enlarging import enlarged
from ensemble.sweeps.store import requeue
from ensemble.sweeps.worker import work
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
                assert sweeps.request_stop(sweep_id)
            return train_lightly(run_id, *args, **more)

        monkeypatch.setattr(runs, "work", training)

    return arrange


def test_a_stopped_sweep_goes_on_with_the_trial_that_it_was_at(
    stop_in_second_trial: Callable[[str], None],
) -> None:
    sweep = sweeps.create(light_config())
    stop_in_second_trial(sweep.id)
    sweep = work(sweep.id)
    trials = sweeps.trials_of(sweep)
    assert sweep.state == "stopped"
    assert [one.state for one in trials] == ["complete", "waiting"]
    assert epochs_of(runs.find(trials[1].run_id).path) == [1]
    requeue(sweep.id)
    again = sweeps.trials_of(work(sweep.id))
    assert again[1].run_id == trials[1].run_id
    assert again[0] == trials[0]
    assert [one.state for one in again] == ["complete"] * 4
    assert all(epochs_of(runs.find(one.run_id).path) == [1, 2, 3] for one in again)


def test_a_sweep_that_is_resumed_does_not_wait_for_its_own_trials(
    stop_in_second_trial: Callable[[str], None],
) -> None:
    sweep = sweeps.create(light_config())
    stop_in_second_trial(sweep.id)
    left = sweeps.trials_of(work(sweep.id))[1].run_id
    runs.requeue(left)  # As its Resume on Runs does; its worker is about to begin.
    requeue(sweep.id)
    assert [job.id for job in in_order()] == [sweep.id]
    began = time.monotonic()
    assert work(sweep.id).state == "finished"
    assert time.monotonic() - began < 20


def test_a_trial_whose_run_is_stopped_by_hand_is_left_and_the_search_goes_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    begun: list[str] = []

    def training(run_id: str, *args: Any, **more: Any) -> runs.Run:
        begun.append(run_id)
        if len(begun) == 2:
            (runs.find(run_id).path / "stop").touch()
        return train_lightly(run_id, *args, **more)

    monkeypatch.setattr(runs, "work", training)
    trials = sweeps.trials_of(work(sweeps.create(light_config()).id))
    assert [one.state for one in trials] == ["complete", "pruned", "complete", "complete"]
    assert trials[1].message == "Its run was stopped by hand."


def test_an_enlarged_sweep_makes_so_many_trials_more(search: Search) -> None:
    sweep = search()
    before = sweeps.trials_of(sweep)
    with pytest.raises(RunError, match="all its trials have ended"):
        requeue(sweep.id)
    assert enlarged(sweep.id, 2).config.trials == 6
    requeue(sweep.id)
    sweep = work(sweep.id)
    assert sweep.status.trials == sweep.status.done == 6
    assert sweeps.trials_of(sweep)[:4] == before
    drawn = [one.params["learning_rate"] for one in sweeps.trials_of(sweep)]
    assert len(set(drawn)) == 6  # not drawn again from the beginning


def test_only_what_can_be_enlarged_is(search: Search) -> None:
    with pytest.raises(RunError, match="is a grid"):
        enlarged(search(space="momentum=0.8,0.9", sampler="grid").id, 2)
    with pytest.raises(ConfigError, match="at least one trial"):
        enlarged(search().id, 0)


def test_trials_that_fail_one_after_the_other_end_the_search(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def failing(*args: Any) -> Outcome:
        raise RuntimeError("no room for it")

    monkeypatch.setattr(light, "_epochs", failing)
    sweep = work(sweeps.create(light_config(trials=9)).id)
    trials = sweeps.trials_of(sweep)
    assert sweep.state == "failed"
    assert [one.state for one in trials] == ["failed"] * 3
    assert sweep.message.startswith("3 trials failed one after the other")
    assert "no room for it" in capfd.readouterr().err
    assert "no room for it" in (runs.find(trials[0].run_id).path / "log.txt").read_text()


def test_a_sweep_is_listed_and_its_runs_outlive_it(search: Search) -> None:
    first, second = search(trials=2), search(trials=2)
    assert [one.id for one in sweeps.list_sweeps()] == [second.id, first.id]
    assert len(runs.list_runs()) == 4
    assert not runs.unreadable()
    with held_by_a_worker(first.path), pytest.raises(RunError, match="is still active"):
        sweeps.delete(first.id)
    sweeps.delete(first.id)
    assert [one.id for one in sweeps.list_sweeps()] == [second.id]
    assert len(runs.list_runs()) == 4
    with pytest.raises(UnknownRunError):
        sweeps.find(first.id)
    with pytest.raises(UnknownRunError, match="is no sweep"):
        sweeps.find(runs.list_runs()[0].id)


def test_one_that_has_ended_has_nothing_to_do(search: Search) -> None:
    with pytest.raises(RunError, match="is finished: there is nothing to do"):
        work(search().id)
