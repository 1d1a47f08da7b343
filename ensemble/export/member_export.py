"""An ensemble written in one of the forms, read back, and judged by what was written."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ensemble import runs
from ensemble.analysis.quality.temperature_scaling import MAX_TEMPERATURE, MIN_TEMPERATURE, fit_temperature
from ensemble.errors import ConfigError, PredictionsError, RunError
from ensemble.export.export_format import FIGURES, EnsembleContent, ExportFormat
from ensemble.export.registry import choose_export_format
from ensemble.extras import EXPORT, require_packages
from ensemble.runs.validation_predictions import evaluate_validation_predictions
from ensemble.storage.disk_errors import describe_os_error, describe_remedy

FITTED = "fitted"
Temperature = float | Literal["fitted"] | None


@dataclass(frozen=True)
class ExportedFile:
    """What was written, and what it is worth.

    Attributes:
      path: the file or folder.
      format: the form's name.
      epoch: after which the members were taken.
      members: how many.
      nbytes: what it takes on the disk.
      temperature: of the averaged probabilities in it; None where they are as they are.
      figures: of the ensemble on the test images, by what was read back from the file.
      recorded: the same figures of what the run wrote down, at that temperature; {} where it wrote
        nothing down.
      difference: the largest of any probability between the two; None where the file has none.
    """

    path: Path
    format: str
    epoch: int
    members: int
    nbytes: int
    temperature: float | None
    figures: dict[str, float]
    recorded: dict[str, float]
    difference: float | None


def export_members(
    run_id: str,
    path: Path,
    format_name: str | None,
    *,
    epoch: int | None = None,
    temperature: Temperature = None,
    replace: bool = False,
) -> ExportedFile:
    """Write a run's members, or its curves, in a form for other programs. JAX runs on the CPU.

    Args:
      run_id: whose.
      path: the file, or the folder; the folder that it is in exists.
      format_name: one of `EXPORT_FORMATS`; None for that of the path's ending, npz without one.
      epoch: after which; None is that of `select_default_epoch`.
      temperature: of the averaged probabilities, from 1/16 to 16, or "fitted" to the run's
        validation images; None leaves them as they are.
      replace: whether what is there may go.

    Raises:
      UnknownRunError: there is no such run.
      ConfigError: there is no such form, or a package that it takes is not installed, or the run's
        network does not fit into it, or the temperature is out of its range or has no place.
      RunError: it was trained elsewhere, or keeps no members of that epoch, or no validation
        images to fit a temperature to.
      DataError: its dataset is not there.
      PredictionsError: it cannot be written, or is there already.
    """
    export_format = choose_export_format(path, format_name)
    require_packages(export_format.name, export_format.packages, EXPORT)
    _check_temperature(export_format, temperature)
    if not replace and os.path.lexists(path):
        raise PredictionsError(f"{path} already exists: choose another name, or use --force to replace it.")
    if path.is_dir() != (not export_format.suffix) and os.path.lexists(path):
        kind = "a folder" if path.is_dir() else "a file"
        raise PredictionsError(f"{path} is {kind}: choose another name.")
    content = collect_content(run_id, epoch, temperature)
    try:
        _check_working_folder(path)
        export_format.write(content, path, replace)
        figures, difference = export_format.judge(content, path)
        nbytes = _measure_size(path)
    except OSError as error:
        raise PredictionsError(
            f"{path} cannot be written ({describe_os_error(error)}): {describe_remedy(error)}, or name another file."
        ) from error
    quality = content.quality
    recorded = {name: float(quality[name]) for name in FIGURES} if quality else {}
    return ExportedFile(
        path=path,
        format=export_format.name,
        epoch=content.epoch,
        members=content.members,
        nbytes=nbytes,
        temperature=content.temperature,
        figures=figures,
        recorded=recorded,
        difference=difference,
    )


def _check_working_folder(path: Path) -> None:
    """Refuse to replace a folder that this process works in: whoever started it works there too.

    Raises:
      PredictionsError: the working folder is in it.
    """
    if path.is_dir() and Path.cwd().is_relative_to(path.resolve()):
        raise PredictionsError(
            f"{path} contains the working folder, so it cannot be replaced. Change to another "
            "folder, or choose another name."
        )


def _check_temperature(export_format: ExportFormat, temperature: Temperature) -> None:
    """Let a temperature be one, and the form one that has a place for it.

    Raises:
      ConfigError: it is not.
    """
    if temperature is None:
        return
    if temperature != FITTED and not (
        isinstance(temperature, int | float) and MIN_TEMPERATURE <= temperature <= MAX_TEMPERATURE
    ):
        raise ConfigError(
            f"temperature is {temperature!s:.40}: it has to be a number from {MIN_TEMPERATURE:g} "
            f"to {MAX_TEMPERATURE:g}, or “{FITTED}”."
        )
    if not export_format.averages:
        raise ConfigError(
            f"{export_format.name} holds no averaged probabilities: "
            "leave the temperature out, or take onnx or stablehlo."
        )


def _resolve_temperature(run: runs.Run, epoch: int, temperature: Temperature) -> float | None:
    """The temperature as a number: that at which the validation images' NLL is least, if fitted.

    Raises:
      RunError: the run has no predictions of validation images after that epoch.
    """
    if temperature != FITTED:
        return None if temperature is None else float(temperature)
    predictions = evaluate_validation_predictions(run, epoch)
    if predictions is None:
        raise RunError(
            f"The run “{run.id}” has no predictions of validation images to fit a temperature to: give it as a number."
        )
    return fit_temperature(predictions.averaged, predictions.labels)


def collect_content(run_id: str, epoch: int | None = None, temperature: Temperature = None) -> EnsembleContent:
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
    arrays = _flatten_parameters(members.params)
    return EnsembleContent(
        run=run,
        config=config,
        epoch=members.epoch,
        network=members.network,
        arrays=arrays,
        recorded=recorded,
        test=test,
        temperature=_resolve_temperature(run, members.epoch, temperature),
    )


def _flatten_parameters(params: Any) -> dict[str, NDArray[Any]]:
    """A tree of parameters as arrays by their paths: `Conv_0/kernel`."""
    import jax

    from ensemble.engine.networks.network import join_tree_path

    leaves = jax.tree_util.tree_leaves_with_path(params)
    return {join_tree_path(path): np.asarray(leaf) for path, leaf in leaves}


def _measure_size(path: Path) -> int:
    if path.is_dir():
        return sum(file.stat().st_size for file in path.rglob("*") if file.is_file())
    return path.stat().st_size
