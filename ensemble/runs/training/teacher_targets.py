"""What a teacher says of the training images: computed once, kept with the student, read again."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ensemble.datasets import Dataset
from ensemble.errors import RunError
from ensemble.runs.parameters import load_run_network, read_parameters
from ensemble.runs.store import Run, require_training_config
from ensemble.runs.teacher import TARGETS_FILE, Teacher, find_teacher, find_teacher_folder, write_teacher_record
from ensemble.runs.test_set import load_run_dataset
from ensemble.storage.arrays.damaged_file import DamagedFileError
from ensemble.storage.arrays.npy import ExpectedArray
from ensemble.storage.arrays.npz import read_arrays, write_arrays
from ensemble.storage.file_lock import hold_folder_lock

TARGETS = "probabilities"
_IMAGES_PER_CALL = 1024  # whose logits and features are held at once


class _TargetsStoppedError(Exception):
    """Whoever started the run wants it stopped before its teacher has answered."""


def prepare_teacher_targets(run: Run, stop: Callable[[], bool] = lambda: False) -> bool:
    """See to it that the targets of a run that learns from a teacher lie in its folder.

    Of several processes of one run the first computes them, the others wait for it.

    Returns:
      Whether they do, or none are needed; False where `stop` said so before.

    Raises:
      RunError: there is no such teacher, it cannot be asked, or it is gone together with what it
        said of a run that has begun.
    """
    config, folder = require_training_config(run), find_teacher_folder(run)
    path = folder / TARGETS_FILE
    if not config.has_soft_targets or path.exists():
        return True
    if run.status.step:
        raise RunError(
            f"What “{config.teacher}” taught is no longer in the folder of “{folder.name}” "
            f"({TARGETS_FILE}), so it cannot go on as it began: launch a new run with its settings."
        )

    def raise_if_stopped() -> None:
        if stop():
            raise _TargetsStoppedError

    try:
        with hold_folder_lock(folder, raise_if_stopped):
            if not path.exists():
                teacher = find_teacher(config)
                targets = _compute_teacher_targets(
                    teacher, load_run_dataset(run), config.distil_temperature, raise_if_stopped
                )
                write_teacher_record(folder, teacher.describe(config.distil_temperature))
                write_arrays(path, {TARGETS: targets})
    except _TargetsStoppedError:
        return False
    return True


def load_teacher_targets(run: Run) -> NDArray[np.float32] | None:
    """The targets in a run's folder, float32 (N, C) of all its training images; None without any.

    Raises:
      RunError: they cannot be read.
    """
    if not require_training_config(run).has_soft_targets:
        return None
    folder = find_teacher_folder(run)
    shape = run.data.train_size, len(run.data.class_names)
    try:
        arrays = read_arrays(folder / TARGETS_FILE, {TARGETS: ExpectedArray(shape, "float32")}, need_checksum=True)
    except (OSError, DamagedFileError) as error:
        why = getattr(error, "strerror", None) or error
        raise RunError(
            f"What “{folder.name}” is taught cannot be read from {TARGETS_FILE} in its folder "
            f"({why}): launch a new run with its settings."
        ) from error
    targets: NDArray[np.float32] = arrays[TARGETS]
    return targets


def _compute_teacher_targets(
    teacher: Teacher, dataset: Dataset, temperature: float, between: Callable[[], None] = lambda: None
) -> NDArray[np.float32]:
    """The averaged probabilities of a teacher's members on all training images, float32 (N, C).

    Each member's logits are divided by the temperature first, and the softmax of each is averaged:
    the ensemble's own average of probabilities, of members that are all less sure.

    Args:
      teacher: who is asked.
      dataset: the images, as they are.
      temperature: T, at least 1.
      between: called between blocks of images; what it raises ends this.

    Raises:
      RunError: the parameters cannot be read, or a logit is not a number.

    Source: G. Hinton, O. Vinyals and J. Dean, "Distilling the knowledge in a neural network",
    arXiv:1503.02531 (2015): the arithmetic mean of the members' distributions as soft targets.
    """
    import jax

    from ensemble.engine import compute_activations

    network = load_run_network(teacher.run)
    params = jax.device_put(read_parameters(teacher.run.id, teacher.epoch))
    blocks = []
    for first in range(0, len(dataset.train_images), _IMAGES_PER_CALL):
        between()
        images = dataset.train_images[first : first + _IMAGES_PER_CALL]
        logits = compute_activations(network, params, images).logits
        blocks.append(average_softened_probabilities(logits, temperature))
    return np.concatenate(blocks)


def average_softened_probabilities(logits: NDArray[np.float32], temperature: float) -> NDArray[np.float32]:
    """The mean over members of softmax(logits / T): (M, N, C) to float32 (N, C)."""
    scaled = logits.astype(np.float64) / temperature
    raised = np.exp(scaled - scaled.max(axis=-1, keepdims=True))
    probabilities = raised / raised.sum(axis=-1, keepdims=True)
    return probabilities.mean(axis=0).astype(np.float32)
