"""What a run's members say of the images that were held out of training, with their labels."""

from ensemble.analysis.predictions import EnsemblePredictions, evaluate_predictions
from ensemble.datasets.split import select_validation_indices
from ensemble.errors import EnsembleError
from ensemble.runs.history import read_validation_predictions
from ensemble.runs.store import Run
from ensemble.runs.test_set import load_run_dataset


def evaluate_validation_predictions(run: Run, epoch: int) -> EnsemblePredictions | None:
    """The predictions after an epoch (from 1) on the run's validation images, to fit and choose on.

    None where the run holds no images out, or where its predictions of them are lost or damaged.
    """
    config = run.training_config
    if config is None or not config.validation:
        return None
    try:
        probabilities = read_validation_predictions(run.id, epoch)
        labels = load_run_dataset(run).train_labels
        return evaluate_predictions(
            probabilities, labels[select_validation_indices(config, labels)]
        )
    except (EnsembleError, ValueError):
        return None
