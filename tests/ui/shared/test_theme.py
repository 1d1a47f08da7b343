from types import SimpleNamespace

import pytest
import streamlit as st

from ensemble.figures.palette import DARK, LIGHT, Palette
from ensemble.ui.shared import theme


@pytest.mark.parametrize(("shown", "colors"), [("light", LIGHT), ("dark", DARK), (None, LIGHT)])
def test_figures_take_the_colours_that_the_browser_shows(
    shown: str | None, colors: Palette, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(st, "context", SimpleNamespace(theme=SimpleNamespace(type=shown)))
    assert theme.get_page_palette() == colors


def test_a_colour_that_somebody_set_is_taken_and_one_that_nobody_did_is_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    options = {"theme.light.textColor": "#123456"}
    monkeypatch.setattr(st, "get_option", options.get)
    found = theme.get_page_palette()
    assert (found.ink, found.ground) == ("#123456", LIGHT.ground)
