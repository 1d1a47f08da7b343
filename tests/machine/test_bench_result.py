"""Results of `ensemble bench`: stored, read back, and chosen for an estimate."""

import json
import socket
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest

from ensemble.config import EnsembleConfig
from ensemble.machine.bench_result import (
    BenchResult,
    create_bench_result,
    find_bench_speed,
    machine_folder,
    read_bench_results,
    write_bench_result,
)
from ensemble.machine.run_estimate import HOWTO_FLOPS, HOWTO_NETWORK, PastRun

BENCH = BenchResult(
    created=1.7e9,
    host="here",
    processor="A processor",
    cores=2,
    fast_bfloat16=False,
    platform="cpu",
    devices=2,
    packages={"jax": "0.10.2"},
    dataset="digits",
    members=4,
    batch_size=128,
    network="cnn",
    width=0,
    work=HOWTO_FLOPS,
    rates={"float32": 2000.0, "bfloat16": 4000.0},
)
# As `ensemble race` of version 1.0 wrote it.
RACE: dict[str, Any] = {
    "schema": 2,
    "created": 1.6e9,
    "seconds": 90.0,
    "host": "here",
    "processor": "A processor",
    "cores": 2,
    "memory_bytes": 2**34,
    "fast_bfloat16": False,
    "platform": "cpu",
    "devices": 2,
    "device_kind": "cpu",
    "packages": {"jax": "0.10.2"},
    "settings": {"dataset": "digits", "members_up_to": 2, "batch_size": 64},
    "rates": {"float32": {"1": 1000.0, "2": 1800.0}, "bfloat16": {"2": 3600.0}, "howto": {"1": 500.0}},
    "differences": {"float32": 1e-6},
    "absent": {},
    "on": "",
}


@pytest.fixture(autouse=True)
def data_of_one_test(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ENSEMBLE_DATA", str(tmp_path / "data"))


def put(name: str, record: object) -> None:
    machine_folder().mkdir(parents=True, exist_ok=True)
    (machine_folder() / name).write_text(json.dumps(record))


def test_a_result_describes_this_machine_and_what_was_trained() -> None:
    config = EnsembleConfig("digits", members=3, batch_size=64)
    made = create_bench_result(config, {"float32": 1.0}, platform="cpu", devices=2, work=5.0)
    assert (made.host, made.members, made.batch_size) == (socket.gethostname(), 3, 64)
    assert (made.dataset, made.network, made.width, made.work, made.rates) == (
        "digits",
        "cnn",
        0,
        5.0,
        {"float32": 1.0},
    )
    write_bench_result(made)
    assert read_bench_results(socket.gethostname()) == [made]


def test_each_host_keeps_its_newest_result_per_number_of_devices_and_members() -> None:
    assert read_bench_results("here") == []
    newer = replace(BENCH, created=1.8e9, rates={"float32": 2100.0, "bfloat16": 4100.0})
    few, elsewhere = replace(BENCH, created=1.9e9, members=1), replace(BENCH, host="there")
    for result in (BENCH, newer, few, elsewhere):
        write_bench_result(result)
    assert read_bench_results("here") == [newer, few]
    assert read_bench_results("there") == [elsewhere]
    assert len(list(machine_folder().iterdir())) == 3


def test_results_that_cannot_be_read_are_left_out() -> None:
    path = write_bench_result(BENCH)
    (machine_folder() / "bench-damaged.json").write_text(path.read_text()[:200])
    whole = asdict(BENCH)
    odd: list[dict[str, Any]] = [{name: swap} for name in whole for swap in (None, [[1]], 1e309)]
    odd += [{"rates": {"float32": rate}} for rate in (-3, 0, "fast", None)]
    odd += [{"created": -1}, {"packages": {"jax": 1}}, {"members": 1.5}]
    for number, changes in enumerate(odd):
        put(f"bench-odd-{number}.json", whole | changes)
    assert read_bench_results("here") == [BENCH]


def test_the_nearest_number_of_members_on_as_many_devices_counts() -> None:
    results = [replace(BENCH, members=members, rates={"float32": 1000.0 * members}) for members in (2, 4)]
    results.append(replace(BENCH, members=8, devices=1))
    found = [find_bench_speed(results, "float32", members, 2) for members in (1, 3, 64)]
    assert [speed and speed.rate for speed in found] == [2000.0, 2000.0, 4000.0]
    assert found[0] == PastRun(2, 2000.0, "here", "float32", HOWTO_FLOPS, HOWTO_NETWORK)
    assert find_bench_speed(results, "bfloat16", 4, 2) is None
    assert find_bench_speed(results, "float32", 4, 3) is None


def test_the_gain_of_bfloat16_needs_both_speeds() -> None:
    assert BENCH.bfloat16_gain == 2.0
    assert replace(BENCH, rates={"float32": 2000.0}).bfloat16_gain is None


def test_a_race_of_an_earlier_version_counts_with_each_number_of_members() -> None:
    put("race-20200913-122640.json", RACE)
    results = read_bench_results("here")
    assert [(result.members, result.rates) for result in results] == [
        (1, {"float32": 1000.0}),
        (2, {"float32": 1800.0, "bfloat16": 3600.0}),
    ]
    assert {(result.network, result.work, result.batch_size) for result in results} == {("cnn", HOWTO_FLOPS, 64)}
    write_bench_result(BENCH)
    assert read_bench_results("here")[-1] == BENCH


@pytest.mark.parametrize(
    "changes",
    [
        {"schema": 1},
        {"on": "slurm"},
        {"settings": None},
        {"settings": {"dataset": 3, "batch_size": 64}},
        {"rates": [1]},
        {"rates": {"float32": [1]}},
        {"rates": {"float32": {"many": 1.0}}},
        {"rates": {"float32": {"1": -1}}},
        {"created": None},
    ],
)
def test_a_race_on_a_cluster_or_a_damaged_one_is_left_out(changes: dict[str, Any]) -> None:
    put("race-odd.json", RACE | changes)
    assert read_bench_results("here") == []
