"""The training loops that a race compares: this engine's, one member by one, and the HOWTO's.

All learn from the same images, with the same keys, batches and rate, so that their losses can
be compared member by member.
"""

from dataclasses import replace
from typing import Any, Protocol

import numpy as np

from ensemble import datasets
from ensemble.config import EnsembleConfig
from ensemble.datasets import Dataset
from ensemble.race.settings import RaceConfig

MAX_TRAINING_IMAGES = 12_800  # 100 steps of 128: more would only have to be copied to every device
CHECK_STEPS = 5
# Half the HOWTO's rate: at all of it learning from few digits is chaotic, and rounding grows a
# thousandfold in 20 steps, on any two machines.
LEARNING_RATE = 0.05


class TrainingLoop(Protocol):
    """A loop that trains M members for so many steps; others time it."""

    def compile_and_check(self, members: int) -> Any:
        """Compile and do the first CHECK_STEPS steps: losses (S, M), or a sentence on why not."""

    def run_steps(self, members: int, steps: int) -> None:
        """Do so many steps more, and return once they are done."""


def create_training_loop(name: str, config: RaceConfig) -> TrainingLoop:
    """The loop of this name, one of COMPETITORS, with the images that all of them learn from."""
    digits = datasets.load_dataset(config.dataset)
    size = min(MAX_TRAINING_IMAGES, len(digits.train_images))
    few = replace(
        digits,
        train_images=digits.train_images[:size],
        train_labels=digits.train_labels[:size],
        test_images=digits.test_images[:50],
        test_labels=digits.test_labels[:50],
    )
    if name == "howto":
        return HowtoLoop(config, few)
    return SequentialLoop(config, few) if name == "one_by_one" else EngineLoop(config, few, name)


class EngineLoop:
    """This engine, as a run's worker sets it up."""

    def __init__(self, config: RaceConfig, digits: Dataset, precision: str) -> None:
        self._config, self._digits, self._precision = config, digits, precision
        self._held: dict[int, tuple[Any, Any]] = {}

    def compile_and_check(self, members: int) -> Any:
        """Losses (S, M)."""
        from ensemble.engine import Trainer

        trainer = Trainer(build_raced_config(self._config, members, self._precision), self._digits)
        steps = min(CHECK_STEPS, trainer.steps_per_epoch)
        state, metrics = trainer.train(trainer.start(), 1, 0, steps)
        self._held[members] = trainer, state
        return np.asarray(metrics.loss).T

    def run_steps(self, members: int, steps: int) -> None:
        """Every call holds what is left of an epoch, at most."""
        trainer, state = self._held[members]
        self._held[members] = trainer, train_more_steps(trainer, state, steps)


class SequentialLoop:
    """M trainings of one member each, on one device, one after the other."""

    def __init__(self, config: RaceConfig, digits: Dataset) -> None:
        from ensemble.engine import Trainer

        self._trainer = Trainer(replace(build_raced_config(config, 1, "float32"), devices=1), digits)
        self._held: dict[int, list[Any]] = {}

    def compile_and_check(self, members: int) -> Any:
        """Losses (S, M)."""
        import jax

        from ensemble.engine.step import create_members

        steps = min(CHECK_STEPS, self._trainer.steps_per_epoch)
        whole = create_members(self._trainer.network, 0, members)
        states, losses = [], []
        for m in range(members):
            first = jax.tree.map(lambda leaf, m=m: np.asarray(leaf)[m : m + 1], whole)
            state, metrics = self._trainer.train(self._trainer.put(first), 1, 0, steps)
            states.append(state)
            losses.append(np.asarray(metrics.loss)[0])
        self._held[members] = states
        return np.stack(losses, axis=1)

    def run_steps(self, members: int, steps: int) -> None:
        """One member after the other does all its steps."""
        states = self._held[members]
        self._held[members] = [train_more_steps(self._trainer, state, steps) for state in states]


class HowtoLoop:
    """The HOWTO's own loop: one device a member, a step a call, batches gathered on the host."""

    def __init__(self, config: RaceConfig, digits: Dataset) -> None:
        self._images = digits.train_images.astype(np.float32) / np.float32(255.0)
        self._labels, self._batch = digits.train_labels, config.batch_size
        self._held: dict[int, tuple[Any, ...]] = {}

    def compile_and_check(self, members: int) -> Any:
        """Losses (S, M)."""
        import jax

        from ensemble.race import howto

        every = jax.local_devices()
        if len(every) < members:
            return f"It needs a device a member, and there are {len(every)}."
        devices = every[:members]
        create, apply, update = howto.pmap_train_step(devices)
        rng, keys = howto.split_howto_keys(0, members)
        perms = howto.permute_epoch(jax.random.split(rng)[1], len(self._images), self._batch)
        self._held[members] = (create(keys, LEARNING_RATE, 0.9), apply, update, list(perms), devices)
        return np.stack([np.asarray(loss) for loss in self._train_batches(members, CHECK_STEPS)])

    def run_steps(self, members: int, steps: int) -> None:
        """Epoch after epoch on the same batches."""
        while steps:
            steps -= len(self._train_batches(members, steps))

    def _train_batches(self, members: int, steps: int) -> list[Any]:
        import jax

        from ensemble.race import howto

        state, apply, update, perms, devices = self._held[members]
        state, losses, _ = howto.train_batches_on_devices(
            state, apply, update, self._images, self._labels, perms[:steps], devices
        )
        jax.block_until_ready(state.params)
        self._held[members] = (state, apply, update, perms, devices)
        return losses


def build_raced_config(config: RaceConfig, members: int, precision: str) -> EnsembleConfig:
    """The run that is raced: the HOWTO's, at half its rate."""
    return EnsembleConfig(
        dataset=config.dataset,
        members=members,
        learning_rate=LEARNING_RATE,
        momentum=0.9,
        batch_size=config.batch_size,
        precision=precision,
    )


def train_more_steps(trainer: Any, state: Any, steps: int) -> Any:
    """The state after so many steps more, of the first epoch again and again."""
    while steps:
        count = min(steps, trainer.steps_per_epoch)
        state, _ = trainer.train(state, 1, 0, count)
        steps -= count
    return state
