"""Members by their numbers, in any order and more than once, each with values of its own."""

from typing import Any

import jax
import numpy as np
import pytest

from ensemble.datasets import Dataset
from ensemble.engine import Trainer
from ensemble.errors import ConfigError
from tests.engine.conftest import devices, small_config

# Own order, own draw of the images, own shifts: all that a member's number decides.
OWN = {"shuffle_per_member": True, "bootstrap": True, "shift_pixels": 1, "members": 4}


def trainer(few: Dataset, numbers: list[int] | None = None, values: Any = None, **how: object) -> Trainer:
    config = small_config(**{"network": "logistic", **OWN, **how})
    return Trainer(config, few, devices(2), numbers=numbers, values=values)


def learnt(trainer: Trainer) -> tuple[np.ndarray, list[np.ndarray]]:
    """Losses (M, S) of two calls, and the leaves of the members after them."""
    state, first = trainer.train(trainer.start(), 1, 0, 3)
    state, then = trainer.train(state, 2, 2, 3)
    return np.concatenate([first.loss, then.loss], 1), jax.tree.leaves(trainer.get(state))


@pytest.mark.long
def test_members_by_number_are_those_of_the_whole_run_to_the_bit(few):
    whole, leaves = learnt(trainer(few))
    numbers = [3, 1, 3, 0, 2, 0]  # three on a device, and not two as in the whole run
    loss, chosen = learnt(trainer(few, numbers=numbers))
    np.testing.assert_array_equal(loss, whole[numbers])
    for one, every in zip(chosen, leaves, strict=True):
        np.testing.assert_array_equal(one, every[numbers])


def test_two_trials_of_the_same_members_in_one_program_are_each_as_alone(few):
    how = {"schedule": "cosine", "warmup_epochs": 0.5, "shift_pixels": 0}
    trials = [{"learning_rate": 0.02, "momentum": 0.0}, {"learning_rate": 0.2, "momentum": 0.8}]
    values = {name: np.repeat([one[name] for one in trials], 2) for name in trials[0]}
    loss, leaves = learnt(trainer(few, numbers=[0, 1, 0, 1], values=values, **how))
    for place, trial in enumerate(trials):
        alone, own = learnt(trainer(few, **how, **trial))
        here = slice(2 * place, 2 * place + 2)
        np.testing.assert_array_equal(loss[here], alone[:2])
        for one, other in zip(leaves, own, strict=True):
            np.testing.assert_array_equal(one[here], other[:2])


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"numbers": [0, 3]}, "no member 3 among 3: number them from 0 to 2"),
        ({"numbers": [-1]}, "no member -1"),
        ({"values": {"batch_size": [1, 2, 3]}}, "batch_size cannot differ between members"),
        ({"values": {"momentum": [0.5]}}, "momentum.* one for each of the 3 members"),
    ],
    ids=str,
)
def test_numbers_and_values_that_fit_no_member_are_refused(few, asked, said):
    with pytest.raises(ConfigError, match=said):
        Trainer(small_config(network="logistic"), few, devices(1), **asked)
