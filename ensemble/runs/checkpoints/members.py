"""The members that a run keeps for whoever asks them: at its last checkpoint, or an epoch's end."""

from dataclasses import replace

from ensemble.datasets.partition.split import count_holdout_images
from ensemble.engine import count_steps_per_epoch, create_blank_members
from ensemble.errors import RunError
from ensemble.optimizers import OPTIMIZERS
from ensemble.runs.checkpoints.folders import has_removed_checkpoints, list_checkpoint_ticks
from ensemble.runs.checkpoints.manager import Checkpoints
from ensemble.runs.parameters import list_parameter_epochs, load_run_network, read_parameters
from ensemble.runs.run_folder import SOURCES_FILE
from ensemble.runs.status import list_remaining_at_step
from ensemble.runs.store import Run, require_training_config
from ensemble.runs.training.progress import Progress


def read_progress(run: Run, epoch: int | None = None) -> Progress:
    """The place of the run's last checkpoint, with its members but for those diverged by then.

    Where that is damaged, the parameters that were kept of the same epoch stand in for it; what
    the optimizer remembers is blank then.

    Args:
      run: whose.
      epoch: the end of this epoch instead, of which a checkpoint or the parameters are kept.

    Raises:
      RunError: there is no such checkpoint, or none that can be read.
    """
    steps, members = _count_steps_per_epoch(run), run.config.members
    if run.origin and not list_parameter_epochs(run.path):
        raise _build_missing_members_error(run)
    by_parameters = run.in_groups or run.origin or (run.path / SOURCES_FILE).exists()
    if by_parameters or has_removed_checkpoints(run.path):
        return _load_group_progress(run, members, steps, epoch)
    tick = None if epoch is None else epoch * (steps + 1)
    with Checkpoints(run.path, read_only=True) as checkpoints:
        like = _create_blank_progress(run, members, steps)
        progress = checkpoints.restore(like, tick)
    if checkpoints.quarantined and epoch is None and (kept := _load_last_parameters(run, like, steps)):
        return kept
    if progress:
        return _drop_diverged_members(run, progress)
    if checkpoints.quarantined:
        raise RunError(
            " ".join(checkpoints.quarantined)
            + " The members of this epoch are stored nowhere else: choose another epoch of the "
            f"run “{run.id}”, or resume it."
        )
    if epoch is not None:
        return _load_group_progress(run, members, steps, epoch)
    raise RunError(f"The run “{run.id}” has no checkpoint yet: one is written at the end of its first epoch.")


def _build_missing_members_error(run: Run) -> RunError:
    return RunError(
        f"The run “{run.id}” was imported from a report without its members: write the report "
        "again with --with-members, or choose a run that was trained here."
    )


def _load_group_progress(run: Run, members: int, steps: int, epoch: int | None) -> Progress:
    """The end of an epoch, from its parameters: the last that every group has closed for None."""
    kept = list_parameter_epochs(run.path)
    if epoch is not None and epoch not in kept:
        raise RunError(f"The run “{run.id}” has no members of epoch {epoch}: choose another epoch.")
    if not kept:
        raise RunError(
            f"The run “{run.id}” has no members to show yet: they appear once every group has finished an epoch."
        )
    epoch = kept[-1] if epoch is None else epoch
    blank = _create_blank_progress(run, members, steps)
    state = blank.state._replace(params=read_parameters(run.id, epoch))
    return replace(blank, state=state, step=epoch * steps, evaluated=epoch)


def _drop_diverged_members(run: Run, progress: Progress) -> Progress:
    """The place with the parameters of the others alone: theirs are not numbers, mostly."""
    import jax

    members = list_remaining_at_step(run.status, run.config.members, progress.step)
    if len(members) == run.config.members:
        return progress
    params = jax.tree.map(lambda leaf: leaf[list(members)], progress.state.params)
    return replace(progress, state=progress.state._replace(params=params))


def _create_blank_progress(run: Run, members: int, steps: int) -> Progress:
    optimizer = OPTIMIZERS[require_training_config(run).optimizer]
    return Progress.blank(create_blank_members(load_run_network(run), members, optimizer), members, steps)


def _load_last_parameters(run: Run, blank: Progress, steps: int) -> Progress | None:
    """The place of the last checkpoint by the parameters of its epoch; None if none are kept."""
    ended, more = divmod(max(list_checkpoint_ticks(run.path), default=0), steps + 1)
    if more or ended not in list_parameter_epochs(run.path):
        return None
    state = blank.state._replace(params=read_parameters(run.id, ended))
    return replace(blank, state=state, step=ended * steps, evaluated=ended)


def list_checkpoint_epochs(run: Run) -> list[int]:
    """The epochs at whose end a checkpoint is kept, in order; told without starting orbax."""
    # An epoch's end is S steps and one evaluation further than the one before.
    whole = _count_steps_per_epoch(run) + 1
    ticks = list_checkpoint_ticks(run.path)
    return [tick // whole for tick in ticks if tick and tick % whole == 0]


def _count_steps_per_epoch(run: Run) -> int:
    config = require_training_config(run)
    held = count_holdout_images(run.data.splittable_size, config.validation)
    return count_steps_per_epoch(run.data.train_size - held, config.batch_size, held, config.folds)
