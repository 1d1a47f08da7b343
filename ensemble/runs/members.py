"""A run's members, kept open in the process that serves the pages, to be asked at once."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ensemble.errors import RunError
from ensemble.machine.jax_settings import prepare_jax
from ensemble.runs.epoch_choice import is_chosen_on_validation, select_default_epoch
from ensemble.runs.parameters import list_parameter_epochs, load_run_network, read_parameters
from ensemble.runs.store import Run, find_run, require_training_config

if TYPE_CHECKING:
    from ensemble.engine import Network


@dataclass(frozen=True, eq=False)
class Members:
    """The members of a run at the end of an epoch, or at its last checkpoint.

    Attributes:
      epoch: epochs that they have done.
      steps_after: steps of the next epoch that they have done: more than 0 in a stopped run.
      params: their parameters, leaves (M, …), on the CPU's first device.
      network: what they are.
    """

    epoch: int
    steps_after: int
    params: Any
    network: "Network"

    def predict_probabilities(self, images: NDArray[np.uint8]) -> NDArray[np.float32]:
        """What each member makes of images uint8 (N, H, W, channels): float32 (M, N, C).

        Raises:
          RunError: it is not a number: of members that came from elsewhere, nobody knows.
        """
        from ensemble.engine import predict_probabilities
        from ensemble.engine.activations import NOT_FINITE_MESSAGE

        probabilities = predict_probabilities(self.network, self.params, images)
        if not np.isfinite(probabilities).all():
            raise RunError(NOT_FINITE_MESSAGE)
        return probabilities


def open_members(run_id: str, epoch: int | None = None) -> Members:
    """The run's members on the CPU, at its last checkpoint or at the end of an epoch.

    A page must never take an accelerator's memory from a run that trains: a process that has
    not started JAX yet gets it without accelerators.

    Args:
      run_id: whose.
      epoch: one of `list_member_epochs`; None is the last checkpoint, which a stopped run may have
        in the middle of an epoch.

    Raises:
      UnknownRunError: there is no such run.
      RunError: it has no checkpoint that can be read yet, or keeps nothing of that epoch.
      ConfigError: its network is a person's own, and is not allowed here.
    """
    run = find_run(run_id)
    require_training_config(run)
    prepare_jax()
    import jax

    jax.config.update("jax_platforms", "cpu")
    first = jax.devices()[0]
    network = load_run_network(run)
    if epoch is not None and epoch in list_parameter_epochs(run.path):
        params = jax.device_put(read_parameters(run_id, epoch), first)
        return Members(epoch, 0, params, network)
    from ensemble.runs.checkpoints.members import read_progress

    progress = read_progress(run, epoch)
    on_device = jax.device_put(progress.state.params, first)
    return Members(progress.evaluated, progress.step_in_epoch, on_device, network)


def select_members(run: Run, members: Members, numbers: Sequence[int]) -> Members:
    """Some of a run's members at the epoch that they were opened at, in the order of `numbers`.

    Args:
      run: whose.
      members: all that had not diverged by then, as of `open_members`.
      numbers: which, from 0.

    Raises:
      RunError: one of them had diverged by then.
    """
    import jax

    remaining = list(run.remaining_members(members.epoch))
    if gone := [number + 1 for number in numbers if number not in remaining]:
        raise RunError(
            f"Member {gone[0]} of the run “{run.id}” had diverged by epoch {members.epoch}: leave "
            "it out, or choose an earlier epoch."
        )
    places = np.array([remaining.index(number) for number in numbers])
    return replace(members, params=jax.tree.map(lambda leaf: leaf[places], members.params))


def select_members_epoch(run: Run) -> int | None:
    """The epoch chosen on validation images, where its members can be opened.

    None for any other run, whose last checkpoint is meant: a stopped run may have it in the middle
    of an epoch.
    """
    epochs = list_member_epochs(run.id)
    epoch = select_default_epoch(run, epochs) if epochs else 0
    return epoch if is_chosen_on_validation(run, epoch) else None


def list_member_epochs(run_id: str) -> tuple[int, ...]:
    """The epochs, from 1, whose members can be opened: all, but for a run of long ago.

    None of a run that was trained elsewhere.

    Before parameters were kept with every epoch there were checkpoints alone, of the last and
    of the best.

    Raises:
      UnknownRunError: there is no such run.
    """
    run = find_run(run_id)
    if run.training_config is None:
        return ()
    prepare_jax()
    from ensemble.runs.checkpoints.members import list_checkpoint_epochs

    return tuple(sorted({*list_parameter_epochs(run.path), *list_checkpoint_epochs(run)}))
