"""Runs as a worker leaves them behind, with predictions that are known beforehand."""

import time
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensemble import datasets, runs
from ensemble.analysis.predictions import EnsemblePredictions, evaluate_predictions
from ensemble.config import EnsembleConfig
from ensemble.datasets.partition.split import select_validation_indices
from ensemble.jobs.status import write_status
from ensemble.runs import Run
from ensemble.runs.history import write_predictions
from tests.analysis.draws import distributions
from tests.workers import at_work_here


def probabilities(dataset: str, members: int, epoch: int, sure: float | list[float]) -> NDArray[np.float32]:
    """(M, N, C): random members that lean towards the label, more so the higher `sure`."""
    known = datasets.load_dataset(dataset)
    return leaning(known.test_labels, members, epoch, sure, len(known.class_names))


def evaluated(members: int, sure: float, epoch: int = 2) -> EnsemblePredictions:
    """What a run of `trained` on Digits says after an epoch."""
    return evaluate_predictions(
        probabilities("digits", members, epoch, sure), datasets.load_dataset("digits").test_labels
    )


def held_out(run: Run, epoch: int, sure: float) -> tuple[NDArray[np.float32], NDArray[np.int32]]:
    """(M, V, C) and (V,): what such members say of the images that a run holds out, and these."""
    known = datasets.load_dataset(run.config.dataset)
    labels = known.train_labels[select_validation_indices(run.config, known)]
    made = leaning(labels, run.config.members, 100 + epoch, sure, len(known.class_names))
    return made, labels


def leaning(labels: Any, members: int, seed: int, sure: float | list[float], classes: int = 10) -> NDArray[np.float32]:
    """(M, N, C): random members that lean towards the labels (N,), each as much or all alike."""
    drawn = distributions(members, len(labels), classes, seed=seed)
    drawn[:, np.arange(len(labels)), labels] *= np.exp(np.reshape(sure, (-1, 1)))
    return drawn / drawn.sum(axis=-1, keepdims=True)


def trained(
    *,
    members: int = 3,
    epochs: int = 2,
    done: int | None = None,
    dataset: str = "digits",
    sure: float | list[float] = 4.0,
    name: str = "",
    state: str = "finished",
    working: bool = False,
    seed: int = 0,
    validation: float = 0.0,
    network: str = EnsembleConfig.network,
    width: int = 0,
    folds: int = 0,
    **status: Any,
) -> Run:
    """A run in `state` whose predictions after each of `done` epochs are `probabilities`.

    With `working` this process is its worker until the test ends. Of the images that it holds
    out it says what `held_out` does, with 1 less than `sure`.
    """
    run = runs.create_run(
        EnsembleConfig(
            dataset=dataset,
            members=members,
            epochs=epochs,
            seed=seed,
            validation=validation,
            network=network,
            width=width,
            folds=folds,
        )
    )
    if working:
        status = {"updated": time.time(), **at_work_here(run.path), **status}
    known = replace(run.status, state=state, epochs=epochs, steps=10 * epochs)
    for epoch in range(1, (epochs if done is None else done) + 1):
        made = probabilities(dataset, members, epoch, sure)
        write_predictions(run.path, epoch, made)
        if validation:
            write_predictions(run.path, epoch, held_out(run, epoch, float(sure) - 1)[0], "validation")
        known = after(known, epoch, made, datasets.load_dataset(dataset).test_labels)
    write_status(run.path, replace(known, **status))
    return runs.rename_run(run.id, name)


def after(status: runs.Status, epoch: int, made: NDArray[np.float32], labels: Any) -> runs.Status:
    """The status at the end of an epoch, its figures counted anew."""
    share = float((made.mean(axis=0).argmax(axis=-1) == labels).mean())
    best = status.best_ensemble_test_accuracy
    better = best is None or share > best
    return replace(
        status,
        epoch=epoch,
        step=10 * epoch,
        seconds=40.0 * epoch,
        ensemble_test_accuracy=share,
        member_test_accuracy=[float(one) for one in (made.argmax(axis=-1) == labels).mean(axis=1)],
        best_ensemble_test_accuracy=share if better else best,
        best_epoch=epoch if better else status.best_epoch,
    )
