"""First parameters: the same numbers whoever is drawn with whom, from one compiled program."""

import jax
import numpy as np
import pytest

from ensemble.config import EnsembleConfig
from ensemble.engine import build_network
from ensemble.engine.step import create_members


def test_one_program_draws_the_first_parameters_of_any_members_as_all_at_once(caplog: pytest.LogCaptureFixture) -> None:
    network = build_network(EnsembleConfig(network="logistic"), (8, 8, 1), 10)
    whole = create_members(network, 5, 7)
    with jax.log_compiles(), caplog.at_level("WARNING"):
        parts = [create_members(network, 5, 7, range(first, first + 2)) for first in (0, 2, 3, 5)]
        larger, other = create_members(network, 5, 41), create_members(network, 6, 3)
        assert not caplog.records, "they are the same program's"
        many = create_members(network, 5, 65, range(2))
    compiled = [one.message for one in caplog.records if "Compiling" in one.message]
    assert compiled, "the keys of more than 64 members"
    assert not [message for message in compiled if "create" in message], compiled
    for part, first in zip(parts, (0, 2, 3, 5), strict=True):
        for one, every in zip(jax.tree.leaves(part), jax.tree.leaves(whole), strict=True):
            np.testing.assert_array_equal(one, every[first : first + 2])
    for one, every in zip(jax.tree.leaves(whole), jax.tree.leaves(larger), strict=True):
        np.testing.assert_array_equal(one, every[:7])
    jax.tree.map(np.testing.assert_array_equal, many, parts[0])
    kernel = "Dense_0"
    assert not np.array_equal(other.params[kernel]["kernel"], whole.params[kernel]["kernel"][:3])
