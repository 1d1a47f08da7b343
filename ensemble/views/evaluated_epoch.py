"""What every view looks at: one epoch of one run, its predictions judged, with its images."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ensemble import runs
from ensemble.analysis.members.diversity import NllDecomposition, nll_decomposition
from ensemble.analysis.positions.member_map import MemberMap, locate_members, select_path_epochs
from ensemble.analysis.predictions import EnsemblePredictions, evaluate_predictions
from ensemble.analysis.quality.averaging import Floats, most_likely_classes
from ensemble.config import CLASSIFICATION
from ensemble.errors import RunError
from ensemble.runs.validation_predictions import evaluate_validation_predictions
from ensemble.shift import read_ood_scores
from ensemble.wording.run_names import format_run_name
from ensemble.wording.verdicts import selection_basis

Result = TypeVar("Result")
_MAX_BYTE_CLASSES = 256  # classes whose numbers fit a byte
MAX_SPREAD_EPOCHS = 24  # of more epochs, this many are read
_SPREAD_MEMBERS = 64  # with more members fewer


@dataclass(frozen=True, eq=False)
class EvaluatedEpoch:
    """One epoch's predictions, what they are of, and what was measured of them.

    Attributes:
      run: the run.
      epoch: the epoch, from 1.
      epochs: all epochs whose predictions are kept, rising.
      predictions: what the members said after `epoch`.
      dataset: the test images and labels.
    """

    run: runs.Run
    epoch: int
    epochs: Sequence[int]
    predictions: EnsemblePredictions
    dataset: runs.TestSet
    _measured: dict[Any, Any] = field(default_factory=dict, init=False, repr=False)

    @property
    def noun(self) -> str:
        """What one image is called: "digit" or "image"."""
        return self.run.data.noun

    @property
    def class_names(self) -> Sequence[str]:
        return self.dataset.class_names

    @property
    def n(self) -> int:
        return len(self.predictions.labels)

    @property
    def members(self) -> int:
        return self.predictions.members

    @property
    def source(self) -> str:
        return f"{format_run_name(self.run)} · epoch {self.epoch}"

    @property
    def file_stem(self) -> str:
        return f"{self.run.id}-epoch-{self.epoch}"

    @cached_property
    def fit(self) -> EnsemblePredictions | None:
        """The predictions of the images that the run holds out, to fit and choose on.

        None where it holds none out, or they are lost: then one half of the test images is fitted
        on and the other judged.
        """
        return evaluate_validation_predictions(self.run, self.epoch)

    def measure(self, function: Callable[..., Result], *arguments: Any, fitted: bool = False, wait: str = "") -> Result:
        """What `function` makes of the predictions, computed once.

        Args:
          function: of the predictions and `arguments`; of a module, for it goes by its name.
          fitted: whether `fit` comes last among the arguments.
        """
        key = function, arguments, fitted
        if key not in self._measured:
            more = (self.fit,) if fitted else ()
            self._measured[key] = function(self.predictions, *arguments, *more)
        result: Result = self._measured[key]
        return result

    def decompose_losses(self) -> dict[int, NllDecomposition]:
        """The parts of the NLL by epoch, of at most two dozen; damaged epochs are left out.

        With more than 64 members of fewer epochs, so that no more predictions are read.
        """
        most = min(MAX_SPREAD_EPOCHS, max(2, MAX_SPREAD_EPOCHS * _SPREAD_MEMBERS // self.members))
        epochs = sorted({*select_spread_epochs(self.epochs, most), self.epoch})
        by_epoch = {epoch: self.decompose_loss(epoch) for epoch in epochs}
        return {epoch: parts for epoch, parts in by_epoch.items() if parts}

    def decompose_loss(self, epoch: int) -> NllDecomposition | None:
        """The parts of the NLL after one epoch; None where its predictions are damaged."""
        probabilities = self.read_probabilities(epoch)
        labels = self.predictions.labels
        return None if probabilities is None else nll_decomposition(probabilities, labels)

    def read_probabilities(self, epoch: int) -> Floats | None:
        """(M, N, C), the members' own after an epoch; None where its predictions are damaged.

        Before a member diverged there is one more.
        """
        if epoch == self.epoch:
            return self.predictions.probabilities
        with suppress(RunError):
            probabilities = self.load_probabilities(epoch)
            if probabilities.shape[1:] == self.predictions.probabilities.shape[1:]:
                return probabilities
        return None

    def load_probabilities(self, epoch: int) -> Floats:
        """(M, N, C), the members' own after an epoch.

        Raises:
          RunError: they are not there, or cannot be read.
        """
        return runs.read_run_predictions(self.run.id, epoch)

    @property
    def snapshot_epochs(self) -> Sequence[int]:
        """The epochs in which a cycle of the learning rate ends; () of other schedules."""
        config = self.run.training_config
        return config.cycle_ends if config else ()

    @property
    def path_epochs(self) -> Sequence[int]:
        return select_path_epochs(self.epochs, self.epoch, self.members, self.n, self.snapshot_epochs)

    def locate_members(self) -> MemberMap:
        """Where the members stand, and how they came there; computed once."""
        if "member map" not in self._measured:
            self._measured["member map"] = self.compute_member_map()
        result: MemberMap = self._measured["member map"]
        return result

    def compute_member_map(self) -> MemberMap:
        """As `locate_members`, anew; epochs that are damaged are left out."""
        votes = {}
        kind = np.uint8 if len(self.class_names) <= _MAX_BYTE_CLASSES else np.int32
        members = self.run.remaining_members(self.epoch)
        for epoch in self.path_epochs:
            if epoch == self.epoch:
                votes[epoch] = self.predictions.votes.astype(kind)
            elif (probabilities := self.read_probabilities(epoch)) is not None:
                then = self.run.remaining_members(epoch)
                rows = [then.index(member) for member in members]
                votes[epoch] = most_likely_classes(probabilities[rows]).astype(kind)
        return locate_members(
            np.stack(list(votes.values())),
            self.predictions.labels,
            list(votes),
            self.snapshot_epochs,
            self.predictions.groups,
        )

    def read_history(self) -> list[dict[str, Any]]:
        """The lines of the run's history; of a long one not every line of steps."""
        return runs.read_thinned_history(self.run.id)

    def read_scores(self, key: str, tick: int) -> dict[str, NDArray[np.float32]] | None:
        """The scores of a set of images that was measured under shift; None where they are gone."""
        return read_ood_scores(self.run.path, key, tick)

    def list_runs(self) -> list[runs.Run]:
        return runs.list_runs(CLASSIFICATION)


