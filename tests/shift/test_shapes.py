"""Shapes that are no digits, by the corners of their strokes."""

import numpy as np
import pytest

from ensemble.shift import shapes


@pytest.mark.parametrize("seed", range(3))
def test_a_zigzag_goes_up_and_down_from_one_side_to_the_other(seed: int) -> None:
    (corners,) = shapes._build_zigzag(np.random.default_rng(seed))
    assert 5 <= len(corners) <= 7
    assert corners[:, 1].tolist() == [0, 0.6, 0, 0.6, 0, 0.6, 0][: len(corners)]
    assert corners[[0, -1], 0].tolist() == [0, 1]
    assert (np.diff(corners[:, 0]) > 0).all()
