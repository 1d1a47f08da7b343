"""The ensemble's own metrics, from averaged probabilities.

Heavy compute and a collective in one program can kill a process that has several CPU
devices (pool threads wait for each other). So members are trained and evaluated by
programs with no collective; once those have finished, this small one takes the `pmean`.
"""

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from ensemble.engine.layout import AXIS, Layout


@dataclass(frozen=True)
class TrainingMetrics:
    """What S training steps reported, each before its update.

    Attributes:
      loss: (M, S) cross-entropy of the batch, in nats.
      accuracy: (M, S) in [0, 1].
      ensemble_nll: (S,) loss of the averaged probabilities; None when the members saw
        different batches, or views of them, where there is nothing to average.
      ensemble_accuracy: (S,) accuracy of the averaged probabilities, or None likewise.
      active: the members that were given steps, bool (M,); None if all were. The others' metrics
        are NaN, and the ensemble's are without them.
      by_ensemble: the metrics of each ensemble, where the members are several; those of averages
        are None then.
    """

    loss: np.ndarray
    accuracy: np.ndarray
    ensemble_nll: np.ndarray | None
    ensemble_accuracy: np.ndarray | None
    active: np.ndarray | None = None
    by_ensemble: "tuple[TrainingMetrics, ...]" = ()


@dataclass(frozen=True)
class Evaluation:
    """The ensemble on the whole test set.

    Attributes:
      probabilities: float32 (M, N, C).
      loss: (M,) each member's mean cross-entropy, in nats.
      accuracy: (M,) in [0, 1].
      ensemble_nll: mean cross-entropy of the averaged probabilities, in nats.
      ensemble_accuracy: accuracy of the averaged probabilities.
      active: the members that were asked, bool (M,); None if all were. The others' metrics are
        NaN, their probabilities too, and the ensemble's are without them.
      by_ensemble: the metrics of each ensemble, where the members are several; those of averages
        are NaN then.
    """

    probabilities: np.ndarray
    loss: np.ndarray
    accuracy: np.ndarray
    ensemble_nll: float
    ensemble_accuracy: float
    active: np.ndarray | None = None
    by_ensemble: "tuple[Evaluation, ...]" = ()


class EvaluationAccumulator:
    """Gathers an Evaluation from log-probabilities that come in shares, one after the other.

    So that of many images of many classes only the result is ever held whole.

    Args:
      active: the members that are asked, bool (M,).
      labels: int (N,), of all images.
      classes: C.
    """

    def __init__(self, active: np.ndarray, labels: np.ndarray, classes: int) -> None:
        members, self._active = len(active), active
        self._labels, self._done = labels, 0
        self._probabilities = np.empty((members, len(labels), classes), np.float32)
        self._chosen = np.empty((members, len(labels)), np.float32)
        self._right = np.empty((members, len(labels)), bool)
        self._nll: list[float] = []
        self._counts: list[int] = []
        self._hits = 0

    def add_batch(self, log_p: np.ndarray, ensemble_nll: float, ensemble_accuracy: float) -> None:
        """The next share: log-probabilities (M, n or more, C), and its averages' metrics."""
        labels = self._labels[self._done : self._done + log_p.shape[1]]
        here = slice(self._done, self._done + len(labels))
        log_p = log_p[:, : len(labels)]
        np.exp(log_p, out=self._probabilities[:, here])
        self._chosen[:, here] = log_p[:, np.arange(len(labels)), labels]
        self._right[:, here] = log_p.argmax(-1) == labels
        self._nll.append(float(ensemble_nll))
        self._counts.append(len(labels))
        # A mean in float32: back to a count.
        self._hits += round(float(ensemble_accuracy) * len(labels))
        self._done = here.stop

    def add_and_average(self, log_p: np.ndarray) -> None:
        """As `add_batch`, with the metrics of the average reckoned here, in float64."""
        labels = self._labels[self._done : self._done + log_p.shape[1]]
        self.add_batch(log_p, *compute_average_metrics(np.exp(log_p[:, : len(labels)]), labels, self._active))

    def compute_evaluation(self) -> Evaluation:
        """The whole, once every image has come."""
        nll = np.average(self._nll, weights=self._counts) if len(self._nll) > 1 else self._nll[0]
        loss = -self._chosen.mean(-1, dtype=np.float64)
        right, accuracy = self._right.mean(-1), self._hits / len(self._labels)
        aside = ~self._active
        if not aside.any():
            return Evaluation(self._probabilities, loss, right, float(nll), accuracy)
        self._probabilities[aside] = loss[aside] = right[aside] = np.nan
        both = (np.nan, np.nan) if aside.all() else (float(nll), accuracy)
        return Evaluation(self._probabilities, loss, right, *both, active=~aside)


