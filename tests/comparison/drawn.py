"""Runs as workers leave them, of drawn numbers: no test of comparing needs a trained network."""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensemble import datasets, runs
from ensemble.config import EnsembleConfig
from ensemble.datasets import registry
from ensemble.jobs.status import write_status
from ensemble.runs.history import write_predictions
from ensemble.runs.status import build_epoch_status_fields
from ensemble.storage.records.json_lines import append_line


def labels() -> NDArray[np.int32]:
    """(500,), what the test images of digits are."""
    return datasets.load_dataset("digits").test_labels


def probabilities(seed: int, members: int, skill: float = 2.0) -> NDArray[np.float32]:
    """(M, 500, 10) of members that are the surer of the label the greater the skill is."""
    draws = np.random.default_rng(seed)
    truth = labels()
    logits = draws.normal(size=(members, len(truth), 10))
    logits[:, np.arange(len(truth)), truth] += skill
    powers = np.exp(logits)
    return (powers / powers.sum(-1, keepdims=True)).astype(np.float32)


def finished(settings: dict[str, Any] | None = None, epochs: int = 2, skill: float = 2.0, draw: int = 0) -> runs.Run:
    """A finished run on digits with a history, and predictions after each epoch."""
    asked: dict[str, Any] = {"members": 2, "epochs": epochs, **(settings or {})}
    run = runs.create_run(EnsembleConfig(**asked))
    status = replace(run.status, state="finished", seconds=10.0 * epochs, img_member_per_s=500.0)
    for epoch in range(1, epochs + 1):
        made = probabilities(1000 * draw + epoch, run.config.members, skill * epoch / epochs)
        write_predictions(run.path, epoch, made)
        for line in (stretch(made, epoch), closing(made, epoch)):
            append_line(run.path / "history.jsonl", line)
        status = replace(status, epoch=epoch, **build_epoch_status_fields(status, line))
    write_status(run.path, status)
    return runs.find_run(run.id)


def stretch(made: NDArray[np.float32], epoch: int) -> dict[str, Any]:
    """A line of the ten steps of an epoch."""
    loss = [float(-np.log(one[np.arange(500), labels()]).mean()) for one in made]
    right = [float((one.argmax(-1) == labels()).mean()) for one in made]
    mean = made.astype(float).mean(0)
    return {
        "kind": "steps",
        "epoch": epoch,
        "step": 10 * epoch,
        "progress": float(epoch),
        "train_loss": loss,
        "train_accuracy": right,
        "ensemble_train_nll": float(-np.log(mean[np.arange(500), labels()]).mean()),
        "ensemble_train_accuracy": float((mean.argmax(-1) == labels()).mean()),
        "seconds": 10.0 * epoch,
    }


def closing(made: NDArray[np.float32], epoch: int) -> dict[str, Any]:
    """The line that closes an epoch."""
    line = stretch(made, epoch)
    names = {name: name.replace("train", "test") for name in line if "train" in name}
    return {**line, "kind": "epoch", **{test: line[name] for name, test in names.items()}}


def imported(skill: float = 2.0, name: str = "", seed: int = 9) -> runs.Run:
    """A run of predictions for digits' test images that were made elsewhere."""
    made = probabilities(seed, 2, skill)
    return runs.create_imported_run([made], labels(), registry.find_dataset_entry("digits"), name=name)
