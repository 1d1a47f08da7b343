"""The curves of an experiment as far as it is, test images of one group counted together."""

from ensemble import datasets
from ensemble.acquisition.learning_job import LearningExperiment
from ensemble.acquisition.learning_results import LearningCurves, collect_curves, read_results
from ensemble.analysis.inference.image_groups import number_groups
from ensemble.errors import EnsembleError


def load_curves(experiment: LearningExperiment) -> LearningCurves:
    """Both arms of an experiment as far as they are.

    Raises:
      RunError: its results are there and cannot be read.
    """
    results, groups = read_results(experiment.path), None
    try:
        groups = datasets.load_dataset(experiment.config.base.dataset).test_groups
    except EnsembleError:
        groups = None  # Gone since: then each image counts as apart.
    images = {result.images for result in results.values()}
    if groups is not None and images != {len(groups)}:
        groups = None
    numbered = None if groups is None else number_groups(groups)
    return collect_curves(experiment.config, results, numbered)
