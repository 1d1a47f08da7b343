"""Where a window's taps lie, against the definition of a tap."""

import itertools
from collections.abc import Iterator

import numpy as np
import pytest

from ensemble.engine.networks.cpu_products import TAPS
from ensemble.engine.networks.cpu_windows import WindowGrid


def pixels(grid: WindowGrid, level: int) -> tuple[np.ndarray, ...]:
    """Row and column of the pixel at each place: (4ᵏ, rows, columns) each, by the formula."""
    side, (rows, columns) = 2**level, grid.plane_size(level)
    plane = np.arange(side**2)[:, None, None]
    row = side * np.arange(rows)[:, None] + plane // side - (side - 1)
    column = side * np.arange(columns) + plane % side - (side - 1)
    return np.broadcast_arrays(row, column)


def grids(layers: int) -> Iterator[tuple[WindowGrid, int]]:
    """Small images of every remainder, high and wide, at every level that is computed."""
    sizes = range(2**layers, 2**layers + 9)
    for height, width, level in itertools.product(sizes, sizes, range(layers)):
        yield WindowGrid(height, width, layers, batch=3), level


@pytest.mark.parametrize("layers", [1, 2, 3])
def test_every_tap_of_every_window_is_the_pixel_that_it_should_be(layers: int) -> None:
    for grid, level in grids(layers):
        (rows, columns), starts = grid.computed_region(level)
        (s, t), (row, column) = pixels(grid, level), pixels(grid, level + 1)
        for u, v in TAPS:
            for n, (plane, down, right) in enumerate(grid.tap_origins(level, (u, v))):
                (a, b), right = starts[n], right // grid.batch
                window = n, slice(a, a + rows), slice(b, b + columns)
                tap = plane, slice(down, down + rows), slice(right, right + columns)
                assert (row[tap] == 2 * s[window] + u - 1).all()
                assert (column[tap] == 2 * t[window] + v - 1).all()


@pytest.mark.parametrize("layers", [1, 2, 3])
def test_every_pixel_is_computed_once_and_nothing_else_counts(layers: int) -> None:
    for grid, level in grids(layers):
        (rows, columns), starts = grid.computed_region(level)
        row, column = pixels(grid, level)
        found: list[tuple[int, int]] = []
        for n, ((a, b), inside) in enumerate(zip(starts, grid.pixel_mask(level), strict=True)):
            rectangle = n, slice(a, a + rows), slice(b, b + columns)
            found += zip(row[rectangle][inside], column[rectangle][inside], strict=True)
        assert sorted(found) == list(itertools.product(*map(range, grid.image_size(level))))
