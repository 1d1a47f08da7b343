"""A run made of members of others: their parameters and predictions, and where each came from."""

import time
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensemble import runs
from ensemble.analysis.quality.averaging import average
from ensemble.config import EnsembleConfig
from ensemble.jobs.folders import changing, new_run
from ensemble.jobs.status import write_status
from ensemble.runs.contents import SOURCES_FILE, fill
from ensemble.runs.history import FOLDERS, write_predictions
from ensemble.runs.imported import epoch_line, nll
from ensemble.runs.parameters import write_parameters
from ensemble.runs.status import after_epoch, read_status
from ensemble.storage.atomic import read_json, write_json
from ensemble.storage.records.lines import Line, append_line, plain
from ensemble.sweeps.objectives import validation_labels


@dataclass(frozen=True, eq=False)
class Chosen:
    """A member as it was at the end of an epoch of its run.

    Attributes:
      run: that it comes from.
      member: its number there, from 0.
      epoch: from 1.
      params: a tree of arrays, without an axis of members.
      test: float32 (N, C), its probabilities on the test images.
      validation: float32 (V, C), on those held out.
      trained: its training loss and accuracy in that epoch, by the history's names.
    """

    run: runs.Run
    member: int
    epoch: int
    params: Any
    test: NDArray[np.float32]
    validation: NDArray[np.float32]
    trained: dict[str, float | None]


def create_chosen(chosen: list[Chosen], config: EnsembleConfig) -> runs.Run:
    """A new run, state `finished`, of one epoch.

    Args:
      chosen: its members, in their order; of one dataset and one network.
      config: its settings, with as many members.

    Raises:
      RunError: the folder cannot be written. What was begun is removed.
    """
    model = chosen[0].run
    line = _line(chosen, runs.test_set(model).labels, validation_labels(model))
    with new_run(config.dataset, time.time()) as folder:
        write_parameters(folder, 1, _joined([one.params for one in chosen]), best=1)
        write_predictions(folder, 1, np.stack([one.test for one in chosen]))
        held = np.stack([one.validation for one in chosen])
        write_predictions(folder, 1, held, FOLDERS["validation"])
        append_line(folder / "history.jsonl", line)
        write_json(folder / SOURCES_FILE, {"members": [_source(one) for one in chosen]})
        fill(folder, config, None)
        status = read_status(folder)
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
                seconds=sum({one.run.id: one.run.status.seconds for one in chosen}.values()),
                **after_epoch(status, line),
            ),
        )
    with changing(folder, action=None):
        return runs.find(folder.name)


def sources(run: runs.Run) -> list[dict[str, Any]]:
    """Where each member of a chosen run came from: `run_id`, `member` from 1, `epoch`, `settings`.

    Nothing of a run that was trained as a whole, or where it cannot be read.
    """
    try:
        found = read_json(run.path / SOURCES_FILE)["members"]
    except (OSError, ValueError, KeyError, TypeError):
        return []
    return list(found) if isinstance(found, list) else []


def _source(one: Chosen) -> dict[str, Any]:
    """Where a member came from; its number counts from 1, as people say it."""
    settings = runs.trained_here(one.run)
    own = {name: values[one.member] for name, values in settings.per_member.items()}
    return {"run_id": one.run.id, "member": one.member + 1, "epoch": one.epoch, "settings": own}


def _line(chosen: list[Chosen], labels: NDArray[Any], held_labels: NDArray[Any]) -> Line:
    held = np.stack([one.validation for one in chosen])
    averaged = average(held)
    loss = np.array([nll(member, held_labels) for member in held])
    return plain(
        {
            **epoch_line(np.stack([one.test for one in chosen]), labels, 1),
            **{name: [one.trained[name] for one in chosen] for name in chosen[0].trained},
            "validation_loss": loss,
            "ensemble_validation_loss": loss.mean(),
            "validation_accuracy": (held.argmax(axis=-1) == held_labels).mean(axis=1),
            "ensemble_validation_nll": nll(averaged, held_labels),
            "ensemble_validation_accuracy": (averaged.argmax(axis=-1) == held_labels).mean(),
        }
    )


def _joined(trees: list[Any]) -> Any:
    if isinstance(trees[0], dict):
        return {name: _joined([tree[name] for tree in trees]) for name in trees[0]}
    return np.stack(trees)
