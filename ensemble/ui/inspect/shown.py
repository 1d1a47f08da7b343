"""What the screen Inspect looks at: one epoch of one run, judged, with its images."""

from collections.abc import Sequence
from dataclasses import dataclass

from ensemble import runs
from ensemble.analysis.predictions import Predictions
from ensemble.ui.predictions import fitting
from ensemble.ui.predictions.fitting import Fitting
from ensemble.wording.run_names import called


@dataclass(frozen=True, eq=False)
class Inspected:
    """One epoch's predictions, and what they are of.

    Attributes:
      run: the run.
      epoch: the epoch that is shown.
      epochs: all epochs whose predictions are kept, rising.
      made: the predictions.
      dataset: their images and labels; where these are gone the screen says so instead.
      noun: what one image is called: "digit" or "image".
      version: changes when the file of predictions does; measures are kept under it.
    """

    run: runs.Run
    epoch: int
    epochs: Sequence[int]
    made: Predictions
    dataset: runs.TestSet
    noun: str
    version: tuple[int, int]

    @property
    def names(self) -> Sequence[str]:
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
    def fitting(self) -> Fitting | None:
        """What is fitted and chosen on; None: one half of the test images, or all of them."""
        return fitting.of(self.run, self.epoch)

    @property
    def source(self) -> str:
        """The run and epoch as titles of pictures name them."""
        return f"{called(self.run)} · epoch {self.epoch}"

    @property
    def stem(self) -> str:
        """The run and epoch as names of files begin."""
        return f"{self.run.id}-epoch-{self.epoch}"
