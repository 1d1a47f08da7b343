"""The first state of members that start from given weights."""

from typing import Any

from ensemble.engine.step import create_members_from
from ensemble.errors import RunError
from ensemble.runs.start_weights import WEIGHTS_FILE
from ensemble.runs.store import Run
from ensemble.runs.training.task_records import AnyTrainer
from ensemble.storage.arrays.damaged_file import DamagedFileError
from ensemble.storage.arrays.npz import read_arrays


def create_start_state(run: Run, trainer: AnyTrainer) -> Any:
    """The members before their first step, (M, …), from the weights in their run's folder.

    Returns:
      None where it has none: members are drawn.

    Raises:
      RunError: they cannot be read, or do not fit the network any more.
    """
    folder = run.path if run.has_all_members else run.path.parents[1]  # of a group its run's
    path = folder / WEIGHTS_FILE
    if not path.exists():
        return None
    try:
        arrays = read_arrays(path, None, path.stat().st_size, need_checksum=True)
        return create_members_from(trainer.network, trainer.config, trainer.numbers, arrays)
    except (OSError, DamagedFileError, ValueError) as error:
        raise RunError(
            f"The weights that “{folder.name}” starts from cannot be read from {WEIGHTS_FILE} in "
            f"its folder ({error}): train it anew from the file that they came from."
        ) from error
