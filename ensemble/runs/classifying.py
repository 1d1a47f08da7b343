"""Reading digits that a person brings: what a run's members say of marks, and how surely."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensemble import data
from ensemble.analysis.averaging import average, votes
from ensemble.analysis.disagreement import mutual_information
from ensemble.data.registry import find as find_dataset
from ensemble.errors import RunError
from ensemble.runs.members import member_epochs, open_members
from ensemble.runs.store import find

REFUSE = 0.05
REJECTED = "?"


@dataclass(frozen=True, eq=False)
class Digit:
    """What the ensemble says of one mark.

    Attributes:
      label: the class with the highest averaged probability.
      probabilities: (C,), averaged over the members.
      members: (M, C), each member's own.
      votes: (M,), each member's class.
      information: mutual information in nats: how far the members disagree.
      score: how strange the mark is; rejected when it is more than `threshold`.
      threshold: see `score`.
      stranger_than: the share of held-out digits that are less strange, in [0, 1].
      rejected: whether it is not a digit, or not one that the members know.
      why: what is strange about it, one sentence; empty where it is not rejected.
    """

    label: int
    probabilities: NDArray[np.float64]
    members: NDArray[np.float32]
    votes: NDArray[np.int64]
    information: float
    score: float
    threshold: float
    stranger_than: float
    rejected: bool
    why: str


@dataclass(frozen=True, eq=False)
class Reading:
    """What the ensemble says of a picture's marks.

    Attributes:
      digits: one for each mark, in reading order.
      text: the classes' names in reading order, "?" where a mark is rejected.
      confidence: in [0, 1], that the whole number is right: the product of the averaged
        probabilities of the classes said, rejected marks left out; as if the digits' errors
        had nothing to do with each other. 0 where nothing is said.
      refused: why the whole picture is taken for something else than digits; empty if not.
    """

    digits: tuple[Digit, ...]
    text: str
    confidence: float
    refused: str


class Classifier:
    """A run's members at one epoch, ready to be asked. Made by `open_classifier`.

    Attributes:
      run_id: whose members they are.
      epoch: epochs that they have done.
      epochs: all epochs of the run that could be opened.
      dataset: what they have learnt.
      class_names: what people call the classes.
      members: M.
    """

    def __init__(self, run_id: str, epoch: int, epochs: tuple[int, ...], params: Any,
                 dataset: data.Dataset) -> None:  # fmt: skip
        import jax

        from ensemble.runs.gate import Judge

        self.run_id, self.epoch, self.epochs = run_id, epoch, epochs
        self.dataset, self.class_names = dataset.name, dataset.class_names
        self.members = len(jax.tree.leaves(params)[0])
        self._params, self._judge = params, Judge(params, dataset)

    def read(self, images: NDArray[np.uint8], refuse: float = REFUSE) -> Reading:
        """What the ensemble says of marks.

        Args:
          images: uint8 (N, 28, 28, 1), 0 ground and 255 ink, in reading order.
          refuse: the share of real digits that may be turned away, in (0, 1).
        """
        from ensemble.engine import activations

        if not len(images):
            return Reading((), "", 0.0, "")
        found = activations(self._params, images)
        probabilities = found.probabilities
        averaged, voted = average(probabilities), votes(probabilities)
        information = mutual_information(probabilities, averaged)
        scores, threshold = self._judge.scores(found), self._judge.threshold(refuse)
        rarer = self._judge.stranger_than(scores)
        digits = tuple(
            Digit(
                int(averaged[n].argmax()), averaged[n], probabilities[:, n], voted[:, n],
                float(information[n]), float(scores[n]), threshold, float(rarer[n]),
                bool(scores[n] > threshold),
                "It is unlike the digits that were held out." if scores[n] > threshold else "",
            )
            for n in range(len(images))
        )  # fmt: skip
        said = [digit for digit in digits if not digit.rejected]
        text = "".join(REJECTED if d.rejected else self.class_names[d.label] for d in digits)
        confidence = float(np.prod([d.probabilities[d.label] for d in said])) if said else 0.0
        return Reading(digits, text, confidence, "")

    def gate(self, refuse: float = REFUSE) -> Any:
        """What the gate does at this share; measured when first asked for."""
        return self._judge.gate(refuse)


def open_classifier(run_id: str, epoch: int | None = None) -> Classifier:
    """A run's members on the CPU, ready to read digits.

    Args:
      run_id: whose members.
      epoch: one of those whose parameters are kept; None is the last of them.

    Raises:
      UnknownRunError: there is no such run.
      RunError: nothing of that epoch is kept, or the run's dataset is no handwriting.
      NotPreparedError: the run's dataset is not on this machine.
    """
    run = find(run_id)
    entry = find_dataset(run.config.dataset)
    if not entry.handwritten:
        raise RunError(
            f"The members of “{run.name}” have learnt {entry.title}, not handwriting: choose a "
            "run on digits to read what you have written."
        )
    epochs = member_epochs(run_id)
    if epoch is None and epochs:
        epoch = epochs[-1]
    members = open_members(run_id, epoch)
    return Classifier(run_id, members.epoch, epochs, members.params, data.load(run.config.dataset))
