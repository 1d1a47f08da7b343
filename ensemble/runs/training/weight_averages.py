"""average/: the members with the parameters of a run's last epochs averaged, and their answers.

Stochastic weight averaging: each member's parameters after each of the run's last `swa_epochs`
epochs, averaged (P. Izmailov and others, "Averaging weights leads to wider optima and better
generalization", UAI 2018, with one model an epoch). `parameters.npz` holds them as parameters/
does, `predictions.npz` and `validation.npz` what they answer. All of it follows from parameters/,
so that it can be made again, and of a run in groups by whoever first asks for it.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensemble.config.marked_epochs import describe_statistics_conflict
from ensemble.datasets.partition.split import select_validation_indices
from ensemble.errors import ConfigError, RunError
from ensemble.jobs.folders import change_job_files
from ensemble.machine.jax_settings import prepare_jax
from ensemble.runs.parameters import list_parameter_epochs, load_run_network, read_parameters
from ensemble.runs.store import Run, require_training_config
from ensemble.runs.test_set import load_run_dataset
from ensemble.storage.arrays.damaged_file import DamagedFileError
from ensemble.storage.arrays.npy import ExpectedArray
from ensemble.storage.arrays.npz import read_arrays, write_arrays

_AVERAGE_FOLDER = "average"


def check_weight_averaging(run: Run) -> None:
    """See that the parameters of a run's members can be averaged.

    Raises:
      ConfigError: their network carries running statistics.
    """
    if require_training_config(run).swa_epochs and (network := load_run_network(run)).collections:
        raise ConfigError(describe_statistics_conflict(f"The network {network.name}"))


def average_run_parameters(run: Run) -> dict[str, Any]:
    """The plain mean over the epochs that the run averages: a tree of float32 (M, …).

    Raises:
      RunError: it averages none, or has not come to their end; or they cannot be read.
    """
    epochs = require_training_config(run).averaged_epochs
    if not epochs:
        raise RunError(f"The run “{run.id}” averages no parameters: launch one with swa_epochs above 0.")
    if missing := sorted(set(epochs) - set(list_parameter_epochs(run.path))):
        way = "train it to the end"
        if run.origin:
            way = "write its report again with --with-members --all-epochs"
        raise RunError(
            f"The run “{run.id}” averages the parameters of epochs {epochs[0]} to "
            f"{epochs[-1]}, and those of epoch {missing[0]} are missing: {way}."
        )
    import jax

    total: Any = None
    for epoch in epochs:
        params = read_parameters(run.id, epoch)
        wide = jax.tree.map(lambda leaf: np.asarray(leaf, np.float64), params)
        total = wide if total is None else jax.tree.map(np.add, total, wide)
    averages: dict[str, Any] = jax.tree.map(lambda leaf: (leaf / len(epochs)).astype("f4"), total)
    return averages


def save_weight_average(run: Run) -> None:
    """Average the run's parameters, have them answer, and write both down.

    Raises:
      NotPreparedError: the dataset no longer exists.
      RunError: as `average_run_parameters`; or the folder cannot be written.
    """
    from flax import traverse_util

    from ensemble.engine import ForwardPass

    check_weight_averaging(run)
    params, network = average_run_parameters(run), load_run_network(run)
    data, config = load_run_dataset(run), require_training_config(run)
    image_sets = {"predictions": data.test_images}
    if config.validation:
        image_sets["validation"] = data.train_images[select_validation_indices(config, data)]
    folder = run.path / _AVERAGE_FOLDER
    with change_job_files(run.path, action=None):  # whoever looks first has it made
        folder.mkdir(exist_ok=True)
        write_arrays(folder / "parameters.npz", traverse_util.flatten_dict(params, sep="/"))
        for name, images in image_sets.items():
            probabilities = ForwardPass(network, params, len(images))(images)
            assert probabilities is not None
            write_arrays(folder / f"{name}.npz", {"probabilities": probabilities})


def load_averaged_predictions(run: Run) -> NDArray[np.float32]:
    """What the averaged members answer on the test images, (M, N, C); made where it is not there.

    Raises:
      NotPreparedError, RunError: as `save_weight_average`.
    """
    shape = (run.config.members, run.data.test_size, len(run.data.class_names))
    expected = {"probabilities": ExpectedArray(shape)}
    path = run.path / _AVERAGE_FOLDER / "predictions.npz"
    try:
        return np.asarray(read_arrays(path, expected)["probabilities"])
    except (OSError, DamagedFileError):
        prepare_jax()
        import jax

        jax.config.update("jax_platforms", "cpu")  # a run that trains may have the accelerator
        save_weight_average(run)
        return np.asarray(read_arrays(path, expected)["probabilities"])
