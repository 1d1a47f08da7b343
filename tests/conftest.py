"""Keeps every test run to itself: its own runs, data, temporary files and compile cache.

All of it is set before the first test module is imported, because JAX reads its environment
at import, and because fixtures of any scope, worker processes included, have to see it.
"""

import ctypes
import functools
import gc
import itertools
import logging
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import psutil
import pytest
from streamlit.testing.v1 import AppTest

from ensemble.machine.jax_settings import delete_half_written_programs, prepare_jax
from tests.fork_server import forked_starts

# Fixtures of whoever starts real workers.
pytest_plugins = ["tests.workers"]

REPO = Path(__file__).resolve().parent.parent
MOST_BYTES = 1500 * 2**20  # all that is imported takes 570 MB
TESTS = itertools.count()
BETWEEN_COLLECTIONS = 20_000  # objects; Python's own 700 are for small programs

# pytest's own folders stay where they always are, so that a failed test's files can be looked at.
os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", tempfile.gettempdir())
ROOT = Path(tempfile.mkdtemp(prefix="ensemble-tests-"))
# What one of pytest-xdist's processes has compiled, the others need not: they are the children
# of the one that was started, which cleans up after them.
A_CHILD = "PYTEST_XDIST_WORKER" in os.environ
FIRST = os.getppid() if A_CHILD else os.getpid()
# scripts/test names a folder, which outlives its two calls of pytest.
GIVEN = os.environ.get("ENSEMBLE_TESTS_COMPILED")
COMPILED = Path(GIVEN or Path(tempfile.gettempdir()) / f"ensemble-tests-{FIRST}-compiled")
ONE_PIECE = "--xla_cpu_parallel_codegen_split_count=1"
# Where several files at a time are tested, these begin: they are long, and the short ones that
# come last let all processes end together. Whoever has a file of one or two tests is given the
# next as well: behind such a one stands a short one.
LONG = (
    "runs/test_workers",
    "engine/",
    "cli/test_cli",
    "shift/test_stress_worker",
    "recognition/test_classifier",
    "jobs/test_warm_worker",
    "pages/test_classify",
    "pages/test_inspect",
    "test_soak",
    "browser/test_train",
    "browser/test_whole_way",
    "browser/test_tune",
    "browser/test_app",
    "services/test_storages",
    "cluster/test_accidents",
    "cluster/test_runs",
    "cluster/test_sweeps",
    "cluster/test_faults",
    "browser/test_installed",
    "cluster/test_slurm_submission",
    "cluster/test_jobs",
    "cluster/test_processes",
)
for name, folder in {
    "ENSEMBLE_RUNS": "runs",
    "ENSEMBLE_DATA": "data",
    # One run trains at a time per machine, by locks in these folders: a run that a person has
    # going must not hold up the tests, nor they it.
    "XDG_CACHE_HOME": "cache",
    "XDG_RUNTIME_DIR": "runtime",
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
# Programs are compiled in one piece each, not in up to 32 beside one another: a tenth less work,
# and two files are tested at a time already. What they do is the same to the bit.
if "parallel_codegen" not in (flags := os.environ.get("XLA_FLAGS", "")):
    os.environ["XLA_FLAGS"] = f"{flags} {ONE_PIECE}".strip()
# Products of small matrices are no faster on many threads, whose waiting takes a processor each.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
# The rest as a worker has it, so that the tests are of what people run.
prepare_jax()
if GIVEN and not A_CHILD:  # Tests kill workers, in the middle of a program's file too.
    delete_half_written_programs(COMPILED)
# A page that is only looked at in a test needs no process ready for its next run.
os.environ["ENSEMBLE_WARM_WORKER"] = "0"
os.environ["ENSEMBLE_CALIBRATION"] = "0"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--all",
        action="store_true",
        help="also tests marked `variant`, `long` or `long_cases`, and simulations with all draws",
    )
    parser.addoption("--update-snapshots", action="store_true", help="write what tests/snapshots expects anew")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Run browser tests in one process, next to the others."""
    if config.getoption("dist") != "loadfile":
        return None
    from tests.file_scheduling import FileScheduling

    return FileScheduling(config, log)


def pytest_unconfigure() -> None:
    shutil.rmtree(ROOT, ignore_errors=True)
    if not A_CHILD and not GIVEN:
        shutil.rmtree(COMPILED, ignore_errors=True)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if not config.getoption("--all"):
        left_out = list(find_items_for_all(items))
        config.hook.pytest_deselected(items=left_out)
        known = {id(item) for item in left_out}
        items[:] = [item for item in items if id(item) not in known]
    if A_CHILD:
        items.sort(key=_turn)


def find_items_for_all(items: Sequence[pytest.Item]) -> Iterator[pytest.Item]:
    """Those of the tests that are run with `--all` alone."""
    begun: set[str] = set()
    for item in items:
        name = item.nodeid.partition("[")[0]
        is_first, marks = name not in begun, {mark.name for mark in item.iter_markers()}
        if marks & {"variant", "long"} or ("long_cases" in marks and not is_first):
            yield item
        else:
            begun.add(name)


def pytest_collection_finish() -> None:
    # Streamlit collects all garbage after each run of a page: it need not look at what stays.
    gc.collect()
    gc.freeze()
    # What tests import later stays as well, and Python would look through it, a sixth of a second
    # at a time, hundreds of times.
    gc.set_threshold(BETWEEN_COLLECTIONS)


def _turn(item: pytest.Item) -> int:
    path = item.path.relative_to(REPO / "tests").as_posix()
    return next((turn for turn, start in enumerate(LONG) if path.startswith(start)), len(LONG))


def variant(*values: object) -> Any:
    """Parameters of a case that is run with `--all` alone."""
    return pytest.param(*values, marks=pytest.mark.variant)


@pytest.fixture(scope="session")
def runs_of_all_tests(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where each test's runs would be. `tmp_path` looks through all folders there are for each."""
    return tmp_path_factory.mktemp("runs")


