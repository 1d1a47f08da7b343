"""A run's members, kept open in the process that serves the pages, to be asked at once."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensemble.runs.environment import prepare_jax
from ensemble.runs.store import find


@dataclass(frozen=True, eq=False)
class Members:
    """The members of a run at its last checkpoint.

    Attributes:
      epoch: epochs that they have done.
      steps_after: steps of the next epoch that they have done: more than 0 in a stopped run.
      params: their parameters, leaves (M, …).
    """

    epoch: int
    steps_after: int
    params: Any

    def probabilities(self, images: NDArray[np.uint8]) -> NDArray[np.float32]:
        """What each member makes of images uint8 (N, 28, 28, 1): float32 (M, N, C)."""
        from ensemble.engine import predict_probabilities

        return predict_probabilities(self.params, images)


def open_members(run_id: str) -> Members:
    """The run's members at its last checkpoint, on the CPU.

    A page must never take an accelerator's memory from a run that trains: a process that has
    not started JAX yet gets it without accelerators.

    Raises:
      UnknownRunError: there is no such run.
      RunError: it has no checkpoint that can be read yet.
    """
    run = find(run_id)
    prepare_jax()
    import jax

    jax.config.update("jax_platforms", "cpu")
    from ensemble.runs.checkpoints import read_progress

    progress = read_progress(run)
    on_device = jax.device_put(progress.state.params, jax.devices()[0])
    return Members(progress.evaluated, progress.step_in_epoch, on_device)
