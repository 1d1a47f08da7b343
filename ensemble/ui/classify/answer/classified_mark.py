"""What the screen Classify looks at: one picture as a run sees it, with one of its marks open."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ensemble import runs
from ensemble.ui.shared import address
from ensemble.wording.run_names import format_run_name

if TYPE_CHECKING:  # the first draws in SciPy, the last JAX: whoever only looks needs neither
    from ensemble.pictures.preparation import Mark, SegmentedPicture
    from ensemble.recognition.classifier import Classifier, Digit, Reading


def read_rejection_allowance() -> float:
    """The share of real digits that may be rejected, 0.01 to 0.5, as the address has it."""
    return address.REFUSE.read() / 100


@dataclass(frozen=True, eq=False)
class ClassifiedMark:
    """One mark of a picture, and what it is of.

    Attributes:
      run: the run that says what it is.
      classifier: the run's members at one epoch, ready to be asked.
      prepared: the picture's marks and the stages that it went through.
      reading: what the ensemble says of them.
      index: the mark that is open, from 0; there is at least one.
      name: what the picture is called, as its owner typed it, not escaped.
      key: a short word that differs when the picture or what was overruled in it does.
      refuse: the share of real digits that may be rejected.
    """

    run: runs.Run
    classifier: Classifier
    prepared: SegmentedPicture
    reading: Reading
    index: int
    name: str
    key: str
    refuse: float

    @property
    def mark(self) -> Mark:
        return self.prepared.marks[self.index]

    @property
    def digit(self) -> Digit:
        return self.reading.digits[self.index]

    @property
    def image(self) -> NDArray[np.uint8]:
        """The open mark as the networks see it: uint8 (H, W, channels)."""
        return self.mark.image

    @property
    def epoch(self) -> int:
        return self.classifier.epoch

    @property
    def names(self) -> Sequence[str]:
        return self.classifier.class_names

    @property
    def noun(self) -> str:
        return self.run.data.noun

    @property
    def title(self) -> str:
        """What titles call what is open: "Mark 2", or "Leaf" where a picture is one image."""
        return f"Mark {self.index + 1}" if self.classifier.written else self.noun.capitalize()

    @property
    def members(self) -> int:
        return self.classifier.members

    @property
    def source_title(self) -> str:
        return f"{format_run_name(self.run)} · epoch {self.epoch}"

    @property
    def file_stem(self) -> str:
        return f"{self.run.id}-epoch-{self.epoch}-{self.key}-{self.index + 1}"
