"""Trials written down as no sweep of ours writes them: a sentence, and no more than that."""

import math
import os
import shutil
import socket
import sqlite3
import traceback
from contextlib import closing
from pathlib import Path
from typing import Any

import optuna
import pytest
from optuna.distributions import CategoricalDistribution as Choices

from ensemble import runs, sweeps
from ensemble.errors import RunError
from ensemble.sweeps.claims import TrialClaim, build_owner_record, claim_trial, release_trial
from ensemble.sweeps.study import SweepStudy, is_valid_trial
from ensemble.sweeps.worker import work_on_sweep
from tests.sweeps.conftest import Search
from tests.sweeps.light import light_config

HERE = socket.gethostname()
ODD = (
    "UPDATE trials SET state='HACKED' WHERE number=1",
    "DROP TABLE trial_values",
    "UPDATE trial_user_attributes SET value_json='{nope' WHERE key='owner'",
)
ODD_TRIALS: list[dict[str, Any]] = [
    {"user_attrs": {"owner": [1, 2]}},
    {"user_attrs": {"owner": {"host": HERE}}},
    {"user_attrs": {"owner": {"host": HERE, "pid": "1; ls", "ticks": 1}}},
    {"user_attrs": {"owner": {"host": HERE, "pid": 1, "ticks": {}}}},
    {"user_attrs": {"run": ["x"]}},
    {"user_attrs": {"repeats": "x"}},
    {"user_attrs": {"repeats": [1]}},
    {"user_attrs": {"attempts": "many"}},
    {"user_attrs": {"message": {"a": 1}}},
    {"system_attrs": {"fixed_params": [1]}},
    {"system_attrs": {"fixed_params": {"momentum": [0.9]}}},
    {"params": {"__class__": "a"}, "distributions": {"__class__": Choices(("a", "b"))}},
    {"values": [math.inf]},
    {"values": [0.5, 0.5]},
]


def change(folder: Path, statement: str) -> None:
    """Does to the trials what a hand-made file may hold."""
    with closing(sqlite3.connect(folder / "study.db")) as database:
        database.execute(statement)
        database.commit()


def put_back(kept: Path, folder: Path) -> None:
    """The copy in place of what lies there, as one who mends a folder does it."""
    for path in folder.glob("study.db*"):
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    shutil.copy(kept, folder / "study.db")


def said(sweep: sweeps.Sweep) -> str:
    """What whoever reads the trials is told."""
    with pytest.raises(RunError) as refused:
        sweeps.read_trials(sweep)
    return str(refused.value)


@pytest.mark.long
def test_trials_that_no_sweep_writes_are_a_sentence_and_a_copy_that_is_put_back_is_read(
    search: Search, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("ENSEMBLE_STORAGE", "sqlite")
    sweep = search(trials=2)
    whole = sweeps.read_trials(sweep)
    kept = tmp_path / "kept.db"
    with closing(sqlite3.connect(sweep.path / "study.db")) as ours, closing(sqlite3.connect(kept)) as copy:
        ours.backup(copy)
    for odd in ODD:
        put_back(kept, sweep.path)
        change(sweep.path, odd)
        told = said(sweep)
        assert told.startswith(f"The stored trials of “{sweep.id}” "), odd
        assert "Put a copy back, or launch another sweep; the runs stay." in told, odd
    put_back(kept, sweep.path)
    assert sweeps.read_trials(sweep) == whole


def test_a_trial_is_one_of_the_sweep_or_is_not_believed() -> None:
    config = light_config()
    usual: dict[str, Any] = {
        "values": [0.5],
        "params": {"momentum": 0.9},
        "distributions": {"momentum": Choices((0.8, 0.9))},
        "user_attrs": {"owner": build_owner_record(), "run": "digits-1", "attempts": 2, "message": "x"},
        "system_attrs": {"fixed_params": {"learning_rate": 0.1}},
    }
    assert is_valid_trial(optuna.trial.create_trial(**usual), config)
    for odd in ODD_TRIALS:
        assert not is_valid_trial(optuna.trial.create_trial(**{**usual, **odd}), config), odd


@pytest.mark.long
def test_no_file_of_trials_is_made_where_none_lies_and_what_is_no_file_is_not_opened(
    search: Search, monkeypatch: pytest.MonkeyPatch
) -> None:
    for word, name in (("sqlite", "study.db"), ("journal", "journal.log")):
        monkeypatch.setenv("ENSEMBLE_STORAGE", word)
        sweep = search(trials=1)
        for path in sweep.path.glob(f"{name}*"):
            path.unlink()
        assert "are no longer in its folder: launch another sweep" in said(sweep)
        assert not list(sweep.path.glob(f"{name}*"))
        os.mkfifo(sweep.path / name)
        assert "is not a file" in said(sweep)
        (sweep.path / name).unlink()
        (sweep.path / name).mkdir()
        assert "is not a file" in said(sweep)


def test_a_journal_with_odd_lines_is_a_sentence(search: Search) -> None:
    sweep = search(trials=1)
    journal = sweep.path / "journal.log"
    whole = journal.read_bytes()
    for odd in (b'{"op_code": 99}\n', b"[1]\n", b"\xff\xfe\n", b"junk\n", b"null\n"):
        journal.unlink()
        journal.write_bytes(odd + whole)
        assert "journal.log in its folder is damaged" in said(sweep), odd


def test_a_trial_whose_run_cannot_be_read_any_more_has_failed_and_the_others_go_on() -> None:
    sweep = sweeps.create_sweep(light_config(trials=2))
    archive = SweepStudy(sweep.id, sweep.path, sweep.config)
    cut = claim_trial(sweep, archive)
    assert isinstance(cut, TrialClaim)
    release_trial(archive, cut)
    (runs.find_run(cut.run_id).path / "config.json").write_text("{")
    work_on_sweep(sweep.id)
    first, second = sweeps.read_trials(sweep)
    assert (first.state, second.state) == ("failed", "complete")
    assert first.message.startswith(f"The run “{cut.run_id}” cannot be read")


@pytest.mark.parametrize(
    "address", ["postgresql+psycopg://u:password@[::1/name", "a://u:password@h:5432:7/name", "://u:password@h"]
)
def test_what_is_no_address_is_said_so_without_its_password(
    address: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("ENSEMBLE_STORAGE", address)
    with pytest.raises(RunError, match="ENSEMBLE_STORAGE is not the address of a database") as refused:
        sweeps.create_sweep(light_config())
    told = "".join(traceback.format_exception(refused.value))
    assert "Error: ENSEMBLE_STORAGE is not the address" in told
    assert "word@" not in told.replace("user:password@host", "")
    assert "word@" not in "".join(capfd.readouterr())
