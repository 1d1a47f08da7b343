"""A run's folder that goes away, or is replaced, under its worker: a sentence, no traceback."""

import os
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from ensemble import runs
from ensemble.cli.program import main
from ensemble.config import EnsembleConfig
from ensemble.errors import RunError
from ensemble.jobs.launch import start_worker
from ensemble.jobs.outcome import Outcome
from ensemble.jobs.status import write_status
from ensemble.runs.store import RUN_STORE
from ensemble.runs.training import worker
from ensemble.storage.atomic_files import write_json
from ensemble.storage.records.json_lines import append_line


def deleted(folder: Path) -> None:
    shutil.rmtree(folder)


def replaced(folder: Path) -> None:
    shutil.rmtree(folder.parent)
    folder.parent.touch()


@pytest.mark.parametrize("go_away", [deleted, replaced])
def test_a_folder_that_goes_away_while_a_run_trains_is_said(
    go_away: Callable[[Path], None], monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture
) -> None:
    def train(run: runs.Run, *_: object, **__: object) -> Outcome:
        go_away(run.path)
        write_json(run.path / "devices.json", {})
        raise AssertionError

    monkeypatch.setattr(worker, "_start_run_training", train)
    result = CliRunner().invoke(main, ["train", "--members", "1"])
    assert result.exit_code == 1
    assert isinstance(result.exception, SystemExit)
    assert "Traceback" not in result.stderr + capfd.readouterr().err
    assert "ENSEMBLE_RUNS" in result.stderr.splitlines()[-1]


def test_a_pipe_in_the_place_of_a_log_or_a_history_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    run = runs.create_run(EnsembleConfig())
    for name in "log.txt", "history.jsonl":
        os.mkfifo(run.path / name)
    # With somebody at the other end opening it would succeed, and what is written be lost.
    other = os.open(run.path / "log.txt", os.O_RDONLY | os.O_NONBLOCK)
    with pytest.raises(RunError, match=r"not a plain file: .*log.txt"):
        start_worker(run)
    os.close(other)
    with pytest.raises(RunError, match=r"log.txt"):
        start_worker(run)
    # Nor is the warm worker given the run, which would have to open it where nobody hears it.
    monkeypatch.setattr(RUN_STORE.warm_worker, "assign_run", lambda *_: pytest.fail("it was given"))
    write_status(run.path, replace(run.status, state="stopped"))
    with pytest.raises(RunError, match=r"log.txt"):
        runs.resume_run(run.id)
    with pytest.raises(OSError, match="history"):
        append_line(run.path / "history.jsonl", {"kind": "steps"})
