"""A sweep's settings: what fits together, what they come to on the disk and back."""

import json
from dataclasses import replace

import pytest

from ensemble import sweeps
from ensemble.config import EnsembleConfig
from ensemble.errors import ConfigError
from ensemble.jobs.placement import Placement
from ensemble.sweeps.settings import STORAGE_VARIABLE, SweepConfig, read_storage_kind

BASE = EnsembleConfig(network="logistic", members=2, epochs=3, validation=0.2)


def test_settings_come_back_from_json_as_they_were() -> None:
    config = SweepConfig(space="members=2..4 network=mlp,logistic", objectives="nll,seconds", base=BASE)
    assert SweepConfig.from_disk(json.loads(json.dumps(config.as_dict()))) == config


def test_a_trials_settings_are_those_shared_with_its_own_in_their_place() -> None:
    config = SweepConfig(space="members=2..4 momentum=0.8,0.9", base=BASE)
    assert config.build_trial_config({"members": 3, "momentum": 0.8}) == replace(BASE, members=3, momentum=0.8)


def test_repeats_of_a_trial_differ_in_the_seed_alone() -> None:
    config = SweepConfig(space="momentum=0.8,0.9", repeats=3, base=replace(BASE, seed=2**31 - 2))
    trainings = [config.build_trial_config({"momentum": 0.8}, repeat) for repeat in range(3)]
    assert [one.seed for one in trainings] == [2**31 - 2, 2**31 - 1, 0], "the highest seed is there"
    assert {replace(one, seed=0) for one in trainings} == {replace(BASE, momentum=0.8)}


def test_a_sweep_written_down_before_there_were_repeats_has_one_of_each() -> None:
    values = SweepConfig(space="momentum=0.8,0.9", repeats=3, base=BASE).as_dict()
    assert values.pop("repeats") == 3
    assert SweepConfig.from_disk(values).repeats == 1
    assert SweepConfig.from_dict(values) == SweepConfig.from_disk(values)


def test_a_sweep_has_1024_workers_on_a_cluster_and_64_on_one_machine() -> None:
    config = SweepConfig(workers=1024, base=BASE)
    assert sweeps.create_sweep(config, Placement("slurm", {})).config.workers == 1024
    with pytest.raises(ConfigError, match="a sweep on one machine has at most 64: choose fewer, or a cluster"):
        sweeps.create_sweep(config)
    with pytest.raises(ConfigError, match="1,024"):
        SweepConfig(workers=1025, base=BASE)


def test_a_grid_wants_a_trial_for_each_combination_whatever_was_said() -> None:
    assert SweepConfig(space="members=2..4 momentum=0.8,0.9", sampler="grid", trials=2, base=BASE).trial_count == 6


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"space": ""}, "space is ''"),
        ({"study": ["a"]}, "study is ..a..: its name"),
        ({"study": "\ud800"}, "its name has letters"),
        ({"objectives": "nll,loss"}, "objectives is 'nll,loss'"),
        ({"objectives": "nll,nll"}, "name each once"),
        ({"objectives": "nll,seconds", "pruner": "median"}, "choose one objective"),
        ({"objectives": "seconds", "pruner": "median"}, "judges epochs by one objective"),
        ({"base": replace(BASE, validation=0.0)}, "no held-out examples to choose settings by"),
        ({"base": replace(BASE, vary="momentum=0.8,0.9")}, "in both space and vary"),
        ({"space": "width=32,64"}, "has no width to set"),
        ({"space": "momentum=0.8..0.9", "sampler": "grid"}, "A grid needs a list of values"),
        ({"trials": 0}, "trials is 0"),
        ({"repeats": 0}, "repeats is 0"),
        ({"repeats": 11}, "repeats is 11"),
        ({"space": "seed=0,1", "repeats": 2}, "leave seed out of space"),
    ],
)
def test_settings_that_do_not_fit_are_refused_in_a_sentence(changes: dict[str, object], said: str) -> None:
    given = {"space": "momentum=0.8,0.9", "base": BASE, **changes}
    with pytest.raises(ConfigError, match=said):
        SweepConfig(**given)  # type: ignore[arg-type]


@pytest.mark.parametrize("values", [{"base": []}, {"base": {"rate": 1}}, {"spaces": ""}, {"base": None}])
def test_odd_settings_on_the_disk_are_refused(values: dict[str, object]) -> None:
    with pytest.raises(ConfigError, match=r"no such settings|No such setting"):
        SweepConfig.from_disk(values)


def test_the_storage_is_the_one_that_the_environment_names(monkeypatch: pytest.MonkeyPatch) -> None:
    words = {"": "sqlite", "sqlite": "sqlite", "journal": "journal", "postgresql://h/d": "database"}
    for stated, word in words.items():
        monkeypatch.setenv(STORAGE_VARIABLE, stated)
        assert read_storage_kind() == word
    monkeypatch.setenv(STORAGE_VARIABLE, "postgres")
    with pytest.raises(ConfigError, match="address of a database"):
        read_storage_kind()
