"""The recorded run as Predictions, Inspect and Why open one: an epoch of it, with its images."""

from ensemble.ui.inspect.shown import Inspected
from ensemble.ui.predictions import address
from ensemble.ui.predictions.epoch_panel import Chosen
from ensemble.ui.train.example import recording


def chosen() -> Chosen:
    """The epoch that the address names, else the last."""
    epochs = recording.epochs()
    wanted = address.read().epoch
    epoch = wanted if wanted in epochs and wanted is not None else epochs[-1]
    return Chosen(epoch, epochs, recording.predictions(epoch))


def inspected() -> Inspected:
    """The same with its images, as Inspect looks at a run."""
    found, run = chosen(), recording.run()
    return Inspected(run, found.epoch, found.epochs, found.made, recording.test_set(),
                     run.data.noun, (0, found.epoch))  # fmt: skip
