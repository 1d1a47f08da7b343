"""The examples in docstrings and in docs/python.md give what they say."""

import doctest
import importlib
from pathlib import Path

import pytest

import ensemble
from ensemble.runs import Run

REPO = Path(__file__).resolve().parents[2]
MODULES = [f"ensemble.api.{name}" for name in ("prediction_import", "run_lookup", "predictions", "run")]
FLAGS = doctest.ELLIPSIS


@pytest.mark.parametrize("name", MODULES)
def test_examples_of_docstrings_give_what_they_say(three: Run, name: str) -> None:
    found = doctest.testmod(importlib.import_module(name), optionflags=FLAGS)
    assert found.failed == 0
    assert found.attempted >= 4


@pytest.mark.long
def test_the_walk_in_the_docs_gives_what_it_says(three: Run) -> None:
    page = str(REPO / "docs" / "python.md")
    found = doctest.testfile(page, module_relative=False, optionflags=FLAGS, encoding="utf-8")
    assert found.failed == 0
    assert found.attempted >= 20


def test_every_name_is_documented_and_on_the_page() -> None:
    page = (REPO / "docs" / "python.md").read_text("utf-8")
    for name in ensemble.__all__:
        found = getattr(ensemble, name)
        assert found.__doc__, name
        assert name in page, name
    for name in ensemble.figures.__all__:
        assert getattr(ensemble.figures, name) is not None
        assert name in page, name
