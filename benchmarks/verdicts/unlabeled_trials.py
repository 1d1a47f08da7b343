"""Claims about images without labels: false alarms, power, and ranges of the accuracy.

Labeled images are drawn from a population in which 3 % of the answers are wrong, new ones from the
same population or, with a loss of 3, from one in which four times as many are wrong. To call new
images unlike the labeled ones is wrong only if both are drawn alike.
"""

from functools import cache, partial

import numpy as np
from numpy.typing import NDArray

from benchmarks.verdicts.populations import Population
from benchmarks.verdicts.trials import Setting, Told, Trial, population
from ensemble.analysis.inference.image_groups import Groups
from ensemble.analysis.predictions import evaluate_predictions
from ensemble.analysis.quality.averaging import average_probabilities, most_likely_classes
from ensemble.analysis.unlabelled.accuracy_estimate import MIN_IMAGES, estimate_accuracy, fit_accuracy
from ensemble.analysis.unlabelled.distribution_test import compare_distributions
from ensemble.analysis.unlabelled.output_measures import measure_outputs

ERROR_RATE = 0.03  # of the labeled images
LABELED, MOST_COPIES = 500, 40  # labeled images by default; of one of them, in groups of copies


def unlike(setting: Setting, rng: np.random.Generator, labeled: int = LABELED) -> Told:
    """New images are unlike the labeled ones."""
    images, _ = _with_errors(setting.members, 0).draw(labeled, rng)
    return _judge(setting, rng, images, None)


def unlike_groups(setting: Setting, rng: np.random.Generator) -> Told:
    """`unlike`, with labeled images in groups of 1 to `MOST_COPIES` copies."""
    groups = np.repeat(np.arange(LABELED), rng.integers(1, MOST_COPIES + 1, LABELED))[:LABELED]
    images, _ = _with_errors(setting.members, 0).draw(int(groups.max()) + 1, rng)
    return _judge(setting, rng, images[:, groups], groups)


def range_of_the_accuracy(setting: Setting, rng: np.random.Generator) -> Told:
    """The accuracy of the new images lies in the range that is shown, with lower trust or not."""
    images, labels = _with_errors(setting.members, 0).draw(LABELED, rng)
    new, truth = _with_errors(setting.members, setting.loss).draw(setting.n, rng)
    outputs = measure_outputs(new)
    found = estimate_accuracy(fit_accuracy(evaluate_predictions(images, labels)), outputs).range
    accuracy = float((outputs.answers == truth).mean())
    return Told(found is not None, found is not None and not found[0] <= accuracy <= found[1])


def _judge(setting: Setting, rng: np.random.Generator, images: NDArray[np.float32], groups: Groups | None) -> Told:
    if setting.n < MIN_IMAGES:
        return Told(False, False)
    new, _ = _with_errors(setting.members, setting.loss).draw(setting.n, rng)
    claimed = compare_distributions(measure_outputs(images), measure_outputs(new), groups).is_unlike
    return Told(claimed, claimed and not setting.loss)


@cache
def _with_errors(members: int, loss: float) -> Population:
    """A population with `ERROR_RATE` wrong answers, or 1 + loss times as many."""
    universe = population(members)
    answers = most_likely_classes(average_probabilities(universe.probabilities))
    wrong = (answers != universe.labels).astype(np.float64)
    return universe.tilted(wrong, (1 + loss) * ERROR_RATE)


UNLABELED_VERDICTS: dict[str, tuple[Trial, tuple[float, ...]]] = {
    "unlike 100 labeled images": (partial(unlike, labeled=100), (0, 3)),
    "unlike 500 labeled images": (unlike, (0, 3)),
    "unlike 5,000 labeled images": (partial(unlike, labeled=5_000), (0, 3)),
    "unlike groups of copies": (unlike_groups, (0, 3)),
    "range of the unlabeled accuracy": (range_of_the_accuracy, (0, 3)),
}
