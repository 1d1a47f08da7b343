"""A run made of members of others: their parameters and predictions, and where each came from."""

import time
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensemble import runs
from ensemble.analysis.quality.averaging import average_probabilities
from ensemble.config import EnsembleConfig
from ensemble.jobs.folders import change_job_files, create_run_folder
from ensemble.jobs.status import write_status
from ensemble.runs.history import PREDICTION_FOLDERS, write_predictions
from ensemble.runs.imported_run import build_epoch_line, compute_mean_nll
from ensemble.runs.parameters import write_parameters
from ensemble.runs.run_folder import SOURCES_FILE, write_run_folder
from ensemble.runs.status import build_epoch_status_fields, read_run_status
from ensemble.storage.atomic_files import read_json, write_json
from ensemble.storage.records.json_lines import Line, append_line, convert_to_json
from ensemble.sweeps.objectives import load_validation_labels


@dataclass(frozen=True, eq=False)
class SelectedMember:
    """A member as it was at the end of an epoch of its run.

    Attributes:
      run: that it comes from.
      member: its number there, from 0.
      epoch: from 1.
      params: a tree of arrays, without an axis of members.
      test_probabilities: float32 (N, C), its probabilities on the test images.
      validation_probabilities: float32 (V, C), on those held out.
      training_metrics: its training loss and accuracy in that epoch, by the history's names.
    """

    run: runs.Run
    member: int
    epoch: int
    params: Any
    test_probabilities: NDArray[np.float32]
    validation_probabilities: NDArray[np.float32]
    training_metrics: dict[str, float | None]


def create_selected_run(chosen: list[SelectedMember], config: EnsembleConfig) -> runs.Run:
    """A new run, state `finished`, of one epoch.

    Args:
      chosen: its members, in their order; of one dataset and one network.
      config: its settings, with as many members.

    Raises:
      RunError: the folder cannot be written. What was begun is removed.
    """
    model = chosen[0].run
    line = _build_history_line(chosen, runs.load_test_set(model).labels, load_validation_labels(model))
    with create_run_folder(config.dataset, time.time()) as folder:
        write_parameters(folder, 1, _stack_trees([member.params for member in chosen]), best=1)
        write_predictions(folder, 1, np.stack([member.test_probabilities for member in chosen]))
        held = np.stack([member.validation_probabilities for member in chosen])
        write_predictions(folder, 1, held, PREDICTION_FOLDERS["validation"])
        append_line(folder / "history.jsonl", line)
        write_json(folder / SOURCES_FILE, {"members": [_serialize_member_source(member) for member in chosen]})
        write_run_folder(folder, config, None)
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
    settings = runs.require_training_config(member.run)
    own = {name: values[member.member] for name, values in settings.member_values.items()}
    return {"run_id": member.run.id, "member": member.member + 1, "epoch": member.epoch, "settings": own}


def _build_history_line(chosen: list[SelectedMember], labels: NDArray[Any], held_labels: NDArray[Any]) -> Line:
    held = np.stack([member.validation_probabilities for member in chosen])
    averaged = average_probabilities(held)
    loss = np.array([compute_mean_nll(member, held_labels) for member in held])
    return convert_to_json(
        {
            **build_epoch_line(np.stack([member.test_probabilities for member in chosen]), labels, 1),
            **{name: [member.training_metrics[name] for member in chosen] for name in chosen[0].training_metrics},
            "validation_loss": loss,
            "ensemble_validation_loss": loss.mean(),
            "validation_accuracy": (held.argmax(axis=-1) == held_labels).mean(axis=1),
            "ensemble_validation_nll": compute_mean_nll(averaged, held_labels),
            "ensemble_validation_accuracy": (averaged.argmax(axis=-1) == held_labels).mean(),
        }
    )


def _stack_trees(trees: list[Any]) -> Any:
    if isinstance(trees[0], dict):
        return {name: _stack_trees([tree[name] for tree in trees]) for name in trees[0]}
    return np.stack(trees)
