"""An epoch of a run from what its groups made of it: their files joined, the ensemble judged."""

import contextlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensemble.analysis.members.disagreement import measure_disagreement
from ensemble.analysis.numeric.normal_mixture import NormalMixture
from ensemble.analysis.quality.averaging import average_probabilities
from ensemble.config import REGRESSION
from ensemble.datasets.partition.split import select_validation_indices
from ensemble.errors import RunError
from ensemble.runs.epoch_files import format_epoch_file_kind, locate_epoch_file, write_epoch_arrays
from ensemble.runs.groups.group import Group
from ensemble.runs.groups.history_lines import join_group_lines, mean_if_complete
from ensemble.runs.history import EPOCH_FILE_PATTERN, PREDICTION_FOLDERS
from ensemble.runs.imported_run import compute_mean_nll
from ensemble.runs.numeric.numeric_epochs import compute_numeric_metrics
from ensemble.runs.numeric.numeric_predictions import CURVE
from ensemble.runs.parameters import drop_excess_epochs, write_parameters
from ensemble.runs.status import Status, build_epoch_status_fields
from ensemble.runs.store import Run, require_run_settings, require_training_config
from ensemble.runs.test_set import load_run_dataset
from ensemble.storage.arrays.damaged_file import DamagedFileError
from ensemble.storage.arrays.npz import ArrayParts, Arrays, read_arrays
from ensemble.storage.records.json_lines import Line, convert_to_json
from ensemble.tables.prepared_table import read_prepared_table

_Shapes = dict[str, tuple[int, ...]]  # of arrays by name


class MissingEpochFileError(RunError):
    """A group's file of an epoch that it has closed is not there."""


def merge_epoch(run: Run, groups: Sequence[Group], lines: Sequence[Line], status: Status) -> Line:
    """Join what every group has of an epoch, in the run's folder, and judge the ensemble by it.

    Returns:
      The run's line of the epoch.

    Raises:
      MissingEpochFileError: a group's file is missing.
      RunError: one is damaged, or of other members.
    """
    epoch = lines[0]["epoch"]
    line = join_group_lines(lines, [len(group.member_numbers) for group in groups])
    merge = _merge_regression_epoch if run.task == REGRESSION else _merge_classification_epoch
    predictions = merge(run, groups, epoch, line)
    line = convert_to_json(line)
    best = build_epoch_status_fields(status, line).get("best_epoch") or status.best_epoch or epoch
    for what, arrays in predictions.items():
        write_epoch_arrays(run.path, what, epoch, arrays)
        if run.task == REGRESSION:
            drop_excess_epochs(run.path, what, epoch, best)
    always = require_run_settings(run).averaged_epochs
    write_parameters(run.path, epoch, _join_parameters(groups, epoch), best, always)
    return line


def _merge_classification_epoch(
    run: Run, groups: Sequence[Group], epoch: int, line: Line
) -> dict[str, dict[str, NDArray[Any]]]:
    """Add the ensemble's figures to an epoch's line; the arrays of its predictions, by folder."""
    merged: dict[str, dict[str, NDArray[Any]]] = {}
    for split, labels in load_split_labels(run).items():
        shapes: _Shapes = {"probabilities": (len(labels), len(run.data.class_names))}
        arrays = _join_arrays(groups, PREDICTION_FOLDERS[split], epoch, shapes, np.float32)
        merged[PREDICTION_FOLDERS[split]], probabilities = arrays, arrays["probabilities"]
        line |= _compute_ensemble_metrics(split, line, probabilities, labels)
        if split == "test":
            differ = measure_disagreement(probabilities)
            line |= {"disagreement": differ.pairwise, "member_disagreement": differ.of_members}
    return merged


def _merge_regression_epoch(
    run: Run, groups: Sequence[Group], epoch: int, line: Line
) -> dict[str, dict[str, NDArray[Any]]]:
    """As `_merge_classification_epoch`, of a run that predicts numbers."""
    table = read_prepared_table(run.path)
    merged: dict[str, dict[str, NDArray[Any]]] = {}
    for split, rows in {"validation": table.split.validation, "test": table.split.test}.items():
        if not len(rows):
            continue
        arrays = _join_normal_arrays(groups, PREDICTION_FOLDERS[split], epoch, len(rows))
        merged[PREDICTION_FOLDERS[split]] = arrays
        line |= compute_numeric_metrics(split, NormalMixture(**arrays), table.targets[rows])
    if points := len(table.encoding.build_curve_features()):
        merged[CURVE] = _join_normal_arrays(groups, CURVE, epoch, points)
    return merged


def _join_normal_arrays(groups: Sequence[Group], what: str, epoch: int, size: int) -> dict[str, NDArray[Any]]:
    shapes: _Shapes = {"mean": (size,), "variance": (size,)}
    return _join_arrays(groups, what, epoch, shapes, np.float64)


