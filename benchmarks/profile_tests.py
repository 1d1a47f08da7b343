"""Profile the tests by way of testing: python -m benchmarks.profile_tests [--root FOLDER] [-- PATH ...]

Runs as a plugin in every process of pytest, in this checkout or another one (--root). Prints one row per way of testing
with its calls, processor seconds and most expensive tests. Nested ways are counted once, for the innermost: compilation
while a page is drawn is compilation.

- collection: importing the test files and listing their tests, in each process of pytest
- pages: script runs of Streamlit's AppTest
- training: training and evaluation in the process of the test
- compilation: tracing, lowering and compiling by JAX, or loading the program from its cache
- child processes: processes that tests started and waited for (workers, servers, commands)
- starts of pytest: imports before the first test, and pytest's own work
- fixtures and the rest of the tests: everything else
"""

import argparse
import functools
import importlib
import json
import os
import resource
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[1]
RESULTS_VARIABLE = "ENSEMBLE_TESTS_PROFILE"
TRAINING_FUNCTIONS = (
    "ensemble.engine.trainer:Trainer.train",
    "ensemble.engine.trainer:Trainer.evaluate",
    "ensemble.engine.numeric.numeric_trainer:NumericTrainer.train",
    "ensemble.engine.numeric.numeric_trainer:NumericTrainer.evaluate",
    "ensemble.runs.training.session:TrainingSession.__init__",
    "ensemble.runs.training.session:TrainingSession.train",
    "ensemble.api.training:train",
    "ensemble.api.numeric_training:train_numbers",
)
COSTLIEST = 5


class TestProfile:
    """Counts processor seconds of one process of pytest by way of testing and by test."""

    __test__ = False  # not a test despite its name

    def __init__(self) -> None:
        self.seconds: defaultdict[str, float] = defaultdict(float)
        self.calls: Counter[str] = Counter()
        self.of_tests: defaultdict[str, defaultdict[str, float]] = defaultdict(lambda: defaultdict(float))
        self.children = read_child_seconds()
        self._test = ""
        self._threads = threading.local()

    @contextmanager
    def count(self, way: str) -> Iterator[None]:
        inner: list[float] = self._threads.__dict__.setdefault("inner", [0.0])  # seconds, one entry per nested way
        began = time.process_time()
        inner.append(0.0)
        try:
            yield
        finally:
            took = time.process_time() - began
            self.calls[way] += 1
            self.add_seconds(way, took - inner.pop())
            inner[-1] += took

    def add_seconds(self, way: str, seconds: float) -> None:
        self.seconds[way] += seconds
        self.of_tests[way][self._test] += seconds

    @pytest.hookimpl(wrapper=True)
    def pytest_collection(self) -> Iterator[None]:
        with self.count("collection"):
            return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        self._test = item.nodeid
        try:
            with self.count("fixtures and the rest of the tests"):
                return (yield)
        finally:
            children = read_child_seconds()
            self.add_seconds("child processes", children - self.children)
            self.children, self._test = children, ""

    def pytest_sessionfinish(self) -> None:
        self.seconds["this process in all"] = time.process_time()
        figures = {"seconds": self.seconds, "calls": self.calls, "tests": self.of_tests}
        Path(os.environ[RESULTS_VARIABLE], f"{os.getpid()}.json").write_text(json.dumps(figures), "utf-8")


