"""A worker killed at any moment: no trial is lost, none is done twice."""

import os
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ensemble import runs, sweeps
from ensemble.jobs.status import write_status
from ensemble.sweeps import claims, study, training
from ensemble.sweeps.claims import TrialClaim, claim_trial
from ensemble.sweeps.storages import open_journal
from ensemble.sweeps.study import SweepStudy
from ensemble.sweeps.worker import work_on_sweep
from tests.sweeps import light
from tests.sweeps.kills import Killed, kill_after, killed
from tests.sweeps.light import epochs_of, light_config, nll

KILLS: dict[str, tuple[Any, str, bool, Callable[..., bool]]] = {
    "asked for": (SweepStudy, "ask_trial", False, lambda self: len(self.study.trials) == 1),
    "asked for, without values": (SweepStudy, "suggest_params", True, lambda *args: len(args) == 2),
    "its run made": (claims.runs, "create_run", False, lambda *args, **more: True),
    "its run known": (SweepStudy, "set_trial_attributes", False, lambda *args, **notes: "run" in notes),
    "claimed": (SweepStudy, "set_trial_attributes", False, lambda *args, **notes: "owner" in notes),
    "after an epoch": (light, "append_line", False, lambda path, line: line["epoch"] == 2),
    "trained": (training, "record_trial_result", True, lambda *args: True),
    "told": (SweepStudy, "finish_trial", False, lambda *args: True),
}


