"""`import ensemble` costs nothing, has what it says, and no more."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import ensemble
from ensemble.figures import LIGHT
from ensemble.figures.inspect import calibration as page
from tests.cli.test_program import HEAVY

REPO = Path(__file__).resolve().parents[2]
LOOK = "print(sorted({name.split('.')[0] for name in sys.modules} & set(sys.argv[1].split())))"


def loaded(statement: str, *heavy: str) -> str:
    """Which of some packages a fresh process has imported after a statement."""
    script = f"import sys\n{statement}\n{LOOK}"
    command = [sys.executable, "-W", "error", "-c", script, " ".join(heavy)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=REPO)
    return done.stdout.splitlines()[-1]


def test_listing_runs_needs_neither_jax_nor_streamlit_nor_plotly() -> None:
    heavy = HEAVY & {"jax", "flax", "streamlit", "plotly"}
    assert loaded("import ensemble; ensemble.list_runs()", *heavy) == "[]"


def test_it_lists_what_it_has_before_it_is_imported() -> None:
    assert set(ensemble.__all__) <= set(dir(ensemble))
    assert set(ensemble.figures.__all__) <= set(dir(ensemble.figures))


@pytest.mark.parametrize("module", [ensemble, ensemble.figures])
def test_what_is_not_there_is_said_not_to_be(module: Any) -> None:
    with pytest.raises(AttributeError, match="has no attribute 'no_such_name'"):
        module.no_such_name  # noqa: B018


def test_packages_are_themselves_and_not_shadowed() -> None:
    assert ensemble.runs.__name__ == "ensemble.runs"
    assert ensemble.figures.__name__ == "ensemble.figures"
    assert page.figure.__module__ == "ensemble.figures.inspect.calibration"
    assert ensemble.figures.LIGHT is LIGHT
    folders = {path.parent.name for path in (REPO / "ensemble" / "figures").glob("*/__init__.py")}
    assert not folders & set(ensemble.figures.__all__)
