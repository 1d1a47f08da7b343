"""What draws and what says needs no page: neither imports Streamlit, nor do their tests."""

from pathlib import Path

import pytest

from tests.test_floors import imported_names, is_within

TESTS = Path(__file__).resolve().parents[1]


@pytest.mark.parametrize("folder", ["figures", "wording"])
def test_they_are_tested_without_it(folder: str) -> None:
    for file in (TESTS / folder).glob("*.py"):
        names = set(imported_names(f"tests.{folder}.{file.stem}", file.read_text("utf-8")))
        for other in ("streamlit", "ensemble.ui", "pages"):
            assert not any(is_within(name, other) for name in names), f"{file.name} has {other}"
