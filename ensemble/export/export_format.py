"""What a form of export is, and what every one of them is given."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ensemble import __version__, runs
from ensemble.analysis.predictions import evaluate_predictions
from ensemble.analysis.quality.quality import Quality, measure_quality
from ensemble.analysis.quality.temperature_scaling import apply_temperature
from ensemble.config import EnsembleConfig
from ensemble.wording.runs.member_settings import list_run_member_names

if TYPE_CHECKING:
    from ensemble.engine import Network

PREPARATION = "uint8 from 0 to 255, divided by 255 as float32; (N, H, W, channels)"
_MEMBERS_PREFIX, _PARAMETERS = "members", "params"
BLOCK_SIZE = 1024  # images that are asked about at a time
FIGURES = ("accuracy", "nll", "brier", "ece")


@dataclass(frozen=True, eq=False)
class EnsembleContent:
    """An ensemble as it is to be written: its members' arrays, and all that is said of them.

    Attributes:
      run: the run.
      config: its settings.
      epoch: after which the members are taken.
      network: what they are.
      arrays: (M, …) by the network's own names, `Conv_0/kernel`, `batch_stats/…` among them.
      recorded: (M, N, C), what the run wrote down of its test images; None if it did not.
      test: these images.
      temperature: of the averaged probabilities, in forms that give these; None is as they are.
    """

    run: runs.Run
    config: EnsembleConfig
    epoch: int
    network: "Network"
    arrays: dict[str, NDArray[Any]]
    recorded: NDArray[np.float32] | None
    test: runs.TestSet
    temperature: float | None = None

    @property
    def members(self) -> int:
        """M."""
        return len(next(iter(self.arrays.values())))

    @cached_property
    def member_names(self) -> tuple[str, ...]:
        """What the M members are called."""
        return list_run_member_names(self.run, self.epoch)

    @property
    def images(self) -> NDArray[np.uint8]:
        """The test images, uint8 (N, H, W, channels)."""
        assert self.test.images is not None
        return self.test.images

    @cached_property
    def quality(self) -> Quality | None:
        """The ensemble's figures on the test images as the run wrote them down."""
        return None if self.recorded is None else self.judge(self.recorded)

    def judge(self, probabilities: NDArray[np.float32]) -> Quality:
        """The ensemble's figures on the test images, by its members' probabilities (M, N, C)."""
        predictions = evaluate_predictions(probabilities, self.test.labels, self.test.groups)
        averaged = predictions.averaged
        if self.temperature is not None:
            averaged = apply_temperature(averaged, self.temperature)
        return measure_quality(averaged, predictions.labels, predictions.groups)

    def name_arrays(self) -> dict[str, NDArray[Any]]:
        """Every member's arrays by `members/0/params/Conv_0/kernel`, its collection in the name."""
        collections = self.network.collections
        return {
            f"{_MEMBERS_PREFIX}/{m}/{_name_in_collection(name, collections)}": array[m]
            for m in range(self.members)
            for name, array in self.arrays.items()
        }

    def predict_from_arrays(self, named: dict[str, NDArray[Any]]) -> NDArray[np.float32]:
        """What members read back by the names of `name_arrays` make of the test images."""
        collections = self.network.collections
        stacked = {
            name: np.stack(
                [named[f"{_MEMBERS_PREFIX}/{m}/{_name_in_collection(name, collections)}"] for m in range(self.members)]
            )
            for name in self.arrays
        }
        members = runs.Members(self.epoch, 0, self.network.nest_arrays(stacked), self.network)
        blocks = [
            members.predict_probabilities(self.images[first : first + BLOCK_SIZE])
            for first in range(0, len(self.images), BLOCK_SIZE)
        ]
        return np.concatenate(blocks, axis=1)

    def describe(self) -> dict[str, Any]:
        """All that stands beside the weights: no path, no person, no image."""
        quality = self.quality
        return {
            "program": "ensemble",
            "version": __version__,
            "run": self.run.id,
            "epoch": self.epoch,
            "network": str(self.config.network),
            "width": self.config.width,
            "members": self.members,
            "member_names": list(self.member_names),
            "image_shape": list(self.run.data.image_shape),
            "preparation": PREPARATION,
            "class_names": list(self.test.class_names),
            "dataset": str(self.config.dataset),
            "test_images": len(self.test.labels),
            "figures": (
                {name: quality[name] for name in FIGURES} | {"accuracy_low": quality.low, "accuracy_high": quality.high}
                if quality
                else {}
            ),
        }

    def describe_as_text(self) -> dict[str, str]:
        """The same, every value a text: what is none is JSON."""
        return {name: value if isinstance(value, str) else json.dumps(value) for name, value in self.describe().items()}


@dataclass(frozen=True)
class ExportFormat:
    """One form that an ensemble leaves in.

    Attributes:
      name: its word on the command line and in addresses.
      title: what people call it.
      gloss: what it is good for, in a sentence.
      suffix: of the file's name; "" of a folder.
      holds_weights: whether the members' parameters are in it.
      write: writes it to a path that is free, or may be replaced.
      judge: reads what was written, and says what the ensemble's figures are by it, with the
        largest difference of any probability from what the run wrote down; None where there is
        no probability in it, or none was written down.
    """

    name: str
    title: str
    gloss: str
    suffix: str
    holds_weights: bool
    write: Callable[[EnsembleContent, Path, bool], None]
    judge: Callable[[EnsembleContent, Path], tuple[dict[str, float], float | None]]
    packages: tuple[str, ...] = ()
    takes_own_networks: bool = True
    averages: bool = False


def judge_probabilities(
    content: EnsembleContent, probabilities: NDArray[np.float32]
) -> tuple[dict[str, float], float | None]:
    """What `ExportFormat.judge` gives, by the members' probabilities (M, N, C)."""
    quality = content.judge(probabilities)
    return {name: float(quality[name]) for name in FIGURES}, _measure_difference(content, probabilities)


def judge_answers(
    content: EnsembleContent, probabilities: NDArray[np.float32], averaged: NDArray[np.float32]
) -> tuple[dict[str, float], float | None]:
    """The same where the file gives the average (N, C) itself: the figures are those of that."""
    quality = measure_quality(averaged, content.test.labels, content.test.groups)
    return {name: float(quality[name]) for name in FIGURES}, _measure_difference(content, probabilities)


def _measure_difference(content: EnsembleContent, probabilities: NDArray[np.float32]) -> float | None:
    """The largest of any member's probability from what the run wrote down; None if it did not."""
    if content.recorded is None:
        return None
    return float(np.abs(probabilities - content.recorded).max())


def _name_in_collection(name: str, collections: tuple[str, ...]) -> str:
    return name if name.split("/")[0] in collections else f"{_PARAMETERS}/{name}"
