"""A run whose members can be asked: untrained networks, kept as a worker keeps them."""

from typing import Any

import jax
import numpy as np

from ensemble.engine.networks.registry import build_network
from ensemble.runs import Run
from ensemble.runs.parameters import write_parameters
from tests.pages.ensembles import trained


def askable(*, members: int = 2, epochs: int = 2, network: str = "mlp", **more: Any) -> Run:
    """A run of `trained` with parameters of random members at every epoch.

    Unless another is asked for, its network is the one with features that is compiled soonest.
    """
    run = trained(members=members, epochs=epochs, network=network, **more)
    shapes = jax.eval_shape(build_network(run.config).init, jax.random.key(0))
    for epoch in range(1, epochs + 1):
        rng = np.random.default_rng(epoch)
        params = jax.tree.map(lambda leaf: drawn(rng, (members, *leaf.shape)), shapes)  # noqa: B023
        write_parameters(run.path, epoch, params, epochs)
    return run


def drawn(rng: np.random.Generator, shape: tuple[int, ...]) -> Any:
    """Weights that keep the size of what goes through them; biases are zero."""
    if len(shape) == 2:
        return np.zeros(shape, np.float32)
    spread = 1 / np.sqrt(np.prod(shape[1:-1]))
    return rng.standard_normal(shape, np.float32) * np.float32(spread)
