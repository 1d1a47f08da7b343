"""Keeps every test run to itself: its own runs, data, temporary files and compile cache.

All of it is set before the first test module is imported, because JAX reads its environment
at import, and because fixtures of any scope, worker processes included, have to see it.
"""

import os
import shutil
import tempfile
from pathlib import Path

import pytest

from ensemble.runs.environment import prepare_jax

REPO = Path(__file__).resolve().parent.parent

# pytest's own folders stay where they always are, so that a failed test's files can be looked at.
os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", tempfile.gettempdir())
ROOT = Path(tempfile.mkdtemp(prefix="ensemble-tests-"))
# What one of pytest-xdist's processes has compiled, the others need not: they are the children
# of the one that was started, which cleans up after them.
A_CHILD = "PYTEST_XDIST_WORKER" in os.environ
FIRST = os.getppid() if A_CHILD else os.getpid()
COMPILED = Path(tempfile.gettempdir()) / f"ensemble-tests-{FIRST}-compiled"
for name, folder in {
    "ENSEMBLE_RUNS": "runs",
    "ENSEMBLE_DATA": "data",
    # One run trains at a time per machine, by a lock in the temporary folder: a run that a
    # person has going must not hold up the tests, nor they it.
    "TMPDIR": "tmp",
}.items():
    (ROOT / folder).mkdir()
    os.environ[name] = str(ROOT / folder)
os.environ["JAX_COMPILATION_CACHE_DIR"] = str(COMPILED)
tempfile.tempdir = None  # read TMPDIR again

# Eight devices on every machine, so that what is spread over devices is tested everywhere.
# JAX_PLATFORMS=cuda scripts/test runs the tests on the machine's own accelerator.
os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ.setdefault("JAX_NUM_CPU_DEVICES", "8")
# The rest as a worker has it, so that the tests are of what people run.
prepare_jax()
# A page that is only looked at in a test needs no process ready for its next run.
os.environ["ENSEMBLE_SPARE"] = "0"


def pytest_unconfigure() -> None:
    shutil.rmtree(ROOT, ignore_errors=True)
    if not A_CHILD:
        shutil.rmtree(COMPILED, ignore_errors=True)


@pytest.fixture(autouse=True)
def runs_of_one_test(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder of runs for each test."""
    folder = tmp_path / "runs"
    monkeypatch.setenv("ENSEMBLE_RUNS", str(folder))
    return folder


@pytest.fixture
def two_devices_a_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    """Processes that a test starts train on two devices: eight take turns on a small machine."""
    import jax

    jax.devices()  # This process keeps its eight.
    monkeypatch.setenv("JAX_NUM_CPU_DEVICES", "2")


@pytest.fixture(scope="session")
def mnist_files() -> Path:
    """The folder with MNIST's four original files; without it the test is skipped."""
    for parent in (REPO, REPO.parent):
        if (folder := parent / "shared" / "data" / "mnist").is_dir():
            return folder
    pytest.skip("MNIST's original files are not here (shared/data/mnist)")
