"""What draws and what says needs no page: neither imports Streamlit, nor do their tests."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.test_floors import imported_names, is_within, read_sources

TESTS = Path(__file__).resolve().parents[1]


@pytest.mark.parametrize("folder", ["figures", "wording"])
def test_every_module_is_imported_without_streamlit(folder: str) -> None:
    modules = [name.removesuffix(".__init__") for name in read_sources()
               if name.startswith(f"ensemble.{folder}.")]  # fmt: skip
    assert len(modules) > 5
    script = (
        f"import sys, importlib\nfor name in {modules!r}: importlib.import_module(name)\n"
        "print([name for name in sys.modules if name in ('streamlit', 'ensemble.ui', 'jax')])"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("folder", ["figures", "wording"])
def test_they_are_tested_without_it(folder: str) -> None:
    for file in (TESTS / folder).glob("*.py"):
        names = set(imported_names(f"tests.{folder}.{file.stem}", file.read_text("utf-8")))
        for other in ("streamlit", "ensemble.ui", "pages"):
            assert not any(is_within(name, other) for name in names), f"{file.name} has {other}"
