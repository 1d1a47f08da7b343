"""The recorded run as Predictions, Inspect and Why open one: an epoch of it, with its images."""

from ensemble.ui.inspect.shared_epoch import SharedEpoch
from ensemble.ui.predictions import predictions_view
from ensemble.ui.predictions.epoch_selection import EpochSelection
from ensemble.ui.train.example import recording


def select_recorded_epoch() -> EpochSelection:
    epochs = recording.list_recorded_epochs()
    wanted = predictions_view.read_predictions_view().epoch
    epoch = wanted if wanted in epochs and wanted is not None else epochs[-1]
    return EpochSelection(epoch, epochs, recording.load_recorded_predictions(epoch))


def load_recorded_shared_epoch() -> SharedEpoch:
    recorded_epoch, run = select_recorded_epoch(), recording.load_recorded_run()
    version = (0, recorded_epoch.epoch)
    return SharedEpoch(
        run=run,
        epoch=recorded_epoch.epoch,
        epochs=recorded_epoch.epochs,
        predictions=recorded_epoch.predictions,
        dataset=recording.load_recorded_test_set(),
        version=version,
    )
