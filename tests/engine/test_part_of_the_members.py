"""The first parameters of some of a run's members: the same numbers, from one compiled program."""

import jax
import numpy as np

from ensemble.config import EnsembleConfig
from ensemble.engine import network_of
from ensemble.engine.step import create_members

COMPILED = "/jax/core/compile/backend_compile_duration"


def test_one_program_draws_the_first_parameters_of_every_group_as_all_at_once() -> None:
    compiled: list[str] = []

    def note(event: str, seconds: float, **more: object) -> None:
        if event == COMPILED:
            compiled.append(event)

    network = network_of(EnsembleConfig(network="logistic"), (8, 8, 1), 10)
    whole = create_members(network, 5, 7)
    parts = [create_members(network, 5, 7, range(2))]
    jax.block_until_ready(parts)
    jax.monitoring.register_event_duration_secs_listener(note)
    parts += [create_members(network, 5, 7, range(first, first + 2)) for first in (2, 3, 5)]
    jax.block_until_ready(parts)
    assert compiled == []
    for part, first in zip(parts, (0, 2, 3, 5), strict=True):
        for one, every in zip(jax.tree.leaves(part), jax.tree.leaves(whole), strict=True):
            np.testing.assert_array_equal(one, every[first : first + 2])
