"""A run made of members of others: their parameters and predictions, and where each came from."""

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensemble import runs
from ensemble.analysis.quality.averaging import average_probabilities
from ensemble.config import REGRESSION, AnyTrainingConfig, RegressionConfig
from ensemble.jobs.folders import change_job_files, create_run_folder
from ensemble.jobs.status import write_status
from ensemble.runs.epoch_files import write_epoch_arrays
from ensemble.runs.history import PREDICTION_FOLDERS
from ensemble.runs.imported_run import build_epoch_line, compute_mean_nll
from ensemble.runs.numeric.numeric_launch import copy_table
from ensemble.runs.parameters import write_parameters
from ensemble.runs.run_folder import SOURCES_FILE
from ensemble.runs.status import build_epoch_status_fields, read_run_status
from ensemble.runs.store import RUN_STORE, require_run_settings
from ensemble.storage.atomic_files import read_json, write_json
from ensemble.storage.records.json_lines import Line, append_line, convert_to_json
from ensemble.sweeps.objectives import load_validation_labels
from ensemble.tables.prepared_table import read_prepared_table


@dataclass(frozen=True, eq=False)
class SelectedMember:
    """A member as it was at the end of an epoch of its run.

    Attributes:
      run: that it comes from.
      member: its number there, from 0.
      epoch: from 1.
      params: a tree of arrays, without an axis of members.
      predictions: by folder, "predictions" of the test examples, "validation" or "curve": arrays by name,
        such as "probabilities" (N, C), or "mean" and "variance" (N,) of numbers.
      training_metrics: its training loss and accuracy, or RMSE, in that epoch, by the history's names.
    """

    run: runs.Run
    member: int
    epoch: int
    params: Any
    predictions: Mapping[str, Mapping[str, NDArray[Any]]]
    training_metrics: dict[str, float | None]


def create_selected_run(chosen: list[SelectedMember], config: AnyTrainingConfig) -> runs.Run:
    """A new run, state `finished`, of one epoch.

    Args:
      chosen: its members, in their order; of one dataset or table, and one network.
      config: its settings, with as many members.

    Raises:
      RunError: the folder cannot be written. What was begun is removed.
    """
    model = chosen[0].run
    predictions: dict[str, dict[str, NDArray[Any]]] = _stack_trees([member.predictions for member in chosen])
    training = {name: [member.training_metrics[name] for member in chosen] for name in chosen[0].training_metrics}
    if config.task == REGRESSION:
        line = _build_regression_line(model, predictions, training)
    else:
        line = _build_classification_line(model, predictions, training)
    with create_run_folder(config.dataset, time.time()) as folder:
        write_parameters(folder, 1, _stack_trees([member.params for member in chosen]), best=1)
        for what, arrays in predictions.items():
            write_epoch_arrays(folder, what, 1, arrays)
        append_line(folder / "history.jsonl", line)
        write_json(folder / SOURCES_FILE, {"members": [_serialize_member_source(member) for member in chosen]})
        if isinstance(config, RegressionConfig):
            copy_table(model.path, folder)
        RUN_STORE.write_folder(folder, config, None)
        status = read_run_status(folder)
        now = time.time()
        write_status(
            folder,
            replace(
                status,
                state="finished",
                started=now,
                updated=now,
                epoch=1,
                step=1,
                steps=1,
                seconds=sum({member.run.id: member.run.status.seconds for member in chosen}.values()),
                **build_epoch_status_fields(status, line),
            ),
        )
    with change_job_files(folder, action=None):
        return runs.find_run(folder.name)


def list_member_sources(run: runs.Run) -> list[dict[str, Any]]:
    """Where each member of a chosen run came from: `run_id`, `member` from 1, `epoch`, `settings`.

    Nothing of a run that was trained as a whole, or where it cannot be read.
    """
    try:
        sources = read_json(run.path / SOURCES_FILE)["members"]
    except (OSError, ValueError, KeyError, TypeError):
        return []
    return list(sources) if isinstance(sources, list) else []


def _serialize_member_source(member: SelectedMember) -> dict[str, Any]:
    """Where a member came from; its number counts from 1, as people say it."""
    settings = require_run_settings(member.run)
    own = {name: values[member.member] for name, values in settings.member_values.items()}
    return {"run_id": member.run.id, "member": member.member + 1, "epoch": member.epoch, "settings": own}


def _build_classification_line(
    model: runs.Run, predictions: Mapping[str, Mapping[str, NDArray[Any]]], training: Mapping[str, Any]
) -> Line:
    labels, held_labels = runs.load_test_set(model).labels, load_validation_labels(model)
    tested, held = (predictions[PREDICTION_FOLDERS[split]]["probabilities"] for split in ("test", "validation"))
    averaged = average_probabilities(held)
    loss = np.array([compute_mean_nll(member, held_labels) for member in held])
    return convert_to_json(
        {
            **build_epoch_line(tested, labels, 1),
            **training,
            "validation_loss": loss,
            "ensemble_validation_loss": loss.mean(),
            "validation_accuracy": (held.argmax(axis=-1) == held_labels).mean(axis=1),
            "ensemble_validation_nll": compute_mean_nll(averaged, held_labels),
            "ensemble_validation_accuracy": (averaged.argmax(axis=-1) == held_labels).mean(),
        }
    )


def _build_regression_line(
    model: runs.Run, predictions: Mapping[str, Mapping[str, NDArray[Any]]], training: Mapping[str, Any]
) -> Line:
    from ensemble.analysis.numeric.normal_mixture import NormalMixture  # which takes SciPy
    from ensemble.runs.numeric.numeric_epochs import build_numeric_epoch_line, compute_numeric_metrics

    table = read_prepared_table(model.path)
    held = NormalMixture(**predictions[PREDICTION_FOLDERS["validation"]])
    metrics = compute_numeric_metrics("validation", held, table.targets[table.split.validation])
    tested = NormalMixture(**predictions[PREDICTION_FOLDERS["test"]])
    return build_numeric_epoch_line(tested, table.targets[table.split.test], 1, **metrics, **training)


def _stack_trees(trees: list[Any]) -> Any:
    if isinstance(trees[0], Mapping):
        return {name: _stack_trees([tree[name] for tree in trees]) for name in trees[0]}
    return np.stack(trees)
