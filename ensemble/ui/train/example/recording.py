"""A run that was recorded, read from the package: its settings, figures and predictions.

Its files are in `recorded/`, written by `python -m benchmarks.screens.example` from a real run. It
stands in no folder of runs and has an id that no run can have, so that no list, no picker, no
address and no command ever finds it.
"""

import functools
import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensemble import runs
from ensemble.analysis.predictions import Predictions, chosen, judge, ordered
from ensemble.analysis.quality.averaging import Ints
from ensemble.config import EnsembleConfig
from ensemble.datasets import registry
from ensemble.storage.records.lines import read_lines
from ensemble.ui.shared import loaders

FOLDER = Path(__file__).parent / "recorded"
ID = "recorded example"  # with a blank, which no run's id has
DISPUTED = 8


@functools.cache
def config() -> EnsembleConfig:
    """Its settings."""
    return EnsembleConfig.from_dict(_about()["settings"])


@functools.cache
def run() -> runs.Run:
    """The run, as screens take one."""
    status = runs.Status.from_dict(_about()["status"])
    return runs.Run(ID, ID, FOLDER, config(), status, registry.find(config().dataset))


def _about() -> dict[str, Any]:
    about: dict[str, Any] = json.loads((FOLDER / "run.json").read_text("utf-8"))
    return about


def is_recorded(asked: runs.Run) -> bool:
    """Whether a run is this one, and nobody's own."""
    return asked.id == ID


@functools.cache
def history() -> list[dict[str, Any]]:
    """The lines of its history."""
    return read_lines(FOLDER / "history.jsonl")


def epochs() -> list[int]:
    """Every epoch, from 1: of each the predictions are there."""
    return list(range(1, run().config.epochs + 1))


@functools.cache
def test_set() -> runs.TestSet:
    """The images that it was tested on: those of a dataset that needs no network."""
    found = loaders.dataset(run().config.dataset)
    return runs.TestSet(run().data, found.test_labels, found.test_images)


@functools.cache
def predictions(epoch: int) -> Predictions:
    """What its members said after `epoch`, judged; kept for every tab."""
    return judge(_probabilities()[epoch - 1].copy(), test_set().labels)


@functools.cache
def _probabilities() -> NDArray[np.float32]:
    with np.load(FOLDER / "predictions.npz", allow_pickle=False) as arrays:
        kept: NDArray[np.float32] = arrays["probabilities"]
    return kept


def read_predictions(asked: runs.Run, epoch: int) -> NDArray[np.floating]:
    """The members' probabilities (M, N, C) after `epoch`, of this run or of a person's own.

    Raises:
      RunError: they are not there, or cannot be read.
    """
    if is_recorded(asked):
        return predictions(epoch).probabilities
    return runs.read_predictions(asked.id, epoch)


def disputed() -> Ints:
    """The numbers of the images that its members dispute most at the end, the most first."""
    made = predictions(epochs()[-1])
    return ordered(made, chosen(made, "split"), "split")[:DISPUTED]