def read_child_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def pytest_configure(config: pytest.Config) -> None:
    """Start counting in this process of pytest."""
    if config.pluginmanager.hasplugin("profile of the tests") or RESULTS_VARIABLE not in os.environ:
        return
    from jax._src import dispatch
    from streamlit.testing.v1 import AppTest

    profile = TestProfile()
    config.pluginmanager.register(profile, "profile of the tests")
    wrap_method(AppTest, "_run", profile, "pages")
    threads, start_compilation = threading.local(), dispatch.log_elapsed_time.__enter__

    def enter(self: Any) -> Any:
        counted = profile.count("compilation")
        counted.__enter__()
        threads.__dict__.setdefault("entered", []).append(counted)
        return start_compilation(self)

    end_compilation = dispatch.log_elapsed_time.__exit__

    def leave(self: Any, *error: Any) -> None:
        end_compilation(self, *error)
        threads.entered.pop().__exit__(None, None, None)

    dispatch.log_elapsed_time.__enter__ = enter  # type: ignore[method-assign]
    dispatch.log_elapsed_time.__exit__ = leave  # type: ignore[method-assign]
    start = subprocess.Popen.__init__

    def count_start(*args: Any, **options: Any) -> None:
        profile.calls["child processes"] += 1
        start(*args, **options)

    subprocess.Popen.__init__ = count_start  # type: ignore[method-assign]
    for name in TRAINING_FUNCTIONS:
        module_name, _, path = name.partition(":")
        *owners, attribute = path.split(".")
        try:
            owner = functools.reduce(getattr, owners, importlib.import_module(module_name))
        except (ImportError, AttributeError):  # missing in another checkout
            continue
        if hasattr(owner, attribute):
            wrap_method(owner, attribute, profile, "training")


def wrap_method(owner: Any, name: str, profile: TestProfile, way: str) -> None:
    function: Callable[..., Any] = getattr(owner, name)

    @functools.wraps(function)
    def counted(*args: Any, **options: Any) -> Any:
        with profile.count(way):
            return function(*args, **options)

    setattr(owner, name, counted)


def main() -> int:
    """Run the tests of a checkout with the plugin, print the table and return the exit status of pytest."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", type=Path, default=ROOT, metavar="FOLDER", help="the checkout")
    parser.add_argument("--json", type=Path, metavar="FILE", help="keep the seconds of every test there")
    parser.add_argument("words", nargs="*", metavar="PATH", help="for pytest, after --; the units if there are none")
    options = parser.parse_args()
    units = ["tests", "--ignore=tests/browser", "--ignore=tests/cluster", "--ignore=tests/services"]
    words = [*(options.words or units), "-q", "--dist", "loadfile", "--no-loadscope-reorder", "-p", "no:cacheprovider"]
    if "-n" not in words:
        words += ["-n", "2"]
    with tempfile.TemporaryDirectory(prefix="ensemble-profile-") as folder:
        plugin = (
            Path(folder) / "ensemble_test_profile.py"
        )  # under its own name, because another checkout has its own `benchmarks`
        plugin.write_text(Path(__file__).read_text("utf-8"), "utf-8")
        environment = {**os.environ, RESULTS_VARIABLE: folder, "PYTHONPATH": folder, "PYTHONDONTWRITEBYTECODE": ""}
        command = [sys.executable, "-m", "pytest", "-p", plugin.stem, *words]
        began, children = time.monotonic(), read_child_seconds()
        ended = subprocess.run(command, cwd=options.root, env=environment)
        wall, processor = time.monotonic() - began, read_child_seconds() - children
        results = [json.loads(file.read_text("utf-8")) for file in Path(folder).glob("*.json")]
    seconds, calls, tests = Counter[str](), Counter[str](), defaultdict[str, Counter[str]](Counter)
    for result in results:
        seconds.update(result["seconds"])
        calls.update(result["calls"])
        for way, costliest in result["tests"].items():
            tests[way].update(costliest)
    inside = sum(seconds[way] for way in calls if way != "child processes")
    seconds["starts of pytest"] = seconds.pop("this process in all") - inside
    if options.json:
        options.json.write_text(json.dumps({"seconds": seconds, "calls": calls, "tests": tests}, indent=1), "utf-8")
    print(f"\n{wall:.0f} s on the clock, {processor:.0f} processor seconds in all\n")
    print("| way of testing | calls | processor seconds | costliest tests |\n| --- | --- | --- | --- |")
    for way, took in seconds.most_common():
        named = ", ".join(f"{test.rpartition('/')[2]} {spent:.1f}" for test, spent in tests[way].most_common(COSTLIEST))
        print(f"| {way} | {calls[way]:,} | {took:.1f} | {named} |")
    return ended.returncode


if __name__ == "__main__":
    sys.exit(main())
