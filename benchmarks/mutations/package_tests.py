"""Tests that run against a mutation: those that name its module, those of its package and those of the pages."""

import functools
import os
import re
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path, PurePosixPath

from benchmarks.mutations.places import Place
from tests.changed_tests import ImportGraph

OPTIONS = ("-x", "-q", "-p", "no:cacheprovider")
# "FAILED tests/a/test_b.py::test_c[d e] - assert …"; of a file that cannot be imported its name.
FAILURE = re.compile(r"^(?:FAILED|ERROR) (\S+?\.py(?:::.+?)?)(?= - |$)", re.MULTILINE)
PASSED, FAILED, INTERRUPTED, NOTHING = 0, 1, 2, 5  # exit statuses of pytest
HUNG = "a test that did not end"


def find_tests(tree: Path, place: Place) -> list[list[str]]:
    """Return the test files in three steps: those that name the module or an importer, its package's, the pages'.

    Each step begins with the files whose paths share most words with the place, because they are most likely to fail.
    Tests in a browser or of services are left out unless they belong to the package itself.
    """
    wanted = split_words(place.file)
    named = load_graph(tree).find_tests([place.file])
    near = [path for path in named if not path.startswith(("tests/browser/", "tests/cluster/", "tests/services/"))]
    steps = [near, *(list_test_files(tree, package) for package in (place.package, "pages"))]
    chosen: set[str] = set()
    for number, step in enumerate(steps):
        new = sorted(set(step) - chosen)
        chosen |= set(new)
        steps[number] = sorted(new, key=lambda name: -len(wanted & split_words(name)))
    return [step for step in steps if step]


@functools.cache
def load_graph(tree: Path) -> ImportGraph:
    """Return the imports of a working copy. Mutations do not change them."""
    return ImportGraph(tree)


def list_test_files(tree: Path, package: str) -> list[str]:
    return [file.relative_to(tree).as_posix() for file in (tree / "tests" / package).rglob("test_*.py")]


def split_words(path: str) -> set[str]:
    """The words of a path: {"ui", "sign", "in", "uploads"}."""
    return set(re.findall(r"[a-z]+", PurePosixPath(path).with_suffix("").as_posix()))


def find_failure(tree: Path, tests: Sequence[str], skipped: Sequence[str], limit: float) -> str:
    """The first of some tests that fails; "" where all pass, `HUNG` where they do not end.

    Args:
      tree: the working copy.
      tests: files, or single tests.
      skipped: single tests that are not to be run.
      limit: seconds after which they are taken to hang.

    Raises:
      RuntimeError: pytest itself could not go on.
    """
    command = [sys.executable, "-m", "pytest", *OPTIONS, *tests]
    command += [f"--deselect={test_id}" for test_id in skipped]
    # Without what Python has compiled each of many processes would compile the package anew. What
    # this process was asked for (`scripts/test --all`) is no option of tests in another tree.
    # A mutation of the engine compiles to another program, so the trees share no wrong ones.
    compiled = tree.parent / "compiled"
    compiled.mkdir(mode=0o700, exist_ok=True)
    environment = {
        **os.environ,
        "PYTHONDONTWRITEBYTECODE": "",
        "PYTEST_ADDOPTS": "",
        "ENSEMBLE_TESTS_COMPILED": str(compiled),
    }
    process = subprocess.Popen(
        command,
        cwd=tree,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        output, _ = process.communicate(timeout=limit)
    except subprocess.TimeoutExpired:
        return HUNG
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
    if process.returncode in (PASSED, NOTHING):
        return ""
    match = FAILURE.search(output)
    if process.returncode not in (FAILED, INTERRUPTED) or not match:
        raise RuntimeError(f"pytest ended with {process.returncode}:\n{output[-4000:]}")
    return match[1]
