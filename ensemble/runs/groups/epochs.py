"""An epoch of a run from what its groups made of it: their files joined, the ensemble judged."""

import contextlib
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ensemble.analysis.members.disagreement import measure
from ensemble.analysis.quality.averaging import average
from ensemble.datasets.split import validation_indices
from ensemble.errors import RunError
from ensemble.runs.epoch_files import epoch_file, said
from ensemble.runs.groups.part import Group
from ensemble.runs.groups.rows import joined, mean
from ensemble.runs.history import EPOCH_FILE, FOLDERS, write_predictions
from ensemble.runs.imported import nll
from ensemble.runs.parameters import write_parameters
from ensemble.runs.status import Status, after_epoch
from ensemble.runs.store import Run, trained_here
from ensemble.runs.test_set import dataset_of
from ensemble.storage.arrays.damage import DamagedFileError
from ensemble.storage.arrays.npz import Arrays, Joined, read_arrays
from ensemble.storage.records.lines import Line, plain


class NotThereError(RunError):
    """A group's file of an epoch that it has closed is not there."""


def merge_epoch(run: Run, groups: Sequence[Group], lines: Sequence[Line], status: Status) -> Line:
    """Join what every group has of an epoch, in the run's folder, and judge the ensemble by it.

    Args:
      run: whose.
      groups: all of them, in order.
      lines: the line with which each closed the epoch.
      status: the run's, as the epoch before left it.

    Returns:
      The run's line of the epoch.

    Raises:
      NotThereError: a group's file is missing.
      RunError: one is damaged, or of other members.
    """
    epoch = lines[0]["epoch"]
    line = joined(lines, [len(one.numbers) for one in groups])
    for split, labels in labels_of(run).items():
        probabilities = _probabilities(groups, FOLDERS[split], epoch, len(labels))
        write_predictions(run.path, epoch, probabilities, FOLDERS[split])
        line |= ensemble_on(split, line, probabilities, labels)
        if split == "test":
            differ = measure(probabilities)
            line |= {"disagreement": differ.pairwise, "member_disagreement": differ.of_members}
    line = plain(line)
    best = after_epoch(status, line).get("best_epoch") or status.best_epoch or epoch
    always = trained_here(run).averaged_epochs
    write_parameters(run.path, epoch, _parameters(groups, epoch), best, always)
    return line


def drop_merged(groups: Sequence[Group], epoch: int) -> None:
    """Delete what groups have of this epoch and of those before: it is in the run's files."""
    for group in groups:
        for what in ("predictions", "parameters", "validation"):
            for path in (group.path / what).glob("epoch-*.npz"):
                found = EPOCH_FILE.fullmatch(path.name)
                if found and int(found[1]) <= epoch:
                    with contextlib.suppress(OSError):
                        path.unlink()


def labels_of(run: Run) -> dict[str, NDArray[np.int32]]:
    """The labels of the images that an epoch is judged on, by split.

    Raises:
      NotPreparedError: the dataset is no longer there.
    """
    dataset, config = dataset_of(run), trained_here(run)
    test: dict[str, NDArray[np.int32]] = {"test": dataset.test_labels}
    if not config.validation:
        return test
    held = validation_indices(config, dataset.train_labels)
    return {"validation": dataset.train_labels[held], **test}


def ensemble_on(
    split: str, line: Line, probabilities: NDArray[np.float32], labels: NDArray[np.int32]
) -> Line:
    """What an epoch's line says of the ensemble on the "test" or the "validation" images.

    Args:
      split: which.
      line: with the members' own figures.
      probabilities: (M, N, C).
      labels: (N,).
    """
    averaged = average(probabilities)
    return {
        f"ensemble_{split}_loss": mean(line[f"{split}_loss"]),
        f"ensemble_{split}_nll": nll(averaged, labels),
        f"ensemble_{split}_accuracy": float((averaged.argmax(-1) == labels).mean()),
    }


def _probabilities(
    groups: Sequence[Group], what: str, epoch: int, size: int
) -> NDArray[np.float32]:
    """Those of all members, (M, N, C)."""
    members, classes = groups[-1].numbers.stop, len(groups[0].data.class_names)
    every = np.empty((members, size, classes), np.float32)
    for group in groups:
        found, shape = _read(group, what, epoch), (len(group.numbers), size, classes)
        if list(found) != ["probabilities"] or found["probabilities"].shape != shape:
            raise _refused(group, what, epoch, f"they are not {shape} probabilities")
        every[group.numbers.start : group.numbers.stop] = found["probabilities"]
    return every


def _parameters(groups: Sequence[Group], epoch: int) -> dict[str, Joined]:
    """Those of all members, arrays (M, …) by name: read group after group as they are written.

    Those of all members at once may take gigabytes.
    """
    shapes: dict[str, tuple[int, ...]] = {}
    for group in groups:
        own = _shapes(group, epoch)
        counts = {shape[:1] for shape in own.values()}
        own = {name: shape[1:] for name, shape in own.items()}
        if own != (shapes := shapes or own) or counts != {(len(group.numbers),)}:
            raise _refused(group, "parameters", epoch, "they are not those of its members")
    members, kind = groups[-1].numbers.stop, np.dtype(np.float32)
    return {
        name: Joined((members, *shape), kind, _parts(groups, epoch, name))
        for name, shape in shapes.items()
    }


def _shapes(group: Group, epoch: int) -> dict[str, tuple[int, ...]]:
    return {name: array.shape for name, array in _read(group, "parameters", epoch).items()}


def _parts(groups: Sequence[Group], epoch: int, name: str) -> Iterator[NDArray[np.float32]]:
    for group in groups:
        yield _read(group, "parameters", epoch, only=name)[name].astype(np.float32, copy=False)


def _read(group: Group, what: str, epoch: int, only: str | None = None) -> Arrays:
    path: Path = epoch_file(group.path, what, epoch)
    try:
        return read_arrays(path, None, path.stat().st_size, need_checksum=True, only=only)
    except FileNotFoundError as error:
        raise _refused(group, what, epoch, "they are missing", NotThereError) from error
    except DamagedFileError as error:
        raise _refused(group, what, epoch, str(error)) from error


def _refused(
    group: Group, what: str, epoch: int, why: str, kind: type[RunError] = RunError
) -> RunError:
    return kind(
        f"{group.title}: its {said(what)} of epoch {epoch} cannot be merged ({why}). Take "
        f"the folder groups/{group.path.name} of the run away and resume: that group is then "
        "trained anew, the others stay as they are."
    )
