"""A race on this machine: real processes, short turns; and what is made of its figures."""

import json
import math
from dataclasses import asdict, replace
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from ensemble import runs
from ensemble.cli.machine import tabulate_race
from ensemble.cli.program import main
from ensemble.config import EnsembleConfig
from ensemble.errors import ConfigError, RunError
from ensemble.jobs.folders import machine_folder, race_folder
from ensemble.jobs.queue import list_jobs_ahead
from ensemble.machine.bfloat16_plans import Bfloat16Plan, PlanKey, save_bfloat16_plan
from ensemble.race import RaceConfig, queue_race, read_race_job, run_race_worker, stop_race
from ensemble.race.race_runner import compute_loss_differences, rotate_competitors
from ensemble.race.results import TOLERANCES, Race, read_races, write_race

TINY = RaceConfig(members_up_to=2, rounds=1, slice_seconds=0.05, batch_size=64)
RACE = Race(
    created=1.7e9,
    seconds=90.0,
    host="here",
    processor="A processor",
    cores=2,
    memory_bytes=2**34,
    fast_bfloat16=False,
    platform="cpu",
    devices=2,
    device_kind="cpu",
    packages={"jax": "0.10.2"},
    settings=TINY.as_dict(),
    absent={"bfloat16": "It has no units."},
    rates={
        "float32": {1: 1000.0, 2: 2000.0, 4: 2100.0},
        "howto": {1: 500.0, 2: 400.0},
        "one_by_one": {1: 1010.0, 2: 1000.0, 4: 1000.0},
    },
    differences={"float32": 1e-6, "one_by_one": 1e-6},
)


