"""`~` in a variable of this program is the home folder, wherever no shell has put it in."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ensemble.access.allow_list import load_allow_list
from ensemble.pictures.corrections import find_corrections_folder
from ensemble.storage.folders import data_folder, runs_folder
from ensemble.sweeps.settings import read_storage_address


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir("/")
    return tmp_path


@pytest.mark.parametrize(
    ("variable", "find"),
    [("ENSEMBLE_RUNS", runs_folder), ("ENSEMBLE_DATA", data_folder), ("ENSEMBLE_CORRECTIONS", find_corrections_folder)],
)
def test_a_folder_is_in_the_home(
    variable: str, find: Callable[[], Any], home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, "~/of mine")
    assert find() == home / "of mine"
    monkeypatch.setenv(variable, "~nobody-has-this-name/here")
    assert find() == Path("/~nobody-has-this-name/here")


def test_the_list_of_who_may_come_in_is_read_from_the_home(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (home / "allowed").write_text("ada@example.org = admin\n")
    monkeypatch.delenv("ENSEMBLE_ALLOW", raising=False)
    monkeypatch.setenv("ENSEMBLE_ALLOW_FILE", "~/allowed")
    assert "ada@example.org" in load_allow_list().addresses


def test_a_database_file_is_in_the_home(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ENSEMBLE_STORAGE", "sqlite:///~/trials.db")
    assert read_storage_address() == f"sqlite:///{home}/trials.db"
    monkeypatch.setenv("ENSEMBLE_STORAGE", "postgresql+psycopg://me@host/name")
    assert read_storage_address() == "postgresql+psycopg://me@host/name"
