"""A run that the examples open."""

from pathlib import Path

import pytest

from ensemble.runs import Run
from tests.pages.ensembles import trained


@pytest.fixture
def three(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Three members, two epochs, finished; what is written goes to a folder of the test's."""
    monkeypatch.chdir(tmp_path)
    return trained(name="three of them")
