"""What a killed import or delete leaves is found, counted and removed; nothing else is."""

import os
import shutil
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from ensemble import runs
from ensemble.access import usage_limits
from ensemble.cli.program import main
from ensemble.config import EnsembleConfig
from ensemble.jobs import leftovers
from ensemble.jobs.leftovers import list_leftovers, remove_leftovers
from ensemble.jobs.status import write_status
from ensemble.storage.folders import runs_folder

SMALL = EnsembleConfig(members=1, epochs=1, network="logistic")
IMPORT = """
import os, signal
import numpy as np
from ensemble.datasets import registry
from ensemble.runs.imported_run import create_imported_run
rows = np.full((2, 50_000, 10), 0.1, np.float32)
def epochs():
    yield rows
    os.kill(os.getpid(), signal.SIGKILL)
create_imported_run(epochs(), np.zeros(50_000, np.int32), registry.find_dataset_entry("digits"))
"""
DELETE = """
import os, shutil, signal, sys
from ensemble import runs
shutil.rmtree = lambda path: os.kill(os.getpid(), signal.SIGKILL)
runs.delete_run(sys.argv[1])
"""


def run_until_killed(program: str, *words: str) -> None:
    ended = subprocess.run([sys.executable, "-c", program, *words], capture_output=True, text=True, timeout=120)
    assert ended.returncode == -signal.SIGKILL, ended.stderr


@pytest.fixture
def later(monkeypatch: pytest.MonkeyPatch) -> None:
    """Everything was quiet for ten minutes."""
    monkeypatch.setattr(leftovers, "QUIET_SECONDS", -1.0)


def test_what_a_killed_import_and_a_killed_delete_left_is_found_and_removed(
    later: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ENSEMBLE_RUNS_GB", "1")
    kept, deleted = runs.create_run(SMALL), runs.create_run(SMALL)
    write_status(deleted.path, replace(deleted.status, state="stopped"))
    run_until_killed(IMPORT)
    run_until_killed(DELETE, deleted.id)
    found = list_leftovers()
    assert len(found) == 2
    assert found[0].path.name.startswith(f".deleted-{deleted.id}-")
    assert found[1].path.name.startswith("imported-")
    size = sum(leftover.size for leftover in found)
    assert size > 100_000
    usage_limits.invalidate_disk_quota()
    quota = usage_limits.measure_disk_quota()
    assert quota
    assert quota.used >= size
    said = CliRunner().invoke(main, ["runs", "leftovers"])
    assert all(str(leftover.path) in said.output for leftover in found)
    assert CliRunner().invoke(main, ["runs", "leftovers", "--remove"]).exit_code == 0
    assert not list_leftovers()
    after = usage_limits.measure_disk_quota()
    assert after
    assert after.used <= quota.used - size
    assert [run.id for run in runs.list_runs()] == [kept.id]


def test_what_somebody_may_still_be_at_is_left() -> None:
    (runs_folder() / "imported-1126-101010").mkdir(parents=True)
    assert not list_leftovers()


def test_no_run_and_nothing_of_a_person_is_a_leftover(later: None, tmp_path: Path) -> None:
    run = runs.create_run(SMALL)
    damaged, linked = runs.create_run(SMALL), runs_folder() / "imported-1126-101010"
    (damaged.path / "config.json").unlink()
    (damaged.path / "log.txt").write_text("It was trained.")
    linked.symlink_to(tmp_path)
    for name in ("notes", "my-own-folder", ".git", "table-2026"):
        (runs_folder() / name).mkdir()
    assert not list_leftovers()
    assert remove_leftovers() == 0
    assert run.path.is_dir()
    assert damaged.path.is_dir()


def test_an_empty_or_absent_folder_of_runs_has_none(later: None) -> None:
    shutil.rmtree(runs_folder(), ignore_errors=True)
    assert not list_leftovers()
    os.makedirs(runs_folder())
    assert not list_leftovers()
