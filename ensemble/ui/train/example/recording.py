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
from ensemble.analysis.predictions import EnsemblePredictions, evaluate_predictions, filter_examples, sort_examples
from ensemble.analysis.quality.averaging import Ints
from ensemble.config import EnsembleConfig
from ensemble.datasets import registry
from ensemble.storage.records.json_lines import read_lines
from ensemble.ui.shared import loaders

FOLDER = Path(__file__).parent / "recorded"
RECORDED_ID = "recorded example"  # with a blank, which no run's id has
_DISPUTED_IMAGE_COUNT = 8


@functools.cache
def load_recorded_config() -> EnsembleConfig:
    return EnsembleConfig.from_dict(_read_recorded_metadata()["settings"])


@functools.cache
def load_recorded_run() -> runs.Run:
    status = runs.Status.from_dict(_read_recorded_metadata()["status"])
    return runs.Run(
        id=RECORDED_ID,
        name=RECORDED_ID,
        path=FOLDER,
        config=load_recorded_config(),
        status=status,
        entry=registry.find_dataset_entry(load_recorded_config().dataset),
    )


def _read_recorded_metadata() -> dict[str, Any]:
    about: dict[str, Any] = json.loads((FOLDER / "run.json").read_text("utf-8"))
    return about


def is_recorded_run(run: runs.Run) -> bool:
    return run.id == RECORDED_ID


@functools.cache
def load_recorded_history() -> list[dict[str, Any]]:
    return read_lines(FOLDER / "history.jsonl")


def list_recorded_epochs() -> list[int]:
    """Every epoch, from 1: of each the predictions are there."""
    return list(range(1, load_recorded_run().config.epochs + 1))


@functools.cache
def load_recorded_test_set() -> runs.TestSet:
    """The images that it was tested on: those of a dataset that needs no network."""
    cached_dataset = loaders.load_cached_dataset(load_recorded_run().config.dataset)
    return runs.TestSet(load_recorded_run().data, cached_dataset.test_labels, cached_dataset.test_images)


@functools.cache
def load_recorded_predictions(epoch: int) -> EnsemblePredictions:
    """What its members said after `epoch`, judged; kept for every tab."""
    return evaluate_predictions(_read_recorded_probabilities()[epoch - 1].copy(), load_recorded_test_set().labels)


@functools.cache
def _read_recorded_probabilities() -> NDArray[np.float32]:
    with np.load(FOLDER / "predictions.npz", allow_pickle=False) as arrays:
        kept: NDArray[np.float32] = arrays["probabilities"]
    return kept


def load_member_probabilities(run: runs.Run, epoch: int) -> NDArray[np.floating]:
    """The members' probabilities (M, N, C) after `epoch`, of this run or of a person's own.

    Raises:
      RunError: they are not there, or cannot be read.
    """
    if is_recorded_run(run):
        return load_recorded_predictions(epoch).probabilities
    return runs.read_run_predictions(run.id, epoch)


def find_recorded_disputed_images() -> Ints:
    recorded_predictions = load_recorded_predictions(list_recorded_epochs()[-1])
    return sort_examples(recorded_predictions, filter_examples(recorded_predictions, "split"), "split")[
        :_DISPUTED_IMAGE_COUNT
    ]
