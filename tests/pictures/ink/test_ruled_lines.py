"""Printed lines are found wherever strokes hide parts of them, and however high the picture is."""

import numpy as np
import pytest

from ensemble.pictures.ink.ruled_lines import find_ruled_lines

WIDE, STRIP = 640, 20  # pixels of a picture, and of one of its 32 strips


@pytest.mark.parametrize("seen", [8, 16, 24])
def test_a_line_is_found_from_its_middle_and_both_quarters(seen: int) -> None:
    away = np.zeros((100, WIDE), np.float32)
    away[50:53] = 0.5
    for hidden in {0, 8, 16, 24} - {seen}:
        away[:, hidden * STRIP : (hidden + 1) * STRIP] = 0
    (line,) = find_ruled_lines(away)
    np.testing.assert_allclose(line.rows, 51, atol=0.5)
    assert (line.start, line.stop) == (STRIP, WIDE)


def test_a_broad_faint_line_of_a_high_picture_stands_out_from_the_paper_s_grain() -> None:
    away = np.zeros((2400, WIDE), np.float32)
    away[::2] = 0.036
    away[1000:1008] += 0.1
    (line,) = find_ruled_lines(away)
    np.testing.assert_allclose(line.rows, 1003.5, atol=1)
