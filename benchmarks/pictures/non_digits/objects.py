"""Photographs of solid things: balls, boxes, rings, cups and bottles on a table, by ray marching.

Each ray steps on by the distance to the nearest surface (J. C. Hart, "Sphere tracing", The Visual
Computer 12, 1996). Table, wall and things have textures of natural statistics: power falls with
the square of the frequency (D. J. Field, JOSA A 4, 1987).
"""

from typing import Any

import numpy as np
from PIL import Image

from benchmarks.pictures.non_digits.presenting import SHARP
from benchmarks.pictures.rendering import Photo, encode

SHAPE, STEPS, FAR = (180, 240), 32, 9.0
LIGHT = np.array([-0.5, 0.8, -0.4]) / np.linalg.norm([-0.5, 0.8, -0.4])


def texture(draws: Any, side: int = 256) -> np.ndarray:
    """(side, side) of mean 0 and deviation 1, whose amplitude falls as one by the frequency."""
    across = np.fft.fftfreq(side)
    far = np.hypot(across[:, None], across[None])
    far[0, 0] = np.inf
    waves = np.fft.fft2(draws.standard_normal((side, side))) / far
    noise = np.fft.ifft2(waves).real
    return (noise / noise.std()).astype(np.float32)


def distance(kind: int, at: np.ndarray, size: float) -> np.ndarray:
    """How far points (..., 3) are from a thing at the origin, its half height `size`, y up."""
    x, y, z = np.moveaxis(at / size, -1, 0)
    flat = np.hypot(x, z)
    if kind == 0:  # ball
        distances = np.sqrt(flat**2 + y**2) - 1
    elif kind == 1:  # box with round edges
        over = np.abs(at / size) - 0.78
        distances = np.linalg.norm(over.clip(0), axis=-1) + over.max(axis=-1).clip(None, 0) - 0.1
    elif kind == 2:  # ring that lies
        distances = np.hypot(flat - 0.9, y + 0.65) - 0.35
    elif kind == 3:  # cup with a handle
        body = np.maximum(flat - 0.75, np.abs(y) - 1)
        body = np.maximum(body, -np.maximum(flat - 0.62, -0.8 - y))
        distances = np.minimum(body, np.hypot(np.hypot(x - 0.8, y) - 0.5, z) - 0.12)
    else:  # bottle
        wide = np.where(y < 0.1, 0.5, 0.5 - 0.36 * ((y - 0.1) / 0.4).clip(0, 1))
        distances = np.maximum(flat - wide, np.abs(y) - 1) * 0.7
    return distances * size


def scene_of(things: list[tuple[int, np.ndarray, float]], at: np.ndarray) -> np.ndarray:
    """(1 + things, ...): how far points are from the table and from each thing."""
    return np.stack([at[..., 1], *(distance(kind, at - where, size) for kind, where, size in things)])


def march(things: Any, start: np.ndarray, way: np.ndarray, far: float) -> tuple[Any, np.ndarray]:
    """Where rays end, and how closely each passed by a surface, as a share of its way."""
    gone, least = np.full(start.shape[:-1], 0.03), np.ones(start.shape[:-1])
    for _ in range(STEPS):
        near = scene_of(things, start + gone[..., None] * way).min(axis=0)
        least = np.minimum(least, 10 * near / gone)
        gone = np.minimum(gone + near, far)
    return gone, least.clip(0, 1)


def picture(draws: Any, number: int) -> Photo:
    """One to three things on a table before a wall; a third of them on a white ground."""
    things = []
    for at in range(draws.integers(1, 4)):
        size = draws.uniform(0.45, 0.8)
        place = np.array([at * 1.3 - 0.6 + draws.uniform(-0.3, 0.3), size, draws.uniform(-0.4, 0.8)])
        things.append(((number + at) % 5, place, size))
    rows, columns = np.mgrid[1 : -1 : SHAPE[0] * 1j, -1 : 1 : SHAPE[1] * 1j]
    way = np.stack([columns * 0.6, rows * 0.45 - 0.35, np.ones(SHAPE)], axis=-1)
    way /= np.linalg.norm(way, axis=-1, keepdims=True)
    start = np.broadcast_to([draws.uniform(-0.4, 0.4), 1.9, -3.2], way.shape)
    gone, _ = march(things, start, way, FAR)
    at = start + gone[..., None] * way
    pixels = shaded(things, at, way, draws)
    ground = np.full(3, 250.0) if number % 3 == 0 else draws.uniform(60, 230) + draws.uniform(-30, 30, 3)
    which = scene_of(things, at).argmin(axis=0)
    wall = (gone >= FAR - 0.1) | ((which == 0) & (number % 3 == 0))
    behind = ground * (1 + (0 if number % 3 == 0 else 0.15) * texture(draws)[: SHAPE[0], : SHAPE[1], None])
    pixels = np.where(wall[..., None], behind, pixels)
    large = Image.fromarray(pixels.clip(0, 255).astype(np.uint8)).resize((640, 480), Image.Resampling.BICUBIC)
    noisy = np.asarray(large, np.float32) + 2 * draws.standard_normal((480, 640, 1))
    return Photo(*encode(noisy, SHARP, draws))


def shaded(things: Any, at: np.ndarray, way: np.ndarray, draws: Any) -> np.ndarray:
    """Colours (h, w, 3) in 0..255 of points: textured, lit from one side, with soft shadows."""
    small = 1e-3
    slopes = [
        scene_of(things, at + small * axis).min(axis=0) - scene_of(things, at - small * axis).min(axis=0)
        for axis in np.eye(3)
    ]
    normal = np.stack(slopes, axis=-1)
    normal /= np.linalg.norm(normal, axis=-1, keepdims=True).clip(1e-9)
    which = scene_of(things, at).argmin(axis=0)
    hues = draws.uniform(40, 230, (len(things) + 1, 3))
    colours = hues + 0.5 * (hues.mean(axis=1, keepdims=True) - hues)
    rough = texture(draws)
    where = [(at[..., axis] * 60).astype(int) % 256 for axis in (0, 2)]
    where[1] = (where[1] + (at[..., 1] * 60).astype(int)) % 256
    depth = np.array([0.22, *draws.uniform(0.0, 0.3, len(things))])[which]
    base = colours[which] * (1 + depth * rough[where[0], where[1]])[..., None]
    _, open_sky = march(things, at + 0.02 * normal, np.broadcast_to(LIGHT, at.shape), 4.0)
    lit = (normal @ LIGHT).clip(0) * open_sky
    half = LIGHT - way
    half /= np.linalg.norm(half, axis=-1, keepdims=True)
    shine = 110 * (normal * half).sum(axis=-1).clip(0) ** 40 * open_sky * (which > 0)
    sky = 0.28 + 0.14 * normal[..., 1]  # more light comes from above than from below
    return base * (sky + 0.7 * lit)[..., None] + shine[..., None]
