"""The members that a run keeps for whoever asks them: at its last checkpoint, or an epoch's end."""

from dataclasses import replace

from ensemble.datasets.split import held_out
from ensemble.engine import blank_members, steps_per_epoch
from ensemble.errors import RunError
from ensemble.optimizers import OPTIMIZERS
from ensemble.runs.checkpoints.folders import checkpoint_ticks
from ensemble.runs.checkpoints.manager import Checkpoints
from ensemble.runs.contents import SOURCES_FILE
from ensemble.runs.parameters import kept_epochs, network_of_run, read_parameters
from ensemble.runs.status import remaining_at
from ensemble.runs.store import Run, trained_here
from ensemble.runs.training.progress import Progress


def read_progress(run: Run, epoch: int | None = None) -> Progress:
    """The place of the run's last checkpoint, with its members but for those set aside by then.

    Where that is damaged, the parameters that were kept of the same epoch stand in for it; what
    the optimizer remembers is blank then.

    Args:
      run: whose.
      epoch: the end of this epoch instead; one of `checkpoint_epochs`.

    Raises:
      RunError: there is no such checkpoint, or none that can be read.
    """
    steps, members = _steps(run), run.config.members
    if run.origin and not kept_epochs(run.path):
        raise without_members(run)
    if run.in_groups or run.origin or (run.path / SOURCES_FILE).exists():
        return _of_groups(run, members, steps, epoch)
    tick = None if epoch is None else epoch * (steps + 1)
    with Checkpoints(run.path, read_only=True) as checkpoints:
        like = _blank(run, members, steps)
        progress = checkpoints.restore(like, tick)
    if checkpoints.set_aside and epoch is None and (kept := _last_parameters(run, like, steps)):
        return kept
    if progress:
        return _without_set_aside(run, progress)
    if checkpoints.set_aside:
        raise RunError(
            " ".join(checkpoints.set_aside) + " These members are not kept otherwise: choose "
            f"another epoch of the run “{run.id}”, or resume it."
        )
    if epoch is not None:
        raise RunError(f"The run “{run.id}” keeps nothing of epoch {epoch}: choose another epoch.")
    raise RunError(
        f"The run “{run.id}” has no checkpoint yet: one is kept at the end of its first epoch."
    )


def without_members(run: Run) -> RunError:
    """What to say where a run came in a report, and its members are needed."""
    return RunError(
        f"The run “{run.id}” came in a report without its members: have the report written again "
        "with --with-members, or choose a run that was trained here."
    )


def _of_groups(run: Run, members: int, steps: int, epoch: int | None) -> Progress:
    """The end of an epoch that every group has closed, the last if none is said."""
    kept = kept_epochs(run.path)
    if epoch is not None and epoch not in kept:
        raise RunError(f"The run “{run.id}” keeps nothing of epoch {epoch}: choose another epoch.")
    if not kept:
        raise RunError(
            f"The run “{run.id}” has no members to show yet: they are there once every group of "
            "them has closed an epoch."
        )
    epoch = kept[-1] if epoch is None else epoch
    blank = _blank(run, members, steps)
    state = blank.state._replace(params=read_parameters(run.id, epoch))
    return replace(blank, state=state, step=epoch * steps, evaluated=epoch)


def _without_set_aside(run: Run, progress: Progress) -> Progress:
    """The place with the parameters of the others alone: theirs are no numbers, mostly."""
    import jax

    members = remaining_at(run.status, run.config.members, progress.step)
    if len(members) == run.config.members:
        return progress
    params = jax.tree.map(lambda leaf: leaf[list(members)], progress.state.params)
    return replace(progress, state=progress.state._replace(params=params))


def _blank(run: Run, members: int, steps: int) -> Progress:
    """The place before the first step, all zero."""
    optimizer = OPTIMIZERS[trained_here(run).optimizer]
    return Progress.blank(blank_members(network_of_run(run), members, optimizer), members, steps)


def _last_parameters(run: Run, blank: Progress, steps: int) -> Progress | None:
    """The place of the last checkpoint by the parameters of its epoch; None where none are kept."""
    ended, more = divmod(max(checkpoint_ticks(run.path), default=0), steps + 1)
    if more or ended not in kept_epochs(run.path):
        return None
    state = blank.state._replace(params=read_parameters(run.id, ended))
    return replace(blank, state=state, step=ended * steps, evaluated=ended)


def checkpoint_epochs(run: Run) -> list[int]:
    """The epochs at whose end a checkpoint is kept, in order; told without starting orbax."""
    # An epoch's end is S steps and one evaluation further than the one before.
    whole = _steps(run) + 1
    ticks = checkpoint_ticks(run.path)
    return [tick // whole for tick in ticks if tick and tick % whole == 0]


def _steps(run: Run) -> int:
    config = trained_here(run)
    held = held_out(run.data.divisible, config.validation)
    return steps_per_epoch(run.data.train_size - held, config.batch_size, held)