@pytest.mark.parametrize("kill", KILLS)
def test_a_worker_killed_at_any_moment_costs_no_trial_and_doubles_none(
    kill: str, a_dead_owner: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    sweep = sweeps.create_sweep(light_config(trials=3))
    place, name, before, when = KILLS[kill]
    kill_after(monkeypatch, place, name, before, when)
    with killed():
        work_on_sweep(sweep.id)
    a_dead_owner()
    sweep = work_on_sweep(sweep.id)
    trials = sweeps.read_trials(sweep)
    assert [one.state for one in trials] == ["complete"] * 3
    assert sweep.state == "finished"
    assert {one.run_id for one in trials} == {run.id for run in runs.list_runs()}
    assert len({one.run_id for one in trials}) == 3
    for one in trials:
        run = runs.find_run(one.run_id)
        assert epochs_of(run.path) == [1, 2, 3]
        assert one.values == (nll(runs.require_training_config(run), 3),)


@pytest.mark.parametrize("sampler", ["random", "tpe"])
@pytest.mark.parametrize(
    ("place", "name", "before", "when"),
    [
        (SweepStudy, "suggest_params", True, lambda self, trial: trial.number == 1),
        (study, "_suggest_param", False, lambda trial, name, axis: trial.number == 1),
    ],
    ids=["without values", "with one of two"],
)
def test_a_trial_that_was_cut_off_as_it_was_asked_for_gets_the_values_it_would_have_got(
    place: Any,
    name: str,
    before: bool,
    when: Callable[..., bool],
    sampler: str,
    search: Callable[..., sweeps.Sweep],
    a_dead_owner: Callable[[], None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    space = "learning_rate=0.01..0.3 momentum=0.5..0.9"
    config = light_config(space=space, trials=3, sampler=sampler)
    undisturbed = [one.params for one in sweeps.read_trials(search(**vars(config)))]
    sweep = sweeps.create_sweep(config)
    kill_after(monkeypatch, place, name, before, when)
    with killed():
        work_on_sweep(sweep.id)
    a_dead_owner()
    assert [one.params for one in sweeps.read_trials(work_on_sweep(sweep.id))] == undisturbed


def test_a_trial_whose_workers_are_killed_again_and_again_is_given_up(
    a_dead_owner: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    sweep = sweeps.create_sweep(light_config(trials=2))
    real = runs.execute_run

    def deadly(run_id: str, *args: Any, **more: Any) -> runs.Run:
        if sweeps.read_trials(sweep)[0].run_id == run_id:
            raise Killed
        return real(run_id, *args, **more)

    monkeypatch.setattr(runs, "execute_run", deadly)
    for _ in range(claims.MAX_TRIAL_ATTEMPTS):
        with killed():
            work_on_sweep(sweep.id)
    sweep = work_on_sweep(sweep.id)
    first, second = sweeps.read_trials(sweep)
    assert (first.state, second.state) == ("failed", "complete")
    assert first.message == "Its worker was killed 3 times: see the log of its run."


def test_a_trial_whose_run_was_deleted_has_failed(
    a_dead_owner: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    sweep = sweeps.create_sweep(light_config(trials=2))
    kill_after(monkeypatch, training, "record_trial_result", before=True)
    with killed():
        work_on_sweep(sweep.id)
    runs.delete_run(sweeps.read_trials(sweep)[0].run_id)
    first, second = sweeps.read_trials(work_on_sweep(sweep.id))
    assert (first.state, first.message) == ("failed", "Its run was deleted.")
    assert second.state == "complete"


def test_a_journal_cut_off_within_a_line_is_read_and_written_on(tmp_path: Path) -> None:
    import optuna

    path = tmp_path / "journal.log"
    created = optuna.create_study(storage=open_journal(path), study_name="one")
    created.ask()
    whole = path.read_bytes()
    created.ask()
    path.write_bytes(whole + b'{"op_code":4,"wor')
    again = optuna.load_study(study_name="one", storage=open_journal(path))
    asked = again.ask()
    read = optuna.load_study(study_name="one", storage=open_journal(path))
    assert [one.number for one in read.trials] == [0, asked.number] == [0, 1]


def of_another_host(state: str, heard: float) -> tuple[sweeps.Sweep, SweepStudy, claims.TrialClaim]:
    """A sweep of one trial, whose run stands so as a worker on another machine wrote it."""
    sweep = sweeps.create_sweep(light_config(trials=1))
    archive = SweepStudy(sweep.id, sweep.path, sweep.config)
    claimed = claims.claim_trial(sweep, archive)
    assert isinstance(claimed, claims.TrialClaim)
    elsewhere = {"host": "another", "pid": 1}
    archive.set_trial_attributes(claimed.trial, owner={**elsewhere, "ticks": 7})
    run = runs.find_run(claimed.run_id)
    write_status(run.path, replace(run.status, state=state, updated=heard, **elsewhere))
    os.utime(run.status_file, (heard, heard))
    return sweep, archive, claimed


def test_a_trial_on_another_host_is_left_to_it_while_its_run_is_heard_of() -> None:
    """No process of this host can be asked: the run's heartbeat tells."""
    sweep, archive, claimed = of_another_host("training", time.time())
    assert claims.has_trial_worker(archive.read_trial(claimed.trial), runs.find_run(claimed.run_id))
    assert claims.claim_trial(sweep, archive) == claims.NoTrial(all_ended=False)


def test_a_trial_on_another_host_is_left_to_it_as_it_goes_from_one_training_to_the_next() -> None:
    """Its run has finished just now: whoever did that is about to record it, or to go on."""
    sweep, _, _ = of_another_host("finished", time.time())
    assert claims.claim_trial(sweep, SweepStudy(sweep.id, sweep.path, sweep.config)) == (
        claims.NoTrial(all_ended=False)
    )


def test_a_trial_on_another_host_whose_clock_is_an_hour_off_is_left_to_it() -> None:
    sweep, archive, claimed = of_another_host("training", time.time() - 3600)
    os.utime(runs.find_run(claimed.run_id).status_file)
    assert claims.claim_trial(sweep, archive) == claims.NoTrial(all_ended=False)


@pytest.mark.parametrize(("state", "heard"), [("training", 1.0), ("stopped", time.time())], ids=["training", "stopped"])
def test_a_trial_on_another_host_is_taken_up_where_nobody_is_at_it_any_more(state: str, heard: float) -> None:
    sweep, archive, claimed = of_another_host(state, heard)
    trial = archive.read_trial(claimed.trial)
    assert not claims.has_trial_worker(trial, runs.find_run(claimed.run_id))
    assert not claims.has_trial_worker(trial, None), "its run was never made, or is deleted"
    again = claims.claim_trial(sweep, archive)
    assert isinstance(again, claims.TrialClaim)
    assert (again.run_id, again.trial.number) == (claimed.run_id, 0)


def test_a_process_of_this_host_that_has_this_number_now_is_not_the_owner() -> None:
    sweep = sweeps.create_sweep(light_config(trials=1))
    archive = SweepStudy(sweep.id, sweep.path, sweep.config)
    claimed = claims.claim_trial(sweep, archive)
    assert isinstance(claimed, claims.TrialClaim)
    run = runs.find_run(claimed.run_id)
    assert claims.has_trial_worker(archive.read_trial(claimed.trial), run), "it is this process"
    archive.set_trial_attributes(claimed.trial, owner={**claims.build_owner_record(), "ticks": 1})
    assert not claims.has_trial_worker(archive.read_trial(claimed.trial), run)


def test_many_workers_at_once_claim_every_trial_exactly_once() -> None:
    sweep = sweeps.create_sweep(light_config(trials=96))

    def claim_all(worker: int) -> list[int]:
        archive, numbers = SweepStudy(sweep.id, sweep.path, sweep.config), []
        while isinstance(claim := claim_trial(sweep, archive), TrialClaim):
            numbers.append(claim.trial.number)
        return numbers

    with ThreadPoolExecutor(48) as workers:
        claimed = list(workers.map(claim_all, range(48)))
    assert sorted(number for numbers in claimed for number in numbers) == list(range(96))
    runs_of_trials = [trial.run_id for trial in sweeps.read_trials(sweep)]
    assert len(set(runs_of_trials)) == len(runs.list_runs()) == 96
