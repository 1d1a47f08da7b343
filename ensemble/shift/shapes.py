"""Simple shapes as strokes of a pen: stars, arrows, hearts, crosses, houses and others.

A stroke is a line of points (K, 2), x to the right and y down, in a scale of its own.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Draws = np.random.Generator
Strokes = list[NDArray[np.floating]]


def _build_path(*corners: tuple[float, float]) -> NDArray[np.floating]:
    return np.array(corners, float)


def _build_arc(
    start: float, end: float, middle: tuple[float, float] = (0.5, 0.5), radius: float = 0.5
) -> NDArray[np.floating]:
    """Part of a circle, from and to a share of the round, clockwise from the right."""
    angle = 2 * np.pi * np.linspace(start, end, 60)
    return np.stack([np.cos(angle), np.sin(angle)], axis=1) * radius + middle


def _build_star(draws: Draws) -> Strokes:
    angle = 2 * np.pi * (np.arange(6) * 2 / 5 + 0.75)
    return [np.stack([np.cos(angle), np.sin(angle)], axis=1)]


def _build_asterisk(draws: Draws) -> Strokes:
    angles = np.pi * (np.arange(3) / 3 + draws.uniform(0, 1))
    ends = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    return [np.stack([end, -end]) for end in ends]


def _build_arrow(draws: Draws) -> Strokes:
    turn = np.pi / 2 * draws.integers(4)
    matrix = np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]])
    return [
        stroke @ matrix
        for stroke in (_build_path((0, 0.5), (1, 0.5)), _build_path((0.65, 0.15), (1, 0.5), (0.65, 0.85)))
    ]


def _build_zigzag(draws: Draws) -> Strokes:
    teeth = int(draws.integers(5, 8))
    return [np.stack([np.arange(teeth) / (teeth - 1), np.arange(teeth) % 2 * 0.6], axis=1)]


def _build_heart(draws: Draws) -> Strokes:
    angle = 2 * np.pi * np.linspace(0, 1, 80)
    x = 16 * np.sin(angle) ** 3
    y = 13 * np.cos(angle) - 5 * np.cos(2 * angle) - 2 * np.cos(3 * angle) - np.cos(4 * angle)
    return [np.stack([x, -y], axis=1)]


def _build_fixed_shape(*strokes: NDArray[np.floating]) -> Callable[[Draws], Strokes]:
    return lambda draws: list(strokes)


_CROSS_STROKES = _build_path((0, 0), (1, 1)), _build_path((1, 0), (0, 1))
_PLUS_STROKES = _build_path((0.5, 0), (0.5, 1)), _build_path((0, 0.5), (1, 0.5))
_SQUARE_STROKE = _build_path((0, 0), (1, 0), (1, 1), (0, 1), (0, 0))
SHAPES: tuple[Callable[[Draws], Strokes], ...] = (
    _build_star,
    _build_asterisk,
    _build_arrow,
    _build_zigzag,
    _build_heart,
    _build_fixed_shape(*_CROSS_STROKES),
    _build_fixed_shape(*_PLUS_STROKES),
    _build_fixed_shape(_SQUARE_STROKE),
    _build_fixed_shape(_SQUARE_STROKE, *_CROSS_STROKES),
    _build_fixed_shape(_build_path((0.5, 0), (1, 0.9), (0, 0.9), (0.5, 0))),
    _build_fixed_shape(_build_path((0, 1), (0, 0.4), (0.5, 0), (1, 0.4), (1, 1), (0, 1))),
    _build_fixed_shape(_build_arc(0, 1), *(stroke * 0.7 + 0.15 for stroke in _CROSS_STROKES)),
    _build_fixed_shape(_build_arc(0, 1), _build_arc(0, 1, radius=0.2)),
    _build_fixed_shape(
        _build_arc(0, 1),
        _build_arc(0.1, 0.4, radius=0.3),
        _build_path((0.35, 0.35), (0.35, 0.4)),
        _build_path((0.65, 0.35), (0.65, 0.4)),
    ),
    _build_fixed_shape(
        *(_build_path((at, 0), (at, 1)) for at in (0.3, 0.7)), *(_build_path((0, at), (1, at)) for at in (0.3, 0.7))
    ),
    _build_fixed_shape(_build_path((0, 0.6), (0.35, 1), (1, 0))),
    _build_fixed_shape(*(_build_path((0, at), (1, at)) for at in (0.1, 0.5, 0.9))),
)
