"""What a run's members say of the images that were held out of training, with their labels."""

from ensemble.analysis.inference.image_groups import select_groups
from ensemble.analysis.predictions import EnsemblePredictions, evaluate_predictions
from ensemble.datasets.partition.split import select_validation_indices
from ensemble.errors import EnsembleError
from ensemble.runs.history import read_validation_predictions
from ensemble.runs.run_folder import SOURCES_FILE
from ensemble.runs.store import Run
from ensemble.runs.test_set import load_run_dataset


def are_members_chosen(run: Run) -> bool:
    """Whether the run's members were chosen on its validation images, from other runs.

    They look better there than they are: what is fitted on the same images promises too much.
    """
    return (run.path / SOURCES_FILE).exists()


def evaluate_validation_predictions(run: Run, epoch: int) -> EnsemblePredictions | None:
    """The predictions after an epoch (from 1) on the run's validation images, to fit and choose on.

    None where the run holds no images out, where its predictions of them are lost or damaged, or
    where its members were chosen on them (`are_members_chosen`).
    """
    config = run.training_config
    if config is None or not config.validation or are_members_chosen(run):
        return None
    try:
        probabilities = read_validation_predictions(run.id, epoch)
        data = load_run_dataset(run)
        held = select_validation_indices(config, data)
        return evaluate_predictions(probabilities, data.train_labels[held], select_groups(data.train_groups, held))
    except (EnsembleError, ValueError):
        return None