@pytest.fixture(autouse=True)
def runs_of_one_test(runs_of_all_tests: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of runs for each test, which nobody has made yet."""
    folder = runs_of_all_tests / str(next(TESTS))
    monkeypatch.setenv("ENSEMBLE_RUNS", str(folder))
    return folder


@pytest.fixture(autouse=True, scope="module")
def bounded_memory() -> Iterator[None]:
    """JAX keeps every program it has compiled: they go when they have become too many."""
    yield
    if "jax" in sys.modules and psutil.Process().memory_info().rss > MOST_BYTES:
        return_freed_memory()
        if psutil.Process().memory_info().rss > MOST_BYTES:
            import jax

            jax.clear_caches()
            gc.collect()
            return_freed_memory()


@pytest.fixture(autouse=True, scope="module")
def own_datasets_of_one_file() -> Iterator[None]:
    """Remove datasets that the tests of a file added, because pages list every dataset."""
    yield
    shutil.rmtree(ROOT / "data" / "own", ignore_errors=True)


def return_freed_memory() -> None:
    """Have glibc return to the system what it keeps of freed memory: half of all after many compilations.

    Otherwise all programs would go after each file from the first too many on.
    """
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim:
        trim(0)


@pytest.fixture(autouse=True, scope="session")
def processes_are_forked() -> Iterator[None]:
    """Import JAX once for all `ensemble` processes that tests start."""
    with forked_starts():
        yield


@pytest.fixture(scope="session")
def draws(pytestconfig: pytest.Config) -> Callable[[int], int]:
    """How many draws a simulation makes of those it would make with `--all`: a tenth."""
    share = 1 if pytestconfig.getoption("--all") else 10
    return lambda full: full // share


@pytest.fixture(scope="module")
def collector() -> Iterator[None]:
    """No garbage collection, which would go through millions of syntax nodes: three times as fast."""
    gc.disable()
    yield
    gc.enable()


@pytest.fixture(autouse=True, scope="session")
def pages_are_waited_for() -> None:
    """Streamlit's tester gives a page three seconds, too few on a loaded machine."""
    for name in ("from_file", "from_function", "from_string"):
        getattr(AppTest, name).__func__.__kwdefaults__["default_timeout"] = 240


@pytest.fixture(autouse=True, scope="session")
def messages_of_streamlit_are_passed_on() -> None:
    """Pytest listens at the root alone then, and not, six times a test, at each of its sixty loggers."""
    for name, logger in logging.root.manager.loggerDict.items():
        if isinstance(logger, logging.Logger) and name.startswith("streamlit."):
            logger.propagate = True


@pytest.fixture(autouse=True, scope="session")
def names_of_properties_are_split_once() -> None:
    """Plotly splits a property's name whenever it is set: a third of the time of a report."""
    if "plotly" not in sys.modules:  # Not one of the tests has a figure.
        return
    from plotly import basedatatypes

    split = functools.cache(basedatatypes._str_to_dict_path_full)

    def split_once(name: str) -> tuple[tuple[str | int, ...], list[int]]:
        path, indices = split(name)
        return path, list(indices)

    basedatatypes._str_to_dict_path_full = split_once


@pytest.fixture
def two_devices_a_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    """Processes that a test starts train on two devices: eight take turns on a small machine."""
    import jax

    jax.devices()  # This process keeps its eight.
    monkeypatch.setenv("JAX_NUM_CPU_DEVICES", "2")


def find_mnist_files() -> Path | None:
    """The folder with MNIST's four original files, if it is here."""
    folders = (parent / "shared" / "data" / "mnist" for parent in (REPO, REPO.parent))
    return next(filter(Path.is_dir, folders), None)


@pytest.fixture(scope="session")
def mnist_files() -> Path:
    """The folder with MNIST's four original files; without it the test is skipped."""
    if folder := find_mnist_files():
        return folder
    pytest.skip("MNIST's original files are not here (shared/data/mnist)")
