"""What is imported for what: looking needs nothing that trains, figures need no page.

One process does all of it, one step after the other, the least first, and after each says what it
has imported by then. Whatever a step must not need, those before it must not either.
"""

import json
import os
import subprocess
import sys

import pytest

from tests.cli.test_program import HEAVY
from tests.conftest import REPO
from tests.test_floors import read_sources
from tests.ui.train.test_history import ROWS

COMMAND = "from ensemble.cli.program import main; main({!r}, standalone_mode=False)"
CURVES = (
    "from ensemble.ui.train.learning_curves import show_learning_curves\n"
    f"show_learning_curves('digits-1', {ROWS!r}, caption='', epochs=10, members=2, n_test=500)\n"
)
PAGE = "from streamlit.testing.v1 import AppTest; at = AppTest.{}; {}.run(); assert not at.exception"


def modules_of(*packages: str) -> str:
    """A statement that imports every module of some packages."""
    names = [
        name.removesuffix(".__init__")
        for name in read_sources()
        if name.startswith(tuple(f"ensemble.{one}." for one in packages))
    ]
    assert len(names) > 10
    return f"import importlib\nfor name in {names!r}: importlib.import_module(name)"


# What is done, and what must not have been imported for it.
STEPS: dict[str, tuple[str, set[str]]] = {
    "the package": ("import ensemble; dir(ensemble)", {*HEAVY, "numpy", "click"}),
    "colours": ("import ensemble; ensemble.figures.LIGHT", HEAVY),
    "--version": (COMMAND.format(["--version"]), HEAVY),
    "runs list": (COMMAND.format(["runs", "list"]), HEAVY),
    "data list": (COMMAND.format(["data", "list"]), HEAVY),
    "a notebook's runs": ("import ensemble; ensemble.list_runs()", {"jax", "flax", "streamlit", "plotly"}),
    "settings": ("import ensemble.config", {"jax", "flax"}),
    "a dataset": (
        "from ensemble import datasets; datasets.load_dataset('digits'); "
        "datasets.list_dataset_infos(); "
        "datasets.prepare_dataset('digits'); datasets.find_dataset_info('mnist')",
        {"tensorflow_datasets", "tensorflow", "jax", "sklearn", "streamlit", "scipy"},
    ),
    "wording and figures": (modules_of("wording", "figures"), {"streamlit", "ensemble.ui", "jax"}),
    "curves": (
        PAGE.format(f"from_string({CURVES!r}, default_timeout=240)", "at") + "; assert at.get('bidi_component')",
        {"pandas"},
    ),
    "Train": (
        PAGE.format(f"from_file({str(REPO / 'app.py')!r}, default_timeout=240)", "at.switch_page('pages/train.py')"),
        {"jax"},
    ),
    "a server": ("import ensemble.ui.shared.navigation", {"tensorflow_datasets"}),
    "a fetch": ("import ensemble.jobs.dataset_fetch", {"tensorflow_datasets"}),
    "the engine": (
        "from ensemble import engine; from jax._src import xla_bridge\n"
        "assert not xla_bridge.backends_are_initialized(), 'devices were started'",
        set(),
    ),
    "a worker": ("import ensemble.runs.training.session, ensemble.jobs.warm_worker_main", {"tensorflow_datasets"}),
    "other jobs": (
        "import ensemble.shift.stress_worker\nimport ensemble.regression.regression_runner",
        {"tensorflow_datasets"},
    ),
}
# What these need is not yet there when a page is opened: copies of the process import it.
APART = ("a notebook's runs", "wording and figures")
PROGRAM = """
import contextlib, io, json, os, sys, traceback

def do(name, code):
    failed = ""
    with contextlib.redirect_stdout(io.StringIO()):
        try:
            exec(code, {"__name__": "step"})
        except BaseException:
            failed = traceback.format_exc()
    print(json.dumps([name, failed, sorted(sys.modules)]), flush=True)

for name, code in json.load(sys.stdin).items():
    if name not in sys.argv[1:]:
        do(name, code)
    elif copy := os.fork():
        os.waitpid(copy, 0)
    else:
        do(name, code)
        os._exit(0)
"""


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[str, set[str]]]:
    """By step: what went wrong, if anything did, and all modules that are imported by then.

    Without runs: to tell whether one only guesses takes its predictions and SciPy.
    """
    code = {name: step for name, (step, _) in STEPS.items()}
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", PROGRAM, *APART],
        input=json.dumps(code),
        capture_output=True,
        text=True,
        check=True,
        cwd=REPO,
        env={**os.environ, "ENSEMBLE_RUNS": str(tmp_path_factory.mktemp("runs"))},
    )
    lines = map(json.loads, done.stdout.splitlines())
    return {name: (failed, set(modules)) for name, failed, modules in lines}


@pytest.mark.parametrize("step", STEPS)
def test_nothing_is_imported_that_is_not_needed(step: str, report: dict[str, tuple[str, set[str]]]) -> None:
    failed, imported = report[step]
    assert not failed
    assert STEPS[step][1] & imported == set()


def test_what_is_imported_is_seen(report: dict[str, tuple[str, set[str]]]) -> None:
    for step, name in {
        "--version": "ensemble.cli.program",
        "wording and figures": "ensemble.figures.palette",
        "Train": "streamlit",
        "the engine": "jax",
    }.items():
        assert name in report[step][1]
