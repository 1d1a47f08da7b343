"""Checkpoints of a run, by orbax: the last two and the best one, each with its checksums.

What is damaged is moved away, never deleted; what merely cannot be read (no permission, a disk
that fails) is left as it is, and said: the next look may find it whole.
"""

import errno
import functools
import logging
import os
import shutil
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ensemble.errors import RunError
from ensemble.runs.checkpoints.folders import CHECKPOINTS_FOLDER, list_checkpoint_ticks
from ensemble.runs.training.progress import Progress
from ensemble.storage.checksums import find_checksum_damage, has_checksums, write_checksums

_ORBAX_ITEM = "default"  # what orbax calls a checkpoint's only tree
_QUARANTINE_FOLDER = "damaged"  # in the run's folder
# Beside the arrays: orbax's own notes, and a place for the last words of a worker.
_MARGIN_BYTES = 2**20
_DISK_FULL_MESSAGES = ("RESOURCE_EXHAUSTED", "No space left", "os_error_code='28'", "os_error_code='122'")


class Checkpoints:
    """The checkpoints in one run's folder. Close it when done, or use `with`.

    Args:
      folder: the run's.
      read_only: change nothing; for everyone but the run's worker.

    Attributes:
      quarantined: a sentence on each damaged checkpoint that `restore` met and moved away, or
        skipped.
    """

    def __init__(self, folder: Path, read_only: bool = False) -> None:
        self._run_folder = folder.absolute()
        self._folder = self._run_folder / CHECKPOINTS_FOLDER
        self._read_only = read_only
        self.quarantined: list[str] = []
        self._retention = _LastTwoAndBest()

    @functools.cached_property
    def _manager(self) -> Any:
        # Imported late: a new run's first steps need not wait for it.
        import orbax.checkpoint as ocp

        self._remove_partial_writes()
        options = ocp.CheckpointManagerOptions(preservation_policy=self._retention, enable_async_checkpointing=False)
        return ocp.CheckpointManager(self._folder, options=options)

    def __enter__(self) -> "Checkpoints":
        return self

    def __exit__(self, *error: object) -> None:
        if "_manager" in vars(self):
            self._manager.close()

    def save(self, progress: Progress, best: int | None = None) -> None:
        """Keep this place, the one before it, and the tick that is the best so far.

        Raises:
          OSError: the disk is full, or cannot be written; nothing half-written is left.
        """
        import orbax.checkpoint as ocp

        tick, tree = progress.tick, progress.as_tree()
        if tick in list_checkpoint_ticks(self._run_folder):
            return
        # Before orbax begins, whose threads would go on writing into a full disk.
        _check_disk_space(self._run_folder, count_tree_bytes(tree) + _MARGIN_BYTES)
        try:
            self._retention.best = best
            self._manager.save(tick, args=ocp.args.StandardSave(tree), force=True)
        except Exception as error:
            self._remove_partial_writes()
            if any(word in str(error) for word in _DISK_FULL_MESSAGES):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)) from error
            raise
        write_checksums(self._folder / str(tick))

    def restore(self, like: Progress, tick: int | None = None) -> Progress | None:
        """The latest place that is undamaged, or None where there is no checkpoint.

        Args:
          like: a Progress whose arrays have the shapes to expect.
          tick: only this place, not the latest.

        Raises:
          RunError: a checkpoint is there and cannot be read, or does not fit the settings;
            or all there are have been damaged.
        """
        every = list_checkpoint_ticks(self._run_folder)
        places = every if tick is None else [tick] if tick in every else []
        for place in reversed(places):
            if damage := self._find_damage(place):
                self._quarantine_checkpoint(place, damage)
            elif checkpoint := self._read_checkpoint(place, like):
                return checkpoint
        if self.quarantined and tick is None and not self._read_only:
            raise RunError(
                " ".join(self.quarantined) + " There is no other: resume again to train the run from the beginning."
            )
        return None

    def _find_damage(self, place: int) -> str | None:
        """What is wrong with a checkpoint's files; None if they are as they were written."""
        try:
            return find_checksum_damage(self._folder / str(place))
        except OSError as error:
            raise RunError(
                f"Checkpoint {place} of the run “{self._run_folder.name}” cannot be read ({error.strerror}). "
                f"Nothing was changed: make {error.filename} readable, then try again."
            ) from error

    def _read_checkpoint(self, place: int, like: Progress) -> Progress | None:
        """The place; None if an earlier version's, without checksums, is damaged."""
        import orbax.checkpoint as ocp

        folder, wanted = self._folder / str(place), like.as_tree()
        try:
            with ocp.StandardCheckpointer() as reader:
                # Orbax's own complaint leaves tasks behind that complain as well.
                fits = _read_stored_shape(reader, folder / _ORBAX_ITEM) == like.metrics["loss"].shape
                tree = reader.restore(folder / _ORBAX_ITEM, wanted) if fits else None
        except MemoryError:
            raise
        except Exception as error:  # orbax's and tensorstore's are of every kind
            if not has_checksums(folder):
                self._quarantine_checkpoint(place, f"{error}"[:300])
                return None
            traceback.print_exc()
            raise RunError(
                f"Checkpoint {place} of the run “{self._run_folder.name}” is undamaged but "
                "cannot be read, perhaps because other versions of jax, flax or orbax wrote "
                "it (config.json names them). Nothing was changed; the log has the details."
            ) from error
        if tree is None:
            raise RunError(
                f"Checkpoint {place} of the run “{self._run_folder.name}” does not fit the "
                "run's settings: put back the config.json that it was trained with."
            )
        return Progress.from_tree(tree)

    def _quarantine_checkpoint(self, place: int, damage: str) -> None:
        sentence = f"Checkpoint {place} is damaged"
        if self._read_only:
            self.quarantined.append(f"{sentence} and was skipped.")
            return print(f"{self.quarantined[-1]} {damage}.", flush=True)
        aside = self._run_folder / _QUARANTINE_FOLDER
        aside.mkdir(exist_ok=True)
        names = (f"checkpoint-{place}{again}" for again in ("", *(f"-{n}" for n in range(2, 999))))
        free = next(name for name in names if not (aside / name).exists())
        (self._folder / str(place)).rename(aside / free)
        self.quarantined.append(f"{sentence} and was moved to the run's folder “{_QUARANTINE_FOLDER}”.")
        print(f"{self.quarantined[-1]} {damage}.", flush=True)

    def _remove_partial_writes(self) -> None:
        """Remove what a kill or a full disk left half-written: orbax gives it another name."""
        for torn in self._folder.glob("*.orbax-checkpoint-tmp*"):
            shutil.rmtree(torn, ignore_errors=True)


class _LastTwoAndBest:
    """Which checkpoints orbax keeps; its own policy forgets what was best when a process ends.

    Two: one is there to go on from where the other is damaged.
    """

    best: int | None = None

    def should_preserve(self, checkpoints: Sequence[Any], *, context: Any) -> list[bool]:
        wanted = {self.best, *(checkpoint.step for checkpoint in checkpoints[-2:])}
        return [checkpoint.step in wanted for checkpoint in checkpoints]


def _check_disk_space(folder: Path, size: int) -> None:
    if shutil.disk_usage(folder).free < size:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def count_tree_bytes(tree: Any) -> int:
    import jax

    return sum(np.asarray(leaf).nbytes for leaf in jax.tree.leaves(tree))


def _read_stored_shape(reader: Any, folder: Path) -> tuple[int, ...]:
    """(M, S), which is what a run's settings decide of a checkpoint's arrays."""
    log = logging.getLogger("absl")
    before = log.level
    log.setLevel(logging.ERROR)  # It misses a file that no checkpoint of one tree has.
    try:
        return tuple(reader.metadata(folder).item_metadata.tree["loss"].shape)
    finally:
        log.setLevel(before)