def select_spread_epochs(epochs: Sequence[int], most: int = MAX_SPREAD_EPOCHS) -> list[int]:
    """At most so many of the epochs, both ends kept: each is a file to read."""
    places = np.linspace(0, len(epochs) - 1, min(len(epochs), most)).round().astype(int)
    return [epochs[place] for place in places]


def describe_shown_epoch(run: runs.Run, epoch: int, epochs: Sequence[int]) -> str:
    """On what the shown epoch was chosen; "" for the last of a run without validation images."""
    usual = runs.select_default_epoch(run, epochs)
    return selection_basis.describe_epoch_choice(epoch, epochs[-1], usual, runs.is_chosen_on_validation(run, epoch))


def evaluate_epoch(run: runs.Run, epoch: int | None = None) -> EvaluatedEpoch:
    """Load and evaluate a run's predictions of one epoch, by default that of `runs.select_default_epoch`.

    Raises:
      NotPreparedError: the run's dataset is no longer on this machine.
      RunError: the run has no predictions, none of that epoch, or they cannot be read.
    """
    kept = runs.list_prediction_epochs(run.id)
    if not kept:
        raise RunError(f"The run is {run.state} and has no predictions: there is nothing to judge.")
    if epoch is not None and epoch not in kept:
        listed = ", ".join(map(str, kept)) if len(kept) < 9 else f"{kept[0]} to {kept[-1]}"
        raise RunError(f"The run “{run.id}” has no epoch {epoch}: it has {listed}.")
    epoch = runs.select_default_epoch(run, kept) if epoch is None else epoch
    dataset = runs.load_test_set(run)
    try:
        predictions = evaluate_predictions(runs.read_run_predictions(run.id, epoch), dataset.labels, dataset.groups)
    except ValueError as error:
        raise RunError(
            f"The predictions of epoch {epoch} are damaged, or made with other images: there is nothing to judge."
        ) from error
    return EvaluatedEpoch(run, epoch, kept, predictions, dataset)
