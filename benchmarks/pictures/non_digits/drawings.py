"""Scribbles, simple drawings and ticks by a pen on paper, or in hairlines on a canvas."""

from typing import Any

import numpy as np

from benchmarks.pictures.handwriting import curve, ring, trace
from benchmarks.pictures.non_digits.presenting import on_canvas, on_paper, pen_of
from benchmarks.pictures.rendering import Photo


def picture(draws: Any, number: int) -> Photo:
    """A scribble or a drawing, in turns."""
    return (scribble, drawing)[number % 2](draws, number // 2)


def scribble(draws: Any, number: int) -> Photo:
    """Strokes that lead nowhere, or go to and fro."""
    pen = pen_of(draws)
    paths, tall = scribble_paths(draws, number), draws.uniform(160, 330)
    return on_paper([trace(paths, tall, pen, draws)], pen, draws)


def scribble_paths(draws: Any, number: int) -> list[np.ndarray]:
    """The paths of a scribble."""
    if number % 2:  # to and fro, as something is crossed out
        count = draws.integers(12, 24)
        across = np.linspace(0, draws.uniform(0.8, 1.6), count) + draws.normal(size=count) * 0.03
        points = np.column_stack([across, draws.uniform(0, 0.1, count) + 0.9 * (np.arange(count) % 2)])
    else:
        points = draws.uniform(0, 1, size=(draws.integers(9, 18), 2))
    return [curve(points)]


def drawing(draws: Any, number: int) -> Photo:
    """A house, smiley, star, arrow or flower, in a hand."""
    shaky, pen = drawing_paths(draws, number), pen_of(draws)
    return on_paper([trace(shaky, draws.uniform(140, 330), pen, draws)], pen, draws)


def drawing_paths(draws: Any, number: int) -> list[np.ndarray]:
    """The paths of a simple drawing."""
    turn = np.arange(6) * 4 * np.pi / 5
    shapes = {
        "house": [
            np.array([[0, 1], [0, 0.4], [0.4, 0], [0.8, 0.4], [0.8, 1], [0, 1]]),
            np.array([[0, 0.4], [0.8, 0.4]]),
            np.array([[0.3, 1], [0.3, 0.65], [0.5, 0.65], [0.5, 1]]),
        ],
        "smiley": [
            ring(0.5, 0.5, 0.5),
            ring(0.32, 0.36, 0.05),
            ring(0.68, 0.36, 0.05),
            curve(np.array([[0.25, 0.6], [0.5, 0.8], [0.75, 0.6]])),
        ],
        "star": [np.column_stack([0.5 + 0.5 * np.sin(turn), 0.5 - 0.5 * np.cos(turn)])],
        "arrow": [np.array([[0, 0.5], [1.2, 0.45]]), np.array([[0.9, 0.2], [1.2, 0.45], [0.92, 0.7]])],
        "flower": [
            ring(0.5, 0.3, 0.12),
            *(ring(0.5 + 0.22 * np.sin(a), 0.3 + 0.22 * np.cos(a), 0.1) for a in np.arange(6)),
            np.array([[0.5, 0.6], [0.52, 1.2]]),
        ],
    }
    paths = shapes[list(shapes)[number % len(shapes)]]
    return [path + draws.normal(size=path.shape) * (0.01 if len(path) < 9 else 0.002) for path in paths]


def hairline(draws: Any, number: int) -> Photo:
    """A scribble or a drawing in hairlines on a large canvas, in turns."""
    paths = (scribble_paths, drawing_paths)[number % 2](draws, number // 2)
    return on_canvas(lambda tall: trace(paths, tall, "hair", draws), draws)


TICKS = {
    "tick": [np.array([[0, 0.6], [0.35, 1], [1, 0]])],
    "cross": [np.array([[0, 0], [0.9, 1]]), np.array([[0.9, 0], [0, 1]])],
    "ticked box": [
        np.array([[0, 0.25], [0.75, 0.25], [0.75, 1], [0, 1], [0, 0.25]]),
        np.array([[0.15, 0.55], [0.35, 0.85], [0.95, 0.05]]),
    ],
    "plus": [np.array([[0.5, 0], [0.5, 1]]), np.array([[0, 0.5], [1, 0.5]])],
    "heart": [
        np.array([[0.5, 1], [0.02, 0.4], [0.1, 0.1], [0.35, 0.05], [0.5, 0.3]]),
        np.array([[0.5, 0.3], [0.65, 0.05], [0.9, 0.1], [0.98, 0.4], [0.5, 1]]),
    ],
    "wave": [np.array([[0, 0.5], [0.25, 0.3], [0.5, 0.5], [0.75, 0.7], [1.2, 0.4]])],
    "hash": [np.array([[x, 0], [x - 0.1, 1]]) for x in (0.35, 0.75)]
    + [np.array([[0, y], [1, y]]) for y in (0.3, 0.65)],
}


def tick(draws: Any, number: int) -> Photo:
    """A tick, a cross, a ticked box, a plus, a heart, a wave or a hash by a pen on paper."""
    paths = list(TICKS.values())[number % len(TICKS)]
    shaky = [
        curve(path + draws.normal(size=path.shape) * 0.02, 60)
        if len(path) in (5, 9)
        else path + draws.normal(size=path.shape) * 0.025
        for path in paths
    ]
    pen = pen_of(draws)
    return on_paper([trace(shaky, draws.uniform(80, 260), pen, draws)], pen, draws)
