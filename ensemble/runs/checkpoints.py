"""Checkpoints of a run, by orbax: the last one and the best one."""

import functools
from pathlib import Path
from typing import Any

from ensemble import datasets
from ensemble.engine import blank_members, steps_per_epoch
from ensemble.errors import RunError
from ensemble.runs.progress import Progress
from ensemble.runs.store import Run


class Checkpoints:
    """The checkpoints in one run's folder. Close it when done, or use `with`.

    Args:
      folder: the run's.
      read_only: change nothing; for everyone but the run's worker.
    """

    def __init__(self, folder: Path, read_only: bool = False) -> None:
        self._folder = (folder / "checkpoints").absolute()
        self._read_only = read_only

    @functools.cached_property
    def _manager(self) -> Any:
        # Imported late: a new run's first steps need not wait for it.
        import orbax.checkpoint as ocp
        from orbax.checkpoint.checkpoint_managers import AnyPreservationPolicy, BestN, LatestN

        best = BestN(get_metric_fn=lambda metrics: metrics["accuracy"], n=1)
        options = ocp.CheckpointManagerOptions(
            preservation_policy=AnyPreservationPolicy([LatestN(1), best]),
            enable_async_checkpointing=False,
            read_only=self._read_only,
        )
        return ocp.CheckpointManager(self._folder, options=options)

    def __enter__(self) -> "Checkpoints":
        return self

    def __exit__(self, *error: object) -> None:
        if "_manager" in vars(self):
            self._manager.close()

    def save(self, progress: Progress, accuracy: float = -1.0) -> None:
        """Keep this place; the best is the one with the ensemble's highest `accuracy`."""
        import orbax.checkpoint as ocp

        if progress.tick not in self._manager.all_steps():
            tree = ocp.args.StandardSave(progress.as_tree())
            self._manager.save(progress.tick, args=tree, metrics={"accuracy": accuracy}, force=True)

    def restore(self, like: Progress, tick: int | None = None) -> Progress | None:
        """The latest place that can be read whole, or None.

        Args:
          like: a Progress whose arrays have the shapes to expect.
          tick: only this place, not the latest.
        """
        if not self._folder.is_dir():
            return None
        import orbax.checkpoint as ocp

        kept = sorted(self._manager.all_steps(), reverse=True)
        for place in kept if tick is None else {tick} & set(kept):
            try:
                wanted = ocp.args.StandardRestore(like.as_tree())
                return Progress.from_tree(self._manager.restore(place, args=wanted))
            except (ValueError, OSError, KeyError) as error:
                print(f"Checkpoint {place} is damaged and was skipped: {error}"[:500], flush=True)
                if not self._read_only:
                    self._manager.delete(place)
        return None


def read_progress(run: Run, epoch: int | None = None) -> Progress:
    """The place of the run's last checkpoint, with its members.

    Args:
      run: whose.
      epoch: the end of this epoch instead; one of `checkpoint_epochs`.

    Raises:
      RunError: there is no such checkpoint, or none that can be read.
    """
    steps, members = _steps(run), run.config.members
    tick = None if epoch is None else epoch * (steps + 1)
    with Checkpoints(run.path, read_only=True) as checkpoints:
        like = Progress.blank(blank_members(members), members, steps)
        if progress := checkpoints.restore(like, tick):
            return progress
    if epoch is not None:
        raise RunError(f"The run “{run.id}” keeps nothing of epoch {epoch}: choose another epoch.")
    raise RunError(
        f"The run “{run.id}” has no checkpoint yet: one is kept at the end of its first epoch."
    )


def checkpoint_epochs(run: Run) -> list[int]:
    """The epochs at whose end a checkpoint is kept, in order; told without starting orbax."""
    ticks = [path.name for path in (run.path / "checkpoints").glob("*") if path.name.isdigit()]
    # An epoch's end is S steps and one evaluation further than the one before.
    whole = _steps(run) + 1
    return sorted(int(tick) // whole for tick in ticks if int(tick) % whole == 0 and int(tick))


def _steps(run: Run) -> int:
    return steps_per_epoch(datasets.info(run.config.dataset).train_size, run.config.batch_size)
