"""The recorded run as Predictions, Inspect and Why open one: an epoch of it, with its images."""

from ensemble.ui.inspect.shared_epoch import SharedEpoch
from ensemble.ui.predictions import address
from ensemble.ui.predictions.epoch_panel import Chosen
from ensemble.ui.train.example import recording


def chosen() -> Chosen:
    """The epoch that the address names, else the last."""
    epochs = recording.epochs()
    wanted = address.read().epoch
    epoch = wanted if wanted in epochs and wanted is not None else epochs[-1]
    return Chosen(epoch, epochs, recording.predictions(epoch))


def inspected() -> SharedEpoch:
    """The same with its images, as Inspect looks at a run."""
    found, run = chosen(), recording.run()
    version = (0, found.epoch)
    return SharedEpoch(run, found.epoch, found.epochs, found.made, recording.test_set(), version)
