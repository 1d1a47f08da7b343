"""Reconstruction: how well what is known makes up something new, by neighbours or by a subspace."""

import numpy as np
from numpy.typing import NDArray

_NEIGHBOR_COUNT = 8
_RIDGE_SHARE = 0.03  # of the neighbours' squared distances: keeps weights from running to ±∞
_ROWS_PER_BLOCK = 256  # rows compared with all that is known at once: tens of MB

Rows = NDArray[np.float32]


def normalize_rows(rows: Rows) -> Rows:
    """Each row brought to length 1; a row of zeros stays."""
    return rows / np.maximum(np.linalg.norm(rows, axis=-1, keepdims=True), np.float32(1e-6))


def compute_nearest_distances(rows: NDArray[np.float32], known_rows: NDArray[np.float32]) -> NDArray[np.float32]:
    """The Euclidean distance of each row (N, F) to the nearest of the known (R, F)."""
    if not len(known_rows):
        return np.full(len(rows), 2 * np.sqrt(rows.shape[1]), np.float32)
    squares, minima = (known_rows**2).sum(axis=1), np.empty(len(rows), np.float32)
    for at in range(0, len(rows), _ROWS_PER_BLOCK):
        block = rows[at : at + _ROWS_PER_BLOCK]
        minima[at : at + _ROWS_PER_BLOCK] = (squares - 2 * block @ known_rows.T).min(axis=1)
    return np.sqrt(np.maximum(minima + (rows**2).sum(axis=1), 0))


def compute_neighbor_residuals(rows: Rows, known_rows: Rows, count: int = _NEIGHBOR_COUNT) -> NDArray[np.float64]:
    """How far each row is from what its nearest known rows make up together, (N,).

    These are mixed by weights of sum 1 that come nearest to it: a stroke a little longer than all
    known ones lies on a line with two of them, and is near, where a stroke of another form is not.

    Args:
      rows: (N, F).
      known_rows: (R, F); with none of them the distance is that to a row far from all.
      count: how many neighbours, or R where that is less.

    Source: S. Roweis and L. Saul, "Nonlinear dimensionality reduction by locally linear
    embedding", Science 290 (2000), the weights of its first step and their regularisation.
    """
    if not len(known_rows):
        return np.full(len(rows), 2 * np.sqrt(rows.shape[-1]))
    count = min(count, len(known_rows))
    squares, residuals = (known_rows**2).sum(axis=1), np.empty(len(rows))
    for at in range(0, len(rows), _ROWS_PER_BLOCK):
        block = rows[at : at + _ROWS_PER_BLOCK]
        nearest = np.argpartition(squares - 2 * block @ known_rows.T, count - 1, axis=1)[:, :count]
        apart = (known_rows[nearest] - block[:, None]).astype(np.float64)
        residuals[at : at + _ROWS_PER_BLOCK] = _minimize_mix_length(apart)
    return residuals


def _minimize_mix_length(apart: NDArray[np.float64]) -> NDArray[np.float64]:
    """The least length (N,) of mixes of N times K differences (N, K, F), weights of sum 1."""
    products = apart @ apart.swapaxes(1, 2)
    count = products.shape[1]
    slack = _RIDGE_SHARE * np.trace(products, axis1=1, axis2=2) + 1e-12
    products += slack[:, None, None] * np.eye(count)
    weights = np.linalg.solve(products, np.ones((len(apart), count, 1)))
    weights /= weights.sum(axis=1, keepdims=True)
    return np.linalg.norm((weights * apart).sum(axis=1), axis=-1)


def fit_subspace(rows: Rows, axes: int) -> tuple[Rows, Rows]:
    """The mean (F,) of rows (N, F) and the (A, F) axes along which most of them vary, A ≤ `axes`.

    Principal components, from the products of whichever are fewer: rows or columns.
    """
    mean = rows.mean(axis=0) if len(rows) else np.zeros(rows.shape[1], np.float32)
    off = rows - mean
    axes = max(0, min(axes, len(rows) - 1, rows.shape[1] - 1))
    if len(rows) < rows.shape[1]:
        values, vectors = np.linalg.eigh(off @ off.T)
        top = vectors[:, ::-1][:, :axes].T @ off
        return mean, top / np.sqrt(np.maximum(values[::-1][:axes, None], 1e-12)).astype(np.float32)
    return mean, np.linalg.eigh(off.T @ off)[1][:, ::-1][:, :axes].T.astype(np.float32)


def compute_subspace_residuals(rows: Rows, mean: Rows, axes: Rows) -> NDArray[np.float64]:
    """How far rows (N, F) are from the plane through the mean (F,) along the axes (A, F): (N,)."""
    off = rows - mean
    left = off - (off @ axes.T) @ axes
    return np.sqrt((left.astype(np.float64) ** 2).sum(axis=-1))
