"""A run that may be read and not changed: each thing one may ask of it answers in a sentence."""

import os
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

REPO = Path(__file__).resolve().parents[2]
# What is asked, and how the answer begins.
ASKED = {
    "runs.requeue_run(stopped)": "The files of “{stopped}” cannot be changed (Permission denied)",
    "runs.resume_run(stopped)": "The files of “{stopped}” cannot be changed",
    "runs.rename_run(finished, 'new')": "The files of “{finished}” cannot be changed",
    "write_run_note(finished, 'new')": "The note could not be saved (Permission denied)",
    "write_run_note(finished, '')": "The note could not be saved (Permission denied)",
    "runs.delete_run(finished)": "The files of “{finished}” cannot be changed",
    "regression.delete_regression(solve)": "The files of “{solve}” cannot be changed",
    "shift.queue_stress(finished)": "The files of “{finished}” cannot be changed",
    "worker.execute_job(runs.find_run(stopped), None, None)": "Training “{stopped}” cannot begin",
    "start_worker(runs.find_run(stopped))": "The files of “{stopped}” cannot be changed",
    "request_job_stop(TRAINS(stopped))": "The files of “{stopped}” cannot be changed",
    "runs.create_run(EnsembleConfig())": "The run could not be made in ",
    "call('train', '--resume', stopped)": "Error: The files of “{stopped}” cannot be changed",
    "call('runs', 'delete', finished)": "Error: The files of “{finished}” cannot be changed",
    "call('stress', finished)": "Error: The files of “{finished}” cannot be changed",
}
SCRIPT = """
import os, sys
from importlib import import_module
from click.testing import CliRunner
from ensemble import regression, runs, shift
from ensemble.cli.program import main
from ensemble.config import EnsembleConfig
from ensemble.errors import EnsembleError
from ensemble.jobs import worker
from ensemble.jobs.job import Job, request_job_stop
from ensemble.jobs.launch import start_worker
from ensemble.runs.annotations.notes import write_run_note

COMMANDS = ("train", "runs", "stress_and_regression")
for name in ("filelock", *(f"ensemble.cli.{word}" for word in COMMANDS)):
    import_module(name)  # An ordinary user may not look where root's Python lies.
if os.geteuid() == 0:
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)

def call(*words):
    done = CliRunner().invoke(main, words, catch_exceptions=False)
    assert done.exit_code == 1, done
    return done.stderr.strip()

class TRAINS(Job):
    def __init__(self, run_id):
        self.path, self.active = runs.find_run(run_id).path, True
    active = True

finished, stopped, solve = sys.argv[1:4]
for asked in sys.argv[4:]:
    try:
        print(eval(asked))
    except EnsembleError as error:
        print(error)
"""


@pytest.fixture
def folder() -> Iterator[Path]:
    """Recorded runs that nobody but root may change, where any user may look."""
    with tempfile.TemporaryDirectory(dir="/tmp") as name:
        with tarfile.open(REPO / "tests" / "recorded" / "runs.tar.xz") as kept:
            kept.extraction_filter = getattr(tarfile, "data_filter", None)  # not in Python 3.11.3
            kept.extractall(name)
        every = sorted(Path(name).rglob("*"))
        for path in [*every, Path(name)]:
            path.chmod(0o555 if path.is_dir() else 0o444)
        yield Path(name) / "runs"
        for path in [Path(name), *every]:
            path.chmod(0o755)


def test_each_wish_is_answered_in_one_sentence_and_nothing_is_lost(folder: Path) -> None:
    finished, stopped, solve = sorted(path.name for path in folder.iterdir())
    ids = {"finished": finished, "stopped": stopped, "solve": solve}
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("*")}
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, *ids.values(), *ASKED],
        env={**os.environ, "ENSEMBLE_RUNS": str(folder), "PYTHONPATH": str(REPO), "HOME": "/tmp"},
        cwd="/",
        capture_output=True,
        text=True,
        timeout=120,
    )
    if "setgroups" in done.stderr:
        pytest.skip("root cannot become another user here")
    assert done.returncode == 0, done.stderr
    for (asked, begins), said in zip(ASKED.items(), done.stdout.splitlines(), strict=True):
        assert said.startswith(begins.format(**ids)), asked
        assert "writable" in said, asked
    assert {path: path.stat().st_mtime_ns for path in folder.rglob("*")} == before
