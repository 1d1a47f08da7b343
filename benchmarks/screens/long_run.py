"""Runs written as a worker writes them, of drawn numbers, for measuring screens that show them."""

import shutil
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

LINES_AN_EPOCH = 4  # of steps, as an epoch of some seconds leaves


def write_run(members: int, epochs: int, kept: Sequence[int]) -> str:
    """The id of a finished run on MNIST.

    Args:
      members: M.
      epochs: how many there are in its history.
      kept: those whose predictions and parameters are on disk.
    """
    from benchmarks.screens.drawn_runs import probabilities
    from ensemble import datasets, runs
    from ensemble.config import EnsembleConfig
    from ensemble.engine.networks.registry import bind_network
    from ensemble.engine.step import create_members
    from ensemble.jobs.status import write_status
    from ensemble.runs.history import write_predictions
    from ensemble.runs.parameters import write_parameters
    from ensemble.storage.records.json_lines import append_line

    run = runs.create_run(EnsembleConfig(dataset="mnist", members=members, epochs=epochs))
    labels, params = (
        np.asarray(datasets.load_dataset("mnist").test_labels),
        create_members(bind_network("cnn", (28, 28, 1), 10), 0, members).params,
    )
    for epoch in kept:
        write_predictions(run.path, epoch, probabilities(labels, members, seed=epoch))
        write_parameters(run.path, epoch, params, best=epoch)
    rng, seconds = np.random.default_rng(0), 0.0
    for epoch in range(1, epochs + 1):
        for part in range(LINES_AN_EPOCH + 1):
            seconds += 1.0
            line = figures(rng, members, epoch, part)
            append_line(run.path / "history.jsonl", {**line, "seconds": seconds})
    write_status(
        run.path,
        replace(
            run.status,
            state="finished",
            epoch=epochs,
            seconds=seconds,
            img_member_per_s=6_000.0,
            ensemble_test_accuracy=float(line["ensemble_test_accuracy"]),
            best_epoch=epochs,
            member_test_accuracy=[float(accuracy) for accuracy in line["test_accuracy"]],
        ),
    )
    return run.id


def figures(rng: np.random.Generator, members: int, epoch: int, part: int) -> dict[str, Any]:
    """One line: of steps, or of the epoch's end where `part` is the last."""
    ends = part == LINES_AN_EPOCH
    progress = epoch - 1 + min(part + 1, LINES_AN_EPOCH) / LINES_AN_EPOCH
    loss = 2.0 / (1 + progress) * np.exp(rng.normal(0, 0.3, members))
    line: dict[str, Any] = {
        "kind": "epoch" if ends else "steps",
        "epoch": epoch,
        "step": round(468 * progress),
        "progress": progress,
        "train_loss": loss,
        "train_accuracy": 1 - loss / 20,
        "ensemble_train_loss": loss.mean(),
        "ensemble_train_nll": 0.8 * loss.mean(),
        "ensemble_train_accuracy": 1 - loss.mean() / 25,
        "img_member_per_s": 6_000.0,
    }
    if ends:
        line |= {
            "test_loss": loss,
            "test_accuracy": 1 - loss / 20,
            "ensemble_test_loss": loss.mean(),
            "ensemble_test_nll": 0.8 * loss.mean(),
            "ensemble_test_accuracy": 1 - loss.mean() / 25,
            "disagreement": loss.mean() / 10,
            "member_disagreement": loss / 15,
        }
    return line


def copies(run_id: str, until: int) -> None:
    """So many copies of a run, without its large files, that there are `until` runs."""
    from ensemble import runs

    source, now = runs.find_run(run_id), time.time()
    few = shutil.ignore_patterns("predictions", "parameters", "checkpoints", "history.jsonl")
    for number in range(until - len(runs.list_runs())):
        name = time.strftime(f"mnist-%m%d-%H%M%S-{number}", time.localtime(now))
        shutil.copytree(source.path, source.path.with_name(name), ignore=few)
