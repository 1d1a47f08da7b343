"""The labels in doubt of one split, the most suspicious first, and what was decided of them."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ensemble.analysis.quality.averaging import Ints
from ensemble.analysis.quality.label_errors import LabelErrors
from ensemble.datasets.decisions.decision_log import DecisionLog, list_matching_decisions, open_decision_log
from ensemble.datasets.decisions.label_decision import LabelDecision, checksum_image
from ensemble.datasets.example_details import NO_DETAILS, ExampleDetails
from ensemble.runs.test_set import load_run_dataset
from ensemble.ui.inspect.shared_epoch import SharedEpoch
from ensemble.views.examples.judged_labels import JudgedLabels, judge_labels


class DecisionQueue(Protocol):
    """What the buttons of a decision need of a queue."""

    @property
    def class_names(self) -> tuple[str, ...]:
        """C of them."""

    @property
    def log(self) -> DecisionLog:
        """Where decisions are kept."""

    def build_decision(self, number: int, decision: str, new_label: int) -> LabelDecision:
        """A decision about an image, to be kept."""


@dataclass(frozen=True, eq=False)
class LabelQueue:
    """What is asked about the images of one split.

    Attributes:
      split: "train" or "test".
      images: uint8 (N, H, W, channels); None where there are none.
      tiles: what stands for the images on the screen, (N, H, W, channels).
      labels: (N,), as they stand in the dataset.
      judged: of the K images that members who have not learnt them judge, by place: the numbers
        among the N, rising; the predictions; by how many members; and which labels are in doubt.
      class_names: C of them.
      noun: what one image is called.
      run_id: whose members are asked.
      details: what the images are called.
    """

    split: str
    images: NDArray[np.uint8] | None
    tiles: NDArray[np.uint8]
    labels: Ints
    judged: JudgedLabels
    class_names: tuple[str, ...]
    noun: str
    run_id: str
    details: ExampleDetails = NO_DETAILS

    @property
    def numbers(self) -> Ints:
        numbers: Ints = self.judged.numbers[self.errors.queue]
        return numbers

    @property
    def errors(self) -> LabelErrors:
        return self.judged.errors

    def expect_errors(self, numbers: Iterable[int]) -> float:
        """Return how many labels of these images are wrong at least."""
        shown = self.errors.shown_doubt
        return float(sum(shown[self.judged.find_place(number)] for number in numbers))

    @property
    def log(self) -> DecisionLog:
        return open_decision_log(self.split, self.labels, len(self.class_names))

    def list_decisions(self) -> tuple[LabelDecision, ...]:
        """All that was decided of these images, by whomever, also of those not in doubt here.

        Raises:
          StorageError: it cannot be read.
        """
        return list_matching_decisions(self.split, self.images, self.labels, len(self.class_names))

    def build_decision(self, number: int, decision: str, new_label: int) -> LabelDecision:
        return LabelDecision(
            decision=decision,
            number=number,
            image=checksum_image(self.images, number),
            label=int(self.labels[number]),
            new_label=new_label,
            run=self.run_id,
        )


@dataclass(frozen=True, eq=False)
class QueueState:
    """How far one is.

    Attributes:
      pending: the numbers of images that are still to be looked at, the most suspicious first.
      decisions: what was decided of the images in the queue.
      every: what was decided of any image of the split.
    """

    pending: tuple[int, ...]
    decisions: tuple[LabelDecision, ...]
    every: tuple[LabelDecision, ...]

    @property
    def total(self) -> int:
        return len(self.pending) + len(self.decisions)


def build_test_queue(shared: SharedEpoch) -> LabelQueue:
    return LabelQueue(
        split="test",
        images=shared.dataset.images,
        tiles=shared.dataset.tiles,
        labels=shared.predictions.labels,
        judged=judge_labels(shared, "test"),
        class_names=tuple(shared.class_names),
        noun=shared.noun,
        run_id=shared.run.id,
        details=shared.dataset.details,
    )


def build_training_queue(shared: SharedEpoch) -> LabelQueue:
    """The queue of a run's training images, each judged by the members that left it out.

    Raises:
      NotPreparedError: the run's dataset is not on this machine any more.
      RunError: the run has not judged its training images, or what it said cannot be read.
    """
    judged = judge_labels(shared, "training")
    dataset = load_run_dataset(shared.run)
    return LabelQueue(
        split="train",
        images=dataset.train_images,
        tiles=dataset.train_images,
        labels=dataset.train_labels,
        judged=judged,
        class_names=tuple(shared.class_names),
        noun=shared.noun,
        run_id=shared.run.id,
    )


def read_queue_state(queue: LabelQueue) -> QueueState:
    """How far one is by now, in this tab or any other.

    Raises:
      StorageError: what was decided cannot be read.
    """
    every = queue.list_decisions()
    decided, numbers = {decision.number for decision in every}, queue.numbers.tolist()
    asked = set(numbers)
    return QueueState(
        tuple(number for number in numbers if number not in decided),
        tuple(decision for decision in every if decision.number in asked),
        every,
    )