def compute_average_metrics(probabilities: np.ndarray, labels: np.ndarray, active: np.ndarray) -> tuple[float, float]:
    """NLL and accuracy of the active members' average: on the host.

    Args:
      probabilities: (M, n, C).
      labels: int (n,).
      active: who counts, bool (M,); of nobody it is as if each probability were 0.
    """
    if not active.all():
        probabilities = probabilities[active] if active.any() else probabilities[:1] * 0
    mean = probabilities.mean(0, dtype=np.float64)
    chosen = np.take_along_axis(mean, labels[:, None].astype(np.int64), axis=-1)[:, 0]
    nll = -np.log(np.maximum(chosen, np.finfo(np.float32).tiny)).mean()
    return float(nll), float((mean.argmax(-1) == labels).mean())


def build_average_metrics(layout: Layout) -> Callable[..., tuple[np.ndarray, np.ndarray]]:
    """A program (probabilities, labels, active) -> (nll, accuracy) of the averaged probabilities.

    It takes probabilities (D, K, …, B, C) and labels int (D, …, B), as laid out on the
    devices, and who counts, bool (M,), in NumPy; by default all. It gives two NumPy arrays (…):
    means over the batch. More probabilities than labels along B are padding, and left out.
    """
    compiled, every = _build_average_program(layout.devices), np.ones(layout.members, bool)

    @functools.lru_cache(maxsize=64)
    def compute_member_weights(active: tuple[bool, ...]) -> Array:
        share = np.float32(len(layout.devices) / max(sum(active), 1))
        return layout.put_shards(layout.active_lanes(np.array(active)) * share)

    def compute_metrics(
        probabilities: Array, labels: Array, active: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        weights = compute_member_weights(tuple((every if active is None else active).tolist()))
        jax.block_until_ready(probabilities)
        nll, accuracy = jax.block_until_ready(compiled(weights, probabilities, labels))
        # Every device has both; nll[0] would be a program to compile.
        return np.asarray(nll.addressable_data(0))[0], np.asarray(accuracy.addressable_data(0))[0]

    return compute_metrics


@functools.cache
def _build_average_program(devices: tuple[jax.Device, ...]) -> Callable[..., tuple[Array, Array]]:
    def average_members(weight: Array, probabilities: Array, labels: Array) -> tuple[Array, Array]:
        # A lane without a member that counts may hold no number at all: 0 · NaN is NaN.
        shape = (-1,) + (1,) * (probabilities.ndim - 1)
        probabilities = probabilities[..., : labels.shape[-1], :]
        kept = jnp.where(weight.reshape(shape) > 0, probabilities, 0)
        mean = lax.pmean(jnp.tensordot(weight, kept, 1, precision="highest"), AXIS)
        return _compute_nll_and_accuracy(mean, labels)

    return Layout(len(devices), devices).pmap(average_members)


def _compute_nll_and_accuracy(probabilities: Array, labels: Array) -> tuple[Array, Array]:
    """Mean of −log p(label), and share of right verdicts: (…, B, C) and (…, B) to (…)."""
    chosen = jnp.take_along_axis(probabilities, labels[..., None], axis=-1)[..., 0]
    tiny = jnp.finfo(probabilities.dtype).tiny
    right = jnp.argmax(probabilities, axis=-1) == labels
    return -jnp.log(jnp.maximum(chosen, tiny)).mean(-1), right.mean(-1)


def mask_frozen_members(aside: np.ndarray, metrics: TrainingMetrics) -> TrainingMetrics:
    """The metrics with NaN for members that diverged, bool (M,), and known to be so."""
    if not aside.any():
        return metrics
    loss, accuracy = (
        np.where(aside[:, None], np.float32(np.nan), values) for values in (metrics.loss, metrics.accuracy)
    )
    nll, right = metrics.ensemble_nll, metrics.ensemble_accuracy
    if aside.all() and nll is not None and right is not None:
        nll, right = np.full_like(nll, np.nan), np.full_like(right, np.nan)
    return TrainingMetrics(loss, accuracy, nll, right, active=~aside)


def concatenate_training_metrics(parts: Sequence[TrainingMetrics]) -> TrainingMetrics:
    """The metrics of steps that were done in several calls, one after the other."""
    if len(parts) == 1:
        return parts[0]
    loss = np.concatenate([part.loss for part in parts], axis=1)
    accuracy = np.concatenate([part.accuracy for part in parts], axis=1)
    nll = [part.ensemble_nll for part in parts if part.ensemble_nll is not None]
    right = [part.ensemble_accuracy for part in parts if part.ensemble_accuracy is not None]
    if not nll:
        return TrainingMetrics(loss, accuracy, None, None)
    return TrainingMetrics(loss, accuracy, np.concatenate(nll, -1), np.concatenate(right, -1))
