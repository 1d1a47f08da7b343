"""`import ensemble` has what it says, and no more; what that costs: tests/test_imports.py."""

from pathlib import Path
from typing import Any

import pytest

import ensemble
from ensemble.figures import LIGHT
from ensemble.views import calibration as page

REPO = Path(__file__).resolve().parents[2]


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
    assert page.plot_reliability_diagram.__module__ == "ensemble.views.calibration"
    assert ensemble.figures.LIGHT is LIGHT
    folders = {path.parent.name for path in (REPO / "ensemble" / "figures").glob("*/__init__.py")}
    assert not folders & set(ensemble.figures.__all__)
