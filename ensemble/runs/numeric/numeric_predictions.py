"""predictions/ and targets.npz of a run that predicts numbers: an .npz an epoch, and the truth."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from ensemble.analysis.inference.image_groups import Groups, number_groups, select_groups
from ensemble.analysis.numeric.ensemble_forms import list_ensemble_arrays
from ensemble.analysis.numeric.normal_mixture import Doubles, NormalMixture
from ensemble.analysis.numeric.numeric_ensemble import NumericEnsemble, build_numeric_ensemble
from ensemble.datasets.example_details import clean_details, read_details, write_details
from ensemble.errors import RunError
from ensemble.runs.epoch_choice import select_default_epoch
from ensemble.runs.epoch_files import (
    build_damaged_epoch_error,
    locate_epoch_file,
    read_epoch_arrays,
    write_epoch_arrays,
)
from ensemble.runs.history import list_prediction_epochs
from ensemble.runs.store import Run
from ensemble.runs.test_set import DETAILS_FILE, GROUPS_FILE
from ensemble.storage.arrays.damaged_file import DamagedFileError
from ensemble.storage.arrays.npy import ExpectedArray
from ensemble.storage.arrays.npz import read_arrays, write_arrays
from ensemble.tables.prepared_table import read_prepared_table

TARGETS_FILE = "targets.npz"
CURVE = "curve"  # predictions along the one input of a table
_MAX_TARGET_BYTES = 2**31


@dataclass(frozen=True, eq=False)
class NumericTargets:
    """What is true of the test examples.

    Attributes:
      values: (N,), finite, in the run's unit.
      example_names: N of them, or none.
      groups: (N,), the group of each example, from 0; None without a column of groups.
    """

    values: Doubles
    example_names: tuple[str, ...] = ()
    groups: Groups | None = None


def write_numeric_arrays(folder: Path, epoch: int, arrays: Mapping[str, ArrayLike], what: str = "predictions") -> None:
    """Keep what the members predict after an epoch, in double precision.

    Args:
      folder: the run's.
      epoch: counted from 1.
      arrays: M first, as `list_ensemble_arrays` names them.
      what: "predictions" of the test examples, or "validation".
    """
    write_epoch_arrays(folder, what, epoch, {name: np.asarray(array, np.float64) for name, array in arrays.items()})


@dataclass(frozen=True, eq=False)
class NumericCurve:
    """What members predict along the one input of a table.

    Attributes:
      name: of the input.
      inputs: (P,), rising, in its unit.
      predicted: at these.
      low, high: the training range of the input.
      test_inputs: (N,), the inputs of the test rows.
    """

    name: str
    inputs: Doubles
    predicted: NormalMixture
    low: float
    high: float
    test_inputs: Doubles


def read_numeric_curve(run: Run, epoch: int) -> NumericCurve | None:
    """Read the curve after an epoch; None if the table has several inputs, or an older version ran.

    Raises:
      RunError: the file is damaged.
      DataError: the table's files are.
    """
    if run.settings is None or not locate_epoch_file(run.path, CURVE, epoch).exists():
        return None
    table = read_prepared_table(run.path)
    number, inputs = table.encoding.numbers[0], table.encoding.list_curve_inputs()
    expected = {name: ExpectedArray((run.config.members, len(inputs)), "float64") for name in ("mean", "variance")}
    arrays = read_epoch_arrays(run.path, CURVE, epoch, expected)
    remaining = list(run.remaining_members(epoch))
    low, high = table.encoding.ranges[number["name"]]
    return NumericCurve(
        name=number["name"],
        inputs=inputs,
        predicted=NormalMixture(arrays["mean"][remaining], arrays["variance"][remaining]),
        low=low,
        high=high,
        test_inputs=table.features[table.split.test, 0].astype(np.float64) * number["scale"] + number["mean"],
    )


def read_numeric_predictions(run: Run, epoch: int) -> NumericEnsemble:
    """What the members that remained predict of the test examples after an epoch.

    Raises:
      RunError: that epoch's are not there, or are damaged; says what to do.
    """
    form, levels = run.numbers.form, run.numbers.levels
    shape = (run.config.members, *([len(levels)] if levels else []), len(read_numeric_targets(run).values))
    expected = {name: ExpectedArray(shape, "float64") for name in list_ensemble_arrays(form)}
    arrays = read_epoch_arrays(run.path, "predictions", epoch, expected)
    remaining = list(run.remaining_members(epoch))
    try:
        left = {name: array[remaining] for name, array in arrays.items()}
        return build_numeric_ensemble(form, left, levels)
    except ValueError as error:
        raise build_damaged_epoch_error(run.path, "predictions", epoch, str(error)) from error


def read_numeric_validation(run: Run, epoch: int) -> tuple[NormalMixture, NumericTargets]:
    """Read the predictions of the validation rows by the members that remain after an epoch, and the targets.

    Raises:
      RunError: that epoch's predictions are not there, or are damaged.
      DataError: the table's files are.
    """
    table = read_prepared_table(run.path)
    rows = table.split.validation
    expected = {name: ExpectedArray((run.config.members, len(rows)), "float64") for name in ("mean", "variance")}
    arrays = read_epoch_arrays(run.path, "validation", epoch, expected)
    remaining = list(run.remaining_members(epoch))
    try:
        predicted = NormalMixture(arrays["mean"][remaining], arrays["variance"][remaining])
    except ValueError as error:
        raise build_damaged_epoch_error(run.path, "validation", epoch, str(error)) from error
    return predicted, NumericTargets(table.targets[rows], groups=select_groups(table.groups, rows))


def write_numeric_targets(
    folder: Path, targets: ArrayLike, example_names: Sequence[str] = (), groups: Groups | None = None
) -> None:
    """Write the targets of the test examples (N,), and their names and groups if there are any.

    Args:
      folder: the run's.
      targets: (N,), in the run's unit.
      example_names: N of them, or none.
      groups: (N,), the group of each example; None without a column of groups.
    """
    if groups is not None:
        write_arrays(folder / GROUPS_FILE, {"groups": np.asarray(groups, np.int64)})
    write_arrays(folder / TARGETS_FILE, {"targets": np.asarray(targets, np.float64)})
    if example_names:
        write_details(folder / DETAILS_FILE, clean_details(example_names, {})[0])


def read_numeric_targets(run: Run) -> NumericTargets:
    """What is true of the test examples.

    Raises:
      RunError: the file is not there, or damaged.
    """
    try:
        values = read_arrays(run.path / TARGETS_FILE, {"targets": ExpectedArray(("N",), "float64")}, _MAX_TARGET_BYTES)[
            "targets"
        ]
        if not len(values) or not np.isfinite(values).all():
            raise DamagedFileError("a target is not a finite number")
        details = read_details(run.path / DETAILS_FILE, len(values))
        groups = None
        if (run.path / GROUPS_FILE).exists():
            expected = {"groups": ExpectedArray(values.shape, "int64")}
            groups = number_groups(read_arrays(run.path / GROUPS_FILE, expected)["groups"])
    except (OSError, DamagedFileError) as error:
        why = getattr(error, "strerror", None) or error
        raise RunError(
            f"The targets of the run “{run.id}” cannot be read ({why}): import or train it again."
        ) from error
    values.setflags(write=False)
    return NumericTargets(values, details.names, groups)


def select_numeric_epoch(run: Run, epoch: int | None = None) -> int:
    """The epoch that is shown unless another is named: the best on validation, else the last.

    Raises:
      RunError: it has no predictions yet, or none of this epoch.
    """
    kept = list_prediction_epochs(run.id)
    if not kept:
        raise RunError(f"The run “{run.id}” is {run.state} and has no predictions: there is nothing to judge.")
    if epoch is not None:
        if epoch not in kept:
            raise RunError(f"The run “{run.id}” has no epoch {epoch}: it has {', '.join(map(str, kept))}.")
        return epoch
    return select_default_epoch(run, kept)
