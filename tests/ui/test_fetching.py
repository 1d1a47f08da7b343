import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from ensemble import data
from ensemble.errors import StorageError
from ensemble.ui import fetching
from ensemble.ui.fetching import Fetch


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ENSEMBLE_DATA", str(tmp_path / "data"))
    return tmp_path / "data"


def wait(name: str) -> Fetch | None:
    deadline = time.monotonic() + 120
    while (found := fetching.read(name)) and found.state == "running":
        assert time.monotonic() < deadline
        time.sleep(0.05)
    return found


def test_prepares_a_dataset_in_a_process_of_its_own(folder: Path, mnist_files: Path) -> None:
    manual = folder / "downloads" / "manual"
    manual.mkdir(parents=True)
    for file in mnist_files.iterdir():
        (manual / file.name).symlink_to(file)
    assert fetching.read("mnist") is None
    fetching.start("mnist")
    begun = fetching.read("mnist")
    assert begun is not None
    assert begun.pid != os.getpid()
    fetching.start("mnist")  # a second press is no second process
    assert (found := fetching.read("mnist")) is not None
    assert found.pid == begun.pid
    done = wait("mnist")
    assert done is not None
    assert done.state == "done", done.message
    assert data.is_prepared("mnist")


def test_what_went_wrong_is_read_in_a_sentence(folder: Path) -> None:
    folder.mkdir()
    (folder / "downloads").write_text("a file where a folder has to be")
    fetching.start("kmnist")
    failed = wait("kmnist")
    assert failed is not None
    assert failed.state == "failed"
    assert "ENSEMBLE_DATA" in failed.message
    fetching.forget("kmnist")
    assert fetching.read("kmnist") is None


def test_a_process_that_is_gone_reads_as_cut_off() -> None:
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    fetching.note("mnist", Fetch("running", 0.5, "Fetching", gone.pid))
    found = fetching.read("mnist")
    assert found is not None
    assert (found.state, found.message) == ("failed", fetching.CUT_OFF)


def test_a_damaged_note_is_none() -> None:
    fetching.note("mnist", Fetch("running", 0.5, "Fetching", os.getpid()))
    fetching.path("mnist").write_text('{"state": "run')
    assert fetching.read("mnist") is None


def test_a_folder_that_cannot_be_made_is_said(folder: Path) -> None:
    folder.write_text("a file where a folder has to be")
    with pytest.raises(StorageError, match="ENSEMBLE_DATA"):
        fetching.start("mnist")
