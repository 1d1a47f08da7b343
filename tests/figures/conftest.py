"""Figures are drawn for a light page and for a dark one."""

import pytest

from ensemble.figures.palette import DARK, LIGHT, Palette


@pytest.fixture(params=[LIGHT, DARK], ids=["light", "dark"])
def palette(request: pytest.FixtureRequest) -> Palette:
    """The colours of the page that a figure is drawn for."""
    found: Palette = request.param
    return found
