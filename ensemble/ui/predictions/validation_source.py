"""On what a view fits and chooses: the images held out, or where there are none a half of the test.

What is fitted on the images held out can be judged on every test image.
"""

from typing import NamedTuple

from ensemble import runs
from ensemble.analysis.predictions import EnsemblePredictions
from ensemble.errors import RunError
from ensemble.runs.validation_predictions import are_members_chosen
from ensemble.ui.predictions import loader
from ensemble.ui.shared import loaders


class ValidationSource(NamedTuple):
    """Where the predictions to fit on are: small, so that results are remembered by it.

    Attributes:
      run_id: whose.
      epoch: after which epoch.
      file_version: the version of their file.
    """

    run_id: str
    epoch: int
    file_version: tuple[int, int]

    @property
    def predictions(self) -> EnsemblePredictions:
        """The predictions themselves, of V images; read once and shared by every tab."""
        validation_predictions = loader.load_validation_predictions(runs.find_run(self.run_id), self.epoch)
        assert validation_predictions is not None
        return validation_predictions


def find_validation_source(run: runs.Run, epoch: int) -> ValidationSource | None:
    """What to fit on after `epoch`.

    None where the run holds no images out, they are lost, or its members were chosen on them.
    """
    if not run.config.validation or are_members_chosen(run) or describe_validation_problem(run, epoch):
        return None
    path = run.path / "validation" / f"epoch-{epoch:04d}.npz"
    return ValidationSource(run.id, epoch, loaders.get_file_version(path))


def describe_validation_problem(run: runs.Run, epoch: int) -> str:
    """Why what was said of the images held out is no use, and what is done instead; else ""."""
    try:
        loader.load_validation_predictions(run, epoch)
    except RunError as error:
        return f"{error} Until then one half of the test images is fitted on instead."
    return ""
