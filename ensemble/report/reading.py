"""What a report is of: a run's last predictions, judged, with its images; read once."""

import json
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ensemble import runs
from ensemble.analysis.members.diversity import Decomposition, decomposition
from ensemble.analysis.predictions import Predictions, judge
from ensemble.datasets.split import validation_indices
from ensemble.errors import EnsembleError, RunError
from ensemble.figures.inspect.decomposition import spread
from ensemble.jobs.folders import read_whole_config
from ensemble.runs.test_set import dataset_of
from ensemble.storage.atomic import read_json
from ensemble.wording.run_names import called


@dataclass(frozen=True, eq=False)
class Reported:
    """One run at the last epoch whose predictions are kept.

    Attributes:
      run: the run.
      epochs: all epochs whose predictions are kept, rising; at least one.
      made: the predictions of the last of them.
      dataset: their images and labels.
    """

    run: runs.Run
    epochs: list[int]
    made: Predictions
    dataset: runs.TestSet

    @property
    def epoch(self) -> int:
        """The last epoch."""
        return self.epochs[-1]

    @property
    def noun(self) -> str:
        """What one image is called."""
        return self.run.data.noun

    @property
    def names(self) -> tuple[str, ...]:
        """The classes' names, C of them."""
        return self.dataset.class_names

    @property
    def n(self) -> int:
        """N, how many test images there are."""
        return len(self.made.labels)

    @property
    def members(self) -> int:
        """M, how many members there are."""
        return self.made.members

    @property
    def source(self) -> str:
        """The run and epoch as titles of pictures name them."""
        return f"{called(self.run)} · epoch {self.epoch}"

    @cached_property
    def fit(self) -> Predictions | None:
        """The predictions of the images that the run holds out, to fit and choose on.

        None where it holds none out, or they are lost: then one half of the test images is fitted
        on.
        """
        config = self.run.trained
        if config is None or not config.validation:
            return None
        try:
            found = runs.read_validation(self.run.id, self.epoch)
            labels = dataset_of(self.run).train_labels
            return judge(found, labels[validation_indices(config, labels)])
        except (EnsembleError, ValueError):
            return None

    @cached_property
    def decompositions(self) -> dict[int, Decomposition]:
        """The parts of the loss by epoch, of at most two dozen; damaged epochs are left out."""
        labels, found = self.made.labels, dict[int, Decomposition]()
        for epoch in sorted({*spread(self.epochs), self.epoch}):
            if epoch == self.epoch:
                found[epoch] = decomposition(self.made.probabilities, labels)
                continue
            with suppress(RunError):
                there = runs.read_predictions(self.run.id, epoch)
                if there.shape[1] == len(labels):
                    found[epoch] = decomposition(there, labels)
        return found


def reported(run: runs.Run) -> Reported:
    """The run with its last predictions.

    Raises:
      NotPreparedError: its dataset is not on this machine any more.
      RunError: it has no predictions, or they cannot be read.
    """
    kept = runs.prediction_epochs(run.id)
    if not kept:
        raise RunError(f"The run is {run.state} and has no predictions: there is nothing to judge.")
    dataset = runs.test_set(run)
    try:
        made = judge(runs.read_predictions(run.id, kept[-1]), dataset.labels)
    except ValueError as error:
        raise RunError(
            f"The predictions of epoch {kept[-1]} are damaged, or made with other images: there is "
            "nothing to judge."
        ) from error
    return Reported(run, kept, made, dataset)


def versions(run: runs.Run) -> list[tuple[str, str]]:
    """The packages that it was trained with, by name; none where it does not say."""
    try:
        found = read_whole_config(run.path).packages
    except (OSError, ValueError):
        return []
    return [(str(name), str(value)) for name, value in found.items()] if found else []


def machine(run: runs.Run) -> list[tuple[str, str]]:
    """What it was trained on, as far as the run says: devices and cores, and no names of hosts."""
    paths = [run.path / "devices.json", *sorted((run.path / "groups").glob("*/devices.json"))]
    said: list[dict[str, Any]] = []
    for path in paths:
        with suppress(OSError, ValueError, json.JSONDecodeError):
            said.append(read_json(path))
    found = [("platform", joined(one.get("platform") for one in said))]
    every = [device for one in said for device in listed(one.get("devices"))]
    kinds = [device.get("kind") for device in every if isinstance(device, dict)]
    found.append(("devices", joined(kinds)))
    found.append(("cores", joined(one.get("cores") for one in said)))
    return [(name, value) for name, value in found if value]


def listed(value: Any) -> list[Any]:
    """A list as it is, and of whatever else stands there none."""
    return value if isinstance(value, list) else []


def joined(values: Any) -> str:
    """The distinct values, in their order; "" where there are none."""
    return ", ".join(dict.fromkeys(str(one) for one in values if one is not None))
