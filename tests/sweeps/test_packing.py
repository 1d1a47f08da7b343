"""Trials that differ in numbers of their members alone are trained in one program."""

from collections.abc import Callable
from typing import Any

import pytest

from ensemble import runs, sweeps
from ensemble.config import EnsembleConfig
from ensemble.engine import Trainer
from ensemble.machine.packed_lanes import count_accelerator_lanes, count_cpu_lanes
from ensemble.runs.training import packed_training
from ensemble.runs.training.worker import execute_run as train
from ensemble.storage.atomic_files import read_json
from ensemble.sweeps import training
from ensemble.sweeps.training import compute_pack_size
from ensemble.sweeps.worker import work_on_sweep
from tests.sweeps.kills import Killed, killed
from tests.sweeps.light import light_config

BASE = EnsembleConfig(network="logistic", members=2, epochs=3, batch_size=50, devices=1, validation=0.1)


@pytest.fixture
def packs(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Trials are trained for good, two at once where they may be; how many runs each pack had."""
    sizes: list[int] = []
    real = packed_training.train_packed_runs

    def work_(run_ids: list[str], *args: Any) -> list[runs.Run | None]:
        sizes.append(len(run_ids))
        return real(run_ids, *args)

    monkeypatch.setattr(runs, "execute_run", train)
    monkeypatch.setattr(training, "count_packed_lanes", lambda config: 4)
    monkeypatch.setattr(packed_training, "train_packed_runs", work_)
    return sizes


def searched(space: str, **changes: Any) -> sweeps.Sweep:
    config = light_config(space=space, sampler="grid", base=BASE, **changes)
    return work_on_sweep(sweeps.create_sweep(config).id)


def alone(trial: sweeps.Trial) -> runs.Run:
    """A run of a trial's settings, trained by itself."""
    return train(runs.create_run(runs.require_training_config(runs.find_run(trial.run_id))).id, turn=False)


@pytest.mark.long
def test_trials_of_a_pack_are_ordinary_runs_that_come_to_what_they_come_to_alone(packs):
    sweep = searched("learning_rate=0.01,0.1 momentum=0,0.9")
    trials = sweeps.read_trials(sweep)
    assert packs == [2, 2]
    assert [one.state for one in trials] == ["complete"] * 4
    for trial in (trials[0], trials[3]):
        run, wanted = runs.find_run(trial.run_id), alone(trial)
        assert (run.state, run.tags) == ("finished", (sweep.id,))
        assert trial.values == pytest.approx((wanted.status.best_ensemble_validation_nll,))
        assert run.status.best_epoch == wanted.status.best_epoch
        assert read_json(run.path / "devices.json")["runs"] == 2
    assert sweep.status.done == 4


@pytest.mark.long
def test_one_of_a_pack_is_pruned_and_the_other_goes_on(packs):
    # Four that learn, to compare with; then one that is better, and one that hardly learns.
    rates = "learning_rate=0.01,0.011,0.012,0.013,0.03,0.0001"
    sweep = searched(f"{rates} momentum=0", pruner="median")
    trials = sweeps.read_trials(sweep)
    assert packs == [2, 2, 2]
    assert [one.state for one in trials[:5]] == ["complete"] * 5
    assert [trials[5].state, runs.find_run(trials[5].run_id).state] == ["pruned", "stopped"]
    assert trials[5].message == runs.find_run(trials[5].run_id).message
    assert trials[5].message.startswith("Pruned after epoch 1 of 3")
    assert list(trials[5].epochs) == [1]


@pytest.mark.long
def test_a_pack_that_is_stopped_goes_on_trial_by_trial_and_loses_nothing(packs, monkeypatch):
    config = light_config(space="learning_rate=0.01,0.1", sampler="grid", base=BASE)
    sweep, real = sweeps.create_sweep(config), Trainer.evaluate

    def evaluate(self: Trainer, *args: Any) -> Any:
        sweeps.request_sweep_stop(sweep.id)
        monkeypatch.setattr(Trainer, "evaluate", real)
        return real(self, *args)

    monkeypatch.setattr(Trainer, "evaluate", evaluate)
    assert work_on_sweep(sweep.id).state == "stopped"
    trials = sweeps.read_trials(sweep)
    assert [one.state for one in trials] == ["waiting"] * 2
    assert all(runs.find_run(one.run_id).state == "stopped" for one in trials)
    sweeps.store.requeue_sweep(sweep.id)
    assert work_on_sweep(sweep.id).state == "finished"
    again = sweeps.read_trials(sweep)
    assert packs == [2]
    assert [one.run_id for one in again] == [one.run_id for one in trials]
    assert again[1].values == pytest.approx((alone(again[1]).status.best_ensemble_validation_nll,))


@pytest.mark.long
def test_trials_of_a_pack_whose_worker_is_killed_are_each_taken_up(
    packs, a_dead_owner: Callable[[], None], monkeypatch
):
    config = light_config(space="learning_rate=0.01,0.1", sampler="grid", base=BASE)
    sweep, real, calls = sweeps.create_sweep(config), Trainer.train, list[int]()

    def train_(self: Trainer, state: Any, epoch: int, *args: int) -> Any:
        if epoch == 2:
            calls.append(epoch)
            raise Killed
        return real(self, state, epoch, *args)

    monkeypatch.setattr(Trainer, "train", train_)
    with killed():
        work_on_sweep(sweep.id)
    assert calls == [2]
    monkeypatch.setattr(Trainer, "train", real)
    a_dead_owner()
    assert work_on_sweep(sweep.id).state == "finished"
    trials = sweeps.read_trials(sweep)
    assert [one.state for one in trials] == ["complete"] * 2
    assert len({one.run_id for one in trials} | {one.id for one in runs.list_runs()}) == 2
    for one in trials:
        assert one.values == pytest.approx((alone(one).status.best_ensemble_validation_nll,))


def test_trials_that_fail_in_a_pack_are_tried_again_alone(packs, monkeypatch, capfd):
    real = Trainer.start

    def start(self: Trainer, *args: Any) -> Any:
        if len(self.numbers) > BASE.members:
            raise MemoryError
        return real(self, *args)

    monkeypatch.setattr(Trainer, "start", start)
    trials = sweeps.read_trials(searched("learning_rate=0.01,0.1"))
    assert [one.state for one in trials] == ["complete"] * 2
    assert packs == [2]


@pytest.mark.parametrize(
    ("changes", "begun", "expected"),
    [
        ({}, 0, 6),  # twelve in two packs of one size, not eight and four
        ({}, 6, 6),
        ({"sampler": "tpe"}, 0, 4),
        ({"pruner": "median"}, 0, 4),
        ({"workers": 4}, 0, 3),
        ({"objectives": "nll,seconds"}, 0, 1),
        ({"space": "learning_rate=0.1,0.2 batch_size=50,100"}, 0, 1),
    ],
    ids=str,
)
def test_how_many_trials_are_taken_at_once(changes, begun, expected):
    given = {"space": "learning_rate=0.1..0.2", "trials": 12, **changes}
    assert compute_pack_size(light_config(**given), begun, lanes=16) == expected
    assert compute_pack_size(light_config(**given), begun, lanes=2) == 1


def test_packs_are_made_where_cores_would_idle_or_networks_are_small_and_memory_has_room():
    cnn = EnsembleConfig(network="cnn", members=2)
    much = 64e9
    assert count_cpu_lanes(cnn, 2, much) == 2
    assert count_cpu_lanes(cnn, 4, much) == 16
    assert count_cpu_lanes(BASE, 2, much) == 16
    assert count_cpu_lanes(EnsembleConfig(network="mlp", members=3), 2, much) == 15
    assert count_cpu_lanes(cnn, 4, 1e9) == 2
    assert 2 < count_cpu_lanes(cnn, 4, 1.4e9) < 16
    assert count_accelerator_lanes(cnn, much) == 64
    assert count_accelerator_lanes(EnsembleConfig(network="resnet", members=2), much) == 2
