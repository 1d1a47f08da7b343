"""The real digits, whole and few, and functions of tests that train and predict.

Compiling is most of what these tests take: they train with the same few shapes, so that one
program serves many of them.
"""

import functools
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import jax
import numpy as np
import pytest

from benchmarks.speed import howto_loop
from ensemble import datasets
from ensemble.config import EnsembleConfig
from ensemble.datasets import Dataset
from ensemble.engine import Trainer

# For what the engine is compared with: compiled in half the time, and not by the same LLVM passes.
plainly_compiled = functools.partial(jax.jit, compiler_options={"xla_backend_optimization_level": "0"})


@pytest.fixture(scope="session")
def digits() -> Dataset:
    return datasets.load_dataset("digits")


@pytest.fixture(scope="session")
def few(digits: Dataset) -> Dataset:
    """96 digits to learn and 70 to be tested on: for tests of mechanics."""
    return replace(
        digits,
        train_images=digits.train_images[:96],
        train_labels=digits.train_labels[:96],
        test_images=digits.test_images[:70],
        test_labels=digits.test_labels[:70],
    )


def train_epochs(trainer: Trainer, epochs: int, cut: int | None = None) -> tuple[np.ndarray, object]:
    """Losses (epochs, S, M) and the final state, each epoch in calls of `cut` steps."""
    state, losses = trainer.start(), []
    for epoch in range(1, epochs + 1):
        done, steps = 0, trainer.steps_per_epoch
        while done < steps:
            count = min(cut or steps, steps - done)
            state, figures = trainer.train(state, epoch, done, count)
            losses.append(figures.loss.T)
            done += count
    return np.concatenate(losses).reshape(epochs, -1, trainer.config.members), state


@plainly_compiled
def stock(params: Any, images: Any) -> Any:
    """Logits of Flax's own layers with these parameters."""
    return howto_loop.CNN().apply({"params": params}, images)


def small_config(**changes: object) -> EnsembleConfig:
    return EnsembleConfig(**{"members": 3, "batch_size": 16, "epochs": 2, **changes})


def devices(count: int) -> list[jax.Device]:
    return jax.devices()[:count]


@contextmanager
def record_compilations(caplog: pytest.LogCaptureFixture) -> Iterator[list[str]]:
    """Collect JAX's messages about compiling training steps and evaluations; complete at the end of the block.

    test_trainer.py shows that a step of another shape is among them.
    """
    messages: list[str] = []
    caplog.clear()
    with jax.log_compiles(), caplog.at_level("WARNING"):
        yield messages
    messages += [record.message for record in caplog.records if record.message.startswith("Compiling jit(_fun)")]
