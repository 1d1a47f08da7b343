"""The ensemble's own figures, from averaged probabilities.

Heavy compute and a collective in one program can kill a process that has several CPU
devices (pool threads wait for each other). So members are trained and evaluated by
programs with no collective; once those have finished, this small one takes the `pmean`.
"""

import functools
from collections.abc import Callable
from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from ensemble.engine.layout import AXIS, Layout


@dataclass(frozen=True)
class StepFigures:
    """What S training steps reported, each before its update.

    Attributes:
      loss: (M, S) cross-entropy of the batch, in nats.
      accuracy: (M, S) in [0, 1].
      ensemble_nll: (S,) loss of the averaged probabilities; None when the members saw
        different batches, or views of them, where there is nothing to average.
      ensemble_accuracy: (S,) accuracy of the averaged probabilities, or None likewise.
    """

    loss: np.ndarray
    accuracy: np.ndarray
    ensemble_nll: np.ndarray | None
    ensemble_accuracy: np.ndarray | None

    def first_divergence(self) -> tuple[int, int] | None:
        """(step, member) of the first loss that is not finite, both counted from 0."""
        bad = np.argwhere(~np.isfinite(self.loss.T))
        return (int(bad[0, 0]), int(bad[0, 1])) if len(bad) else None


@dataclass(frozen=True)
class Evaluation:
    """The ensemble on the whole test set.

    Attributes:
      probabilities: float32 (M, N, C).
      loss: (M,) each member's mean cross-entropy, in nats.
      accuracy: (M,) in [0, 1].
      ensemble_nll: mean cross-entropy of the averaged probabilities, in nats.
      ensemble_accuracy: accuracy of the averaged probabilities.
    """

    probabilities: np.ndarray
    loss: np.ndarray
    accuracy: np.ndarray
    ensemble_nll: float
    ensemble_accuracy: float


def evaluation(
    log_p: np.ndarray, labels: np.ndarray, ensemble_nll: np.ndarray, ensemble_accuracy: np.ndarray
) -> Evaluation:
    """An Evaluation from the members' log-probabilities (M, ≥ N, C), padding included."""
    log_p = log_p[:, : len(labels)]
    loss = -log_p[:, np.arange(len(labels)), labels].mean(-1, dtype=np.float64)
    accuracy = (log_p.argmax(-1) == labels).mean(-1)
    right = round(float(ensemble_accuracy) * len(labels))  # A mean in float32: back to a count.
    return Evaluation(np.exp(log_p), loss, accuracy, float(ensemble_nll), right / len(labels))


def ensemble_figures(layout: Layout) -> Callable[[Array, Array], tuple[np.ndarray, np.ndarray]]:
    """A program (probabilities, labels) -> (nll, accuracy) of the averaged probabilities.

    It takes probabilities (D, K, …, B, C) and labels int (D, …, B), as laid out on the
    devices, and gives two NumPy arrays (…): means over the batch. More probabilities
    than labels along B are padding, and left out.
    """
    weights = layout.put(layout.real * np.float32(len(layout.devices) / layout.members))

    compiled = _program(layout.devices)

    def figures(probabilities: Array, labels: Array) -> tuple[np.ndarray, np.ndarray]:
        jax.block_until_ready(probabilities)
        nll, accuracy = jax.block_until_ready(compiled(weights, probabilities, labels))
        return np.asarray(nll)[0], np.asarray(accuracy)[0]  # nll[0] would be a program to compile.

    return figures


@functools.cache
def _program(devices: tuple[jax.Device, ...]) -> Callable[..., tuple[Array, Array]]:
    """Compiled once a process for these devices."""

    def program(weight: Array, probabilities: Array, labels: Array) -> tuple[Array, Array]:
        # A surplus lane holds no member and may hold no number at all: 0 · NaN is NaN.
        shape = (-1,) + (1,) * (probabilities.ndim - 1)
        probabilities = probabilities[..., : labels.shape[-1], :]
        kept = jnp.where(weight.reshape(shape) > 0, probabilities, 0)
        mean = lax.pmean(jnp.tensordot(weight, kept, axes=1), AXIS)
        return nll_and_accuracy(mean, labels)

    return Layout(len(devices), devices).pmap(program)


def nll_and_accuracy(probabilities: Array, labels: Array) -> tuple[Array, Array]:
    """Mean of −log p(label), and share of right verdicts: (…, B, C) and (…, B) to (…)."""
    chosen = jnp.take_along_axis(probabilities, labels[..., None], axis=-1)[..., 0]
    tiny = jnp.finfo(probabilities.dtype).tiny
    right = jnp.argmax(probabilities, axis=-1) == labels
    return -jnp.log(jnp.maximum(chosen, tiny)).mean(-1), right.mean(-1)