def drop_merged_epochs(groups: Sequence[Group], epoch: int) -> None:
    """Delete what groups have of this epoch and of those before: it is in the run's files."""
    for group in groups:
        for what in ("parameters", CURVE, *PREDICTION_FOLDERS.values()):
            for path in (group.path / what).glob("epoch-*.npz"):
                match = EPOCH_FILE_PATTERN.fullmatch(path.name)
                if match and int(match[1]) <= epoch:
                    with contextlib.suppress(OSError):
                        path.unlink()


def load_split_labels(run: Run) -> dict[str, NDArray[np.int32]]:
    """The labels of the images that an epoch is judged on, by split.

    Raises:
      NotPreparedError: the dataset no longer exists.
    """
    dataset, config = load_run_dataset(run), require_training_config(run)
    test: dict[str, NDArray[np.int32]] = {"test": dataset.test_labels}
    if not config.validation:
        return test
    held = select_validation_indices(config, dataset)
    return {"validation": dataset.train_labels[held], **test}


def _compute_ensemble_metrics(
    split: str, line: Line, probabilities: NDArray[np.float32], labels: NDArray[np.int32]
) -> Line:
    """What an epoch's line says of the ensemble on the "test" or the "validation" images.

    Args:
      split: which.
      line: with the members' own figures.
      probabilities: (M, N, C).
      labels: (N,).
    """
    averaged = average_probabilities(probabilities)
    return {
        f"ensemble_{split}_loss": mean_if_complete(line[f"{split}_loss"]),
        f"ensemble_{split}_nll": compute_mean_nll(averaged, labels),
        f"ensemble_{split}_accuracy": float((averaged.argmax(-1) == labels).mean()),
    }


def _join_arrays(
    groups: Sequence[Group], what: str, epoch: int, shapes: _Shapes, kind: type[np.floating[Any]]
) -> dict[str, NDArray[Any]]:
    """The arrays of all members, (M, …) by name.

    Args:
      groups: all of them, in order.
      what: the folder that they are in.
      epoch: counted from 1.
      shapes: of one member's, by name.
      kind: of the numbers.
    """
    members = groups[-1].member_numbers.stop
    every = {name: np.empty((members, *shape), kind) for name, shape in shapes.items()}
    for group in groups:
        own, size = _read_group_epoch(group, what, epoch), len(group.member_numbers)
        if {name: array.shape for name, array in own.items()} != {
            name: (size, *shape) for name, shape in shapes.items()
        }:
            expected = " and ".join(f"{(size, *shape)} {name}" for name, shape in shapes.items())
            raise _build_merge_error(group, what, epoch, f"they are not {expected}")
        for name, array in own.items():
            every[name][group.member_numbers.start : group.member_numbers.stop] = array
    return every


def _join_parameters(groups: Sequence[Group], epoch: int) -> dict[str, ArrayParts]:
    """Those of all members, arrays (M, …) by name: read group after group as they are written.

    Those of all members at once may take gigabytes.
    """
    shapes: dict[str, tuple[int, ...]] = {}
    for group in groups:
        own = _read_parameter_shapes(group, epoch)
        counts = {shape[:1] for shape in own.values()}
        own = {name: shape[1:] for name, shape in own.items()}
        if own != (shapes := shapes or own) or counts != {(len(group.member_numbers),)}:
            raise _build_merge_error(group, "parameters", epoch, "they belong to other members")
    members, kind = groups[-1].member_numbers.stop, np.dtype(np.float32)
    return {
        name: ArrayParts((members, *shape), kind, _iterate_parameter_parts(groups, epoch, name))
        for name, shape in shapes.items()
    }


def _read_parameter_shapes(group: Group, epoch: int) -> dict[str, tuple[int, ...]]:
    return {name: array.shape for name, array in _read_group_epoch(group, "parameters", epoch).items()}


def _iterate_parameter_parts(groups: Sequence[Group], epoch: int, name: str) -> Iterator[NDArray[np.float32]]:
    for group in groups:
        yield _read_group_epoch(group, "parameters", epoch, only=name)[name].astype(np.float32, copy=False)


def _read_group_epoch(group: Group, what: str, epoch: int, only: str | None = None) -> Arrays:
    path: Path = locate_epoch_file(group.path, what, epoch)
    try:
        return read_arrays(path, None, path.stat().st_size, need_checksum=True, only=only)
    except FileNotFoundError as error:
        raise _build_merge_error(group, what, epoch, "they are missing", MissingEpochFileError) from error
    except DamagedFileError as error:
        raise _build_merge_error(group, what, epoch, str(error)) from error


def _build_merge_error(group: Group, what: str, epoch: int, why: str, kind: type[RunError] = RunError) -> RunError:
    return kind(
        f"{group.title}: its {format_epoch_file_kind(what)} of epoch {epoch} cannot be merged "
        f"({why}). Delete the folder groups/{group.path.name} of the run and resume: that "
        "group is then trained again, the others stay unchanged."
    )
