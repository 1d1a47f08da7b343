"""One image as training goes on: the axis of its epochs."""

import numpy as np
import pytest

from ensemble.figures.palette import Palette
from ensemble.views import probability_path


@pytest.mark.parametrize(("epochs", "step"), [(1, 1), (10, 1), (11, 2), (20, 2), (25, 3)])
def test_ticks_are_whole_epochs_and_ten_at_most(epochs: int, step: int, palette: Palette) -> None:
    curve = probability_path.trace_over_epochs(dict.fromkeys(range(3, 3 + epochs), np.full((2, 2), 0.5)), 0)
    axis = probability_path.plot_probability_path(curve, "epoch", ["cat", "dog"], "title", palette).layout.xaxis
    assert (axis.tick0, axis.dtick) == (3, step)