@pytest.fixture
def data_of_one_test(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A data folder with nothing in it."""
    monkeypatch.setenv("ENSEMBLE_DATA", str(tmp_path / "data"))


@pytest.mark.long
@pytest.mark.usefixtures("data_of_one_test", "two_devices_a_worker")
def test_all_race_and_learn_the_same() -> None:
    # As if it had been measured: else a competitor would, for as long as all of them race.
    save_bfloat16_plan(PlanKey("cnn", 0, (28, 28, 1)), Bfloat16Plan("bfloat16", "bfloat16", 1.1))
    words = "--dataset digits --members-from 2 --members-up-to 2 --rounds 1 --slice-seconds 0.05 --batch-size 128"
    done = CliRunner().invoke(main, ["race", *words.split(), "--json"])
    log = race_folder() / "log.txt"
    assert done.exit_code == 0, (done.output, log.read_text() if log.exists() else "")
    (race,) = read_races()
    assert {name: set(rates) for name, rates in race.rates.items()} == {name: {2} for name in race.rates}
    assert {"float32", "howto", "one_by_one"} <= set(race.rates)
    assert ("bfloat16" in race.absent) == ("bfloat16" not in race.rates)
    for name, limit in TOLERANCES.items():
        if name in race.rates:
            assert 0 <= race.differences[name] <= limit
    assert (race.platform, race.devices) == ("cpu", 2)
    job = read_race_job()
    assert job is not None
    assert (job.state, job.status.progress > 0.5) == ("finished", True)
    found = json.loads(done.stdout)
    assert found["rates"]["howto"]["2"] == race.rates["howto"][2]


@pytest.mark.usefixtures("data_of_one_test")
def test_it_waits_its_turn_is_there_once_and_stops() -> None:
    run = runs.create_run(EnsembleConfig())
    job = queue_race(TINY)
    assert [one.id for one in list_jobs_ahead(job)] == [run.id]
    later = runs.create_run(EnsembleConfig())
    assert [one.id for one in runs.list_jobs_ahead(later)] == [run.id, "race"]
    with pytest.raises(RunError, match="already"):
        queue_race(TINY)
    assert stop_race()
    assert run_race_worker().state == "stopped"
    assert not stop_race(), "too late is no error"
    assert read_races() == []


@pytest.mark.usefixtures("data_of_one_test")
def test_one_whose_process_is_gone_is_seen_as_dead() -> None:
    job = queue_race(TINY)
    status = replace(job.status, state="racing", pid=2**22 + 1, host="")
    (race_folder() / "status.json").write_text(json.dumps(asdict(replace(status, updated=1.0))))
    found = read_race_job()
    assert found is not None
    assert (found.state, found.active) == ("failed", False)
    assert "killed" in found.message


@pytest.mark.usefixtures("data_of_one_test")
def test_what_it_found_is_kept_and_what_cannot_be_read_is_left_out() -> None:
    path = write_race(RACE)
    assert path.stat().st_size < 1500
    (machine_folder() / "race-damaged.json").write_text(path.read_text()[:200])
    negative = json.loads(path.read_text())
    negative["rates"]["howto"]["1"] = -3
    (machine_folder() / "race-negative.json").write_text(json.dumps(negative))
    whole = json.loads(path.read_text())
    odd: list[dict[str, Any]] = [{name: swap} for name in whole for swap in (None, [[1]], 1e309)]
    odd += [
        {"rates": {"howto": {}}},
        {"rates": {"howto": {"0": 1.0}}},
        {"rates": {"howto": [1]}},
        {"absent": {"nobody": "Why?"}},
        {"differences": {"howto": "x"}},
        {"created": -1},
        {"settings": {"dataset": 3}},
        {"packages": {"jax": 1}},
    ]
    for number, changes in enumerate(odd):
        damaged = machine_folder() / f"race-odd-{number}.json"
        damaged.write_text(json.dumps(whole | changes))
    assert read_races() == [RACE]


def test_the_break_even_is_where_it_is_ahead_for_good() -> None:
    assert RACE.find_lead("float32", "one_by_one") == 2
    assert RACE.find_lead("float32", "howto") == 1
    assert RACE.find_lead("howto", "one_by_one") is None
    assert RACE.compute_speed_ratios("float32", "howto") == {1: 2.0, 2: 5.0}
    falls = replace(RACE, rates={**RACE.rates, "float32": {1: 9000.0, 2: 9000.0, 4: 900.0}})
    assert falls.find_lead("float32", "one_by_one") is None


def test_a_speed_is_told_for_the_nearest_number_of_members() -> None:
    assert [RACE.find_rate("float32", members) for members in (1, 3, 64)] == [1000.0, 2000.0, 2100.0]
    assert RACE.find_rate("bfloat16", 4) is None


def test_the_gain_of_bfloat16_is_the_median_and_counts_only_where_it_learns_the_same() -> None:
    assert RACE.bfloat16_gain is None
    raced = replace(RACE, rates={**RACE.rates, "bfloat16": {1: 3000.0, 2: 2400.0, 4: 4200.0}})
    assert raced.bfloat16_gain == pytest.approx(2.0)  # of 3.0, 1.2 and 2.0
    assert replace(raced, differences={"bfloat16": 0.06}).bfloat16_gain is None


def test_a_race_in_lines_has_each_rate_under_its_number_of_members() -> None:
    head, *rows = tabulate_race(RACE)
    assert head.split() == ["img·member/s", "M", "=", "1", "M", "=", "2", "M", "=", "4"]
    assert [row.split() for row in rows[:3]] == [
        ["float32", "1,000", "2,000", "2,100"],
        ["howto", "500", "400", "–"],
        ["one_by_one", "1,010", "1,000", "1,000"],
    ]
    assert rows[3:] == ["bfloat16: It has no units."]
    assert {len(row) for row in [head, *rows[:3]]} == {len(head)}


def test_whoever_learns_something_else_is_not_compared() -> None:
    truth = np.full((5, 4), 2.0)
    wrong = truth.copy()
    wrong[3, 1] *= 1.02
    lost = truth.copy()
    lost[0, 0] = math.nan
    endless = truth.copy()
    endless[0, 0] = math.inf
    found = compute_loss_differences(
        {
            ("howto", 2): truth[:, :2] * 9,
            ("howto", 4): truth,
            ("float32", 1): truth[:, :1],
            ("float32", 8): np.tile(wrong, 2),
            ("bfloat16", 4): lost,
            ("one_by_one", 4): truth,
            ("bfloat16", 2): endless,
        }
    )
    assert found["float32"] == pytest.approx(0.02, rel=0.01)
    assert found["one_by_one"] == 0.0
    assert math.isfinite(found["bfloat16"]), "JSON has no infinity"
    race = replace(RACE, differences=found)
    assert [race.agrees_with_howto(name) for name in TOLERANCES] == [False, True, False]


def test_nobody_always_follows_the_same() -> None:
    every: Any = list("abc")
    assert [str(rotate_competitors(every, number)[0]) for number in range(4)] == ["a", "b", "c", "a"]


def test_settings_have_ranges() -> None:
    assert RaceConfig(members_up_to=8).members == (1, 2, 4, 8)
    assert RaceConfig(members_up_to=5).members == (1, 2, 4)
    with pytest.raises(ConfigError, match="further apart"):
        RaceConfig(members_from=5, members_up_to=7)
    with pytest.raises(ConfigError, match="it has to be"):
        RaceConfig(slice_seconds=0.0)
