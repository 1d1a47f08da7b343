"""Labels planted in a calibrated population: whether more are called wrong than are.

What is labeled is drawn from the ensemble's own probabilities, then a share of the labels is
changed: to any other class, or to the ensemble's second guess. `loss` counts shares of 5 %: with 0
no label is wrong, so that any claim is.
"""

import numpy as np

from benchmarks.verdicts.populations import CLASSES
from benchmarks.verdicts.trials import Setting, Told, Trial, population
from ensemble.analysis.predictions import evaluate_predictions
from ensemble.analysis.quality.label_errors import find_label_errors

PLANTED_SHARE = 0.05


def too_many_wrong_labels(setting: Setting, rng: np.random.Generator) -> Told:
    """At least so many labels are wrong: any class, or the second guess, each half of the time."""
    probabilities, labels = population(setting.members).draw_calibrated(setting.n, rng)
    changed = np.flatnonzero(rng.random(setting.n) < PLANTED_SHARE * setting.loss)
    labels = np.array(labels)
    if rng.random() < 0.5:
        labels[changed] = (labels[changed] + rng.integers(1, CLASSES, len(changed))) % CLASSES
    else:
        others = probabilities.mean(axis=0)[changed]
        others[np.arange(len(changed)), labels[changed]] = 0
        labels[changed] = others.argmax(axis=1)
    errors = find_label_errors(evaluate_predictions(probabilities, labels))
    least = int(errors.low * setting.n)
    return Told(least > 0, least > len(changed))


LABEL_VERDICTS: dict[str, tuple[Trial, tuple[float, ...]]] = {
    "labels that are wrong": (too_many_wrong_labels, (0, 1, 4))
}
