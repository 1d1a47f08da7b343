"""An ensemble written in one of the forms, read back, and judged by what was written."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensemble import runs
from ensemble.errors import PredictionsError, RunError
from ensemble.export.export_format import FIGURES, EnsembleContent
from ensemble.export.registry import find_export_format
from ensemble.storage.disk_errors import describe_os_error, describe_remedy


@dataclass(frozen=True)
class ExportedFile:
    """What was written, and what it is worth.

    Attributes:
      path: the file or folder.
      format: the form's name.
      epoch: after which the members were taken.
      members: how many.
      nbytes: what it takes on the disk.
      figures: of the ensemble on the test images, by what was read back from the file.
      recorded: the same figures as the run wrote them down; {} where it did not.
      difference: the largest of any probability between the two; None where the file has none.
    """

    path: Path
    format: str
    epoch: int
    members: int
    nbytes: int
    figures: dict[str, float]
    recorded: dict[str, float]
    difference: float | None


def export_members(
    run_id: str,
    path: Path,
    format_name: str,
    *,
    epoch: int | None = None,
    replace: bool = False,
) -> ExportedFile:
    """Write a run's members, or its curves, in a form for other programs. JAX runs on the CPU.

    Args:
      run_id: whose.
      path: the file, or the folder; the folder that it is in exists.
      format_name: one of `EXPORT_FORMATS`.
      epoch: after which; None is that of `select_default_epoch`.
      replace: whether what is there may go.

    Raises:
      UnknownRunError: there is no such run.
      ConfigError: there is no such form, or the run's network does not fit into it.
      RunError: it was trained elsewhere, or keeps no members of that epoch.
      DataError: its dataset is not there.
      PredictionsError: it cannot be written, or is there already.
    """
    export_format = find_export_format(format_name)
    if not replace and os.path.lexists(path):
        raise PredictionsError(
            f"{path} already exists: choose another name, or use --force to replace it."
        )
    if path.is_dir() != (not export_format.suffix) and os.path.lexists(path):
        kind = "a folder" if path.is_dir() else "a file"
        raise PredictionsError(f"{path} is {kind}: choose another name.")
    content = collect_content(run_id, epoch)
    try:
        export_format.write(content, path, replace)
        figures, difference = export_format.judge(content, path)
        nbytes = measure_size(path)
    except OSError as error:
        raise PredictionsError(
            f"{path} cannot be written ({describe_os_error(error)}): {describe_remedy(error)}, or "
            "name another file."
        ) from error
    quality = content.quality
    recorded = {name: float(quality[name]) for name in FIGURES} if quality else {}
    return ExportedFile(
        path,
        format_name,
        content.epoch,
        content.members,
        nbytes,
        figures,
        recorded,
        difference,
    )


def collect_content(run_id: str, epoch: int | None = None) -> EnsembleContent:
    """All that forms of export are given of a run.

    Raises:
      EnsembleError: as `export_members`.
    """
    run = runs.find_run(run_id)
    config = runs.require_training_config(run)
    if epoch is None:
        epochs = runs.list_member_epochs(run_id)
        if not epochs:
            raise RunError(f"The run “{run_id}” keeps no members yet: wait for its first epoch.")
        epoch = runs.select_default_epoch(run, epochs)
    test = runs.load_test_set(run)
    if test.images is None:
        raise RunError(f"The run “{run_id}” has no test images to judge its members on.")
    members = runs.open_members(run_id, epoch)
    recorded = None
    if members.epoch in runs.list_prediction_epochs(run_id):
        recorded = runs.read_run_predictions(run_id, members.epoch)
    arrays = flatten_parameters(members.params)
    return EnsembleContent(run, config, members.epoch, members.network, arrays, recorded, test)


def flatten_parameters(params: Any) -> dict[str, NDArray[Any]]:
    """A tree of parameters as arrays by their paths: `Conv_0/kernel`."""
    import jax

    from ensemble.engine.networks.network import join_tree_path

    leaves = jax.tree_util.tree_leaves_with_path(params)
    return {join_tree_path(path): np.asarray(leaf) for path, leaf in leaves}


def measure_size(path: Path) -> int:
    """Bytes that a file takes, or all files of a folder."""
    if path.is_dir():
        return sum(file.stat().st_size for file in path.iterdir() if file.is_file())
    return path.stat().st_size
