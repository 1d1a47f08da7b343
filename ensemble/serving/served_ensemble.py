"""A run's members on each device of the CPU, compiled ahead, and what images are judged by."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensemble import runs
from ensemble.analysis.predictions import EnsemblePredictions, evaluate_predictions
from ensemble.analysis.quality.conformal import METHODS, ConformalThreshold, fit_conformal_threshold
from ensemble.analysis.quality.coverage import MISS_RATE
from ensemble.engine import Activations, compute_activations
from ensemble.errors import EnsembleError
from ensemble.recognition.classifier import Classifier, open_classifier
from ensemble.runs.validation_predictions import evaluate_validation_predictions
from ensemble.serving.limits import BATCH_SIZES
from ensemble.wording.run_names import format_run_name
from ensemble.wording.runs.member_settings import list_run_member_names

Pixels = NDArray[np.uint8]

MAX_DEVICES = 8  # each holds the members once


@dataclass(frozen=True)
class _SetCalibration:
    """What prediction sets are built by.

    Attributes:
      threshold: on how ill a class fits.
      split: the images that it was set on: "validation", or all of "test".
    """

    threshold: ConformalThreshold
    split: str


class ServedEnsemble:
    """Members that answer in several threads at once; made by `open_served_ensemble`.

    Attributes:
      classifier: the members as Classify and `predict` have them.
      name: what people call the run.
      member_names: what the M members are called.
      sets: what prediction sets are built by; None where the run has too few predictions.
      devices: how many devices have the members.
      refuse: the share of real images that may be rejected, in (0, 1).
    """

    def __init__(
        self,
        classifier: Classifier,
        name: str,
        member_names: Sequence[str],
        sets: _SetCalibration | None,
        refuse: float,
    ) -> None:
        import jax

        self.classifier, self.name = classifier, name
        self.member_names, self.sets, self.refuse = tuple(member_names), sets, refuse
        places = jax.local_devices()[:MAX_DEVICES]
        self.devices = len(places)
        self._params = [jax.device_put(classifier.params, place) for place in places]

    def compute_activations(self, device: int, images: Pixels) -> Activations:
        """What the members make of images (N, H, W, channels), asked on a device by its place.

        Raises:
          RunError: they give no finite numbers.
        """
        return compute_activations(self.classifier.network, self._params[device], images, BATCH_SIZES)

    def compile_programs(self, report: Callable[[int, int], None] = lambda done, of: None) -> None:
        """Have every size of batch compiled on every device: no request waits for that.

        Args:
          report: told how many programs of how many are ready.
        """
        calls = [(device, size) for size in BATCH_SIZES for device in range(self.devices)]
        with ThreadPoolExecutor(self.devices) as threads:
            for done, _ in enumerate(threads.map(self._compile_program, calls), 1):
                report(done, len(calls))

    def _compile_program(self, call: tuple[int, int]) -> None:
        device, size = call
        self.compute_activations(device, np.zeros((size, *self.classifier.shape), np.uint8))


def open_served_ensemble(
    run_id: str, epoch: int | None, numbers: Sequence[int] | None, refuse: float
) -> ServedEnsemble:
    """A run's members, its rejection and its prediction sets; programs are not compiled yet.

    Args:
      run_id: whose members.
      epoch: after how many epochs; None for that of `select_default_epoch`.
      numbers: which members, from 0; None is all that had not diverged by then.
      refuse: the share of real images that may be rejected, in (0, 1).

    Raises:
      UnknownRunError: there is no such run.
      RunError: it was trained elsewhere and keeps no members, or nothing of that epoch.
      NotPreparedError: the run's dataset is not on this machine.
    """
    classifier = open_classifier(run_id, epoch, numbers=numbers)
    run = runs.find_run(run_id)
    names, remaining = list_run_member_names(run), run.remaining_members(classifier.epoch)
    chosen = remaining if numbers is None else tuple(numbers)
    places = [remaining.index(number) for number in chosen]
    sets = _calibrate_served_sets(run, classifier.epoch, places)
    return ServedEnsemble(classifier, format_run_name(run), [names[number] for number in chosen], sets, refuse)


def _calibrate_served_sets(run: runs.Run, epoch: int, places: Sequence[int]) -> _SetCalibration | None:
    """What sets of new images are built by: from the images held out, else from all of the test's.

    None where the predictions of that epoch are not kept, or are too few for the rate.
    """
    for split, load in (("validation", evaluate_validation_predictions), ("test", _evaluate_test_predictions)):
        try:
            predictions = load(run, epoch)
            if predictions is None:
                continue
            chosen = evaluate_predictions(predictions.probabilities[list(places)], predictions.labels)
        except (EnsembleError, ValueError, IndexError):  # lost, damaged, or of other members
            continue
        threshold = fit_conformal_threshold(chosen.averaged, chosen.labels, MISS_RATE, METHODS[0])
        if threshold.has_enough_examples:
            return _SetCalibration(threshold, split)
    return None


def _evaluate_test_predictions(run: runs.Run, epoch: int) -> EnsemblePredictions:
    probabilities = runs.read_run_predictions(run.id, epoch)
    return evaluate_predictions(probabilities, runs.load_test_set(run).labels)


def describe_ensemble(served: ServedEnsemble) -> dict[str, Any]:
    classifier, sets = served.classifier, served.sets
    return {
        "run_id": classifier.run_id,
        "name": served.name,
        "epoch": classifier.epoch,
        "dataset": classifier.dataset,
        "noun": classifier.noun,
        "class_names": list(classifier.class_names),
        "member_names": list(served.member_names),
        "image_shape": list(classifier.shape),
        "refuse": served.refuse,
        "sets": sets
        and {
            "miss": sets.threshold.error_rate,
            "method": sets.threshold.method,
            "calibrated_on": sets.split,
            "n": sets.threshold.n,
        },
    }
