"""Eight processes work on one sweep, some of them killed: for each storage that there is."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from ensemble import runs, sweeps
from ensemble.errors import RunError
from ensemble.sweeps.settings import STORAGE_VARIABLE
from tests.conftest import variant
from tests.services.postgres import USER, AbsentError, cluster
from tests.sweeps.light import epochs_of, light_config, nll

REPO = Path(__file__).resolve().parents[2]
WORKERS, KILLED = 8, 3
SPACE = "learning_rate=0.05,0.1,0.2,0.3 momentum=0.8,0.9 members=2,3"  # 16 combinations
PATIENCE_SECONDS = 240


@pytest.fixture(scope="module")
def postgres() -> Iterator[str]:
    """The address of a real database."""
    with ExitStack() as stack:
        try:
            database = stack.enter_context(cluster())
        except AbsentError as reason:
            pytest.skip(f"PostgreSQL is not tested: {reason}")
        yield database.address


@pytest.fixture(params=[variant("sqlite"), "journal", "database"])
def storage(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """A storage, which the environment names."""
    word = str(request.param)
    address = request.getfixturevalue("postgres") if word == "database" else word
    monkeypatch.setenv(STORAGE_VARIABLE, address)
    return address


def a_worker(sweep: sweeps.Sweep, pause: float = 0.15) -> "subprocess.Popen[bytes]":
    """A process that does trials whose runs learn in no time but that of a short sleep."""
    with open(sweep.path / "log.txt", "ab") as log:
        return subprocess.Popen(
            [sys.executable, "-m", "tests.sweeps.light", sweep.id, str(pause)],
            cwd=REPO,
            stdout=log,
            stderr=log,
            stdin=subprocess.DEVNULL,
            env={**os.environ},
        )


def wait_for(count: int, sweep: sweeps.Sweep) -> list[sweeps.Trial]:
    """The trials, once so many have begun."""
    end = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < end:
        trials = sweeps.read_trials(sweep)
        if sum(one.state in ("running", "complete") for one in trials) >= count:
            return trials
        time.sleep(0.1)
    raise AssertionError((sweep.path / "log.txt").read_text()[-3000:])


@pytest.mark.parametrize("repeats", [1, 3])
def test_eight_processes_three_of_them_killed_lose_no_trial_and_double_none(storage: str, repeats: int) -> None:
    sweep = sweeps.create_sweep(light_config(space=SPACE, sampler="grid", repeats=repeats))
    workers = [a_worker(sweep) for _ in range(WORKERS)]
    wait_for(6, sweep)
    leader = sweeps.find_sweep(sweep.id).status.pid
    workers.sort(key=lambda one: one.pid != leader)  # The one that keeps the status goes first.
    for number, worker in enumerate(workers[:KILLED]):
        wait_for(8 + 2 * number, sweep)
        worker.send_signal(signal.SIGKILL)
    for worker in workers:
        worker.wait(PATIENCE_SECONDS)
    log = (sweep.path / "log.txt").read_text()
    sweep = sweeps.find_sweep(sweep.id)
    trials = sweeps.read_trials(sweep)
    assert workers[0].pid == leader
    assert (sweep.state, sweep.status.done) == ("finished", 16), log
    assert [one.state for one in trials] == ["complete"] * 16, log
    assert len({tuple(one.params.items()) for one in trials}) == 16
    assert {run_id for one in trials for run_id in one.run_ids} == {run.id for run in runs.list_runs()}
    assert len(runs.list_runs()) == 16 * repeats
    for one in trials:
        trained = [runs.find_run(run_id) for run_id in one.run_ids]
        assert [run.config.seed for run in trained] == list(range(repeats))
        for run in trained:
            assert epochs_of(run.path) == [1, 2, 3]
            assert one.values == (nll(runs.require_training_config(run), 3),)
    assert "Traceback" not in log
    assert len({runs.find_run(one.run_id).status.pid for one in trials}) >= 4


def test_the_password_of_a_database_is_written_nowhere(
    postgres: str, monkeypatch: pytest.MonkeyPatch, runs_of_one_test: Path
) -> None:
    monkeypatch.setenv(STORAGE_VARIABLE, postgres)
    sweep = sweeps.create_sweep(light_config())
    process = a_worker(sweep)
    process.wait(PATIENCE_SECONDS)
    assert sweeps.find_sweep(sweep.id).state == "finished"
    password = postgres.split(":")[2].split("@")[0].encode()
    files = [file for file in runs_of_one_test.rglob("*") if file.is_file()]
    assert len(files) > 10
    assert [file for file in files if password in file.read_bytes()] == []


@contextmanager
def administration(address: str) -> Iterator[Callable[[str], object]]:
    """Executes SQL on a connection of its own, which stays open."""
    import psycopg

    with psycopg.connect(address.replace("+psycopg", ""), autocommit=True) as connection:
        yield connection.execute


DROP_OTHERS = "select pg_terminate_backend(pid) from pg_stat_activity where pid != pg_backend_pid()"


def assert_nothing_lost(sweep: sweeps.Sweep, count: int) -> None:
    """Each trial is complete, trained once, and told of as it was trained."""
    sweep = sweeps.find_sweep(sweep.id)
    log = (sweep.path / "log.txt").read_text()
    trials = sweeps.read_trials(sweep)
    assert (sweep.state, sweep.status.done) == ("finished", count), log
    assert [one.state for one in trials] == ["complete"] * count, log
    assert {one.run_id for one in trials} == {run.id for run in runs.list_runs()}
    for one in trials:
        run = runs.find_run(one.run_id)
        assert epochs_of(run.path) == [1, 2, 3]
        assert one.values == (nll(runs.require_training_config(run), 3),)


def test_connections_that_are_dropped_again_and_again_lose_no_trial(
    postgres: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(STORAGE_VARIABLE, postgres)
    sweep = sweeps.create_sweep(light_config(trials=9))
    workers = [a_worker(sweep) for _ in range(3)]
    wait_for(1, sweep)
    drops = 0
    with administration(postgres) as execute:
        while any(worker.poll() is None for worker in workers):
            execute(DROP_OTHERS)
            drops += 1
            time.sleep(0.7)
    assert drops >= 3
    assert_nothing_lost(sweep, 9)


def test_a_database_that_is_away_is_waited_for_with_a_word(postgres: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(STORAGE_VARIABLE, postgres)
    sweep = sweeps.create_sweep(light_config(trials=6))
    worker = a_worker(sweep)
    wait_for(2, sweep)
    with administration(postgres) as execute:
        execute(f"alter role {USER} nologin")
        try:
            execute(DROP_OTHERS)
            end = time.monotonic() + PATIENCE_SECONDS
            while not (message := sweeps.find_sweep(sweep.id).message):
                assert time.monotonic() < end, (sweep.path / "log.txt").read_text()
                time.sleep(0.1)
        finally:
            execute(f"alter role {USER} login")
    assert message.startswith("The storage of the trials does not answer (OperationalError)")
    worker.wait(PATIENCE_SECONDS)
    log = (sweep.path / "log.txt").read_text()
    assert "The storage of the trials answers again." in log
    assert_nothing_lost(sweep, 6)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda address: address.replace("sweeper:", "sweeper:not"), "cannot be used"),
        (lambda address: address.rpartition("/")[0] + "/absent", "cannot be used"),
        (lambda address: "nosuch://host/name", "cannot be used"),
        (lambda address: "sqlite:///elsewhere.db", "are not in the database"),
        (lambda address: "", "is not the address of a database"),
    ],
)
def test_a_database_that_is_not_reached_is_said_without_its_address(
    change: object, said: str, postgres: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(STORAGE_VARIABLE, postgres)
    sweep = sweeps.create_sweep(light_config())
    monkeypatch.setenv(STORAGE_VARIABLE, change(postgres))  # type: ignore[operator]
    with pytest.raises(RunError, match=said) as found:
        sweeps.read_trials(sweep)
    assert "127.0.0.1" not in str(found.value)
    assert "sweeper" not in str(found.value)
