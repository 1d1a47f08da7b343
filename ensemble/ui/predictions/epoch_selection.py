"""Which epoch's predictions a screen shows: judged and ready, or why there are none yet."""

from dataclasses import dataclass

import streamlit as st

from ensemble import runs
from ensemble.analysis.predictions import EnsemblePredictions
from ensemble.errors import NotPreparedError, RunError
from ensemble.ui.predictions import controls, epoch_availability, loader, predictions_view, validation_source
from ensemble.ui.shared import guard
from ensemble.views.evaluated_epoch import describe_shown_epoch


@dataclass(frozen=True, eq=False)
class EpochSelection:
    """An epoch of a run: its number, all that there are, and what the members said."""

    epoch: int
    epochs: list[int]
    predictions: EnsemblePredictions


def select_predictions_epoch(run: runs.Run, awaited: str) -> EpochSelection | None:
    """The epoch that the address names, else the usual one; None where a sentence says why.

    Args:
      awaited: what will be here: "The test images stand".
    """
    epoch_availability.reset_view_for_run(run)
    if not (epochs := runs.list_prediction_epochs(run.id)):
        epoch_availability.show_first_epoch_notice(run, awaited)
        return None
    wanted = predictions_view.read_predictions_view().epoch
    epoch = epoch_availability.select_shown_epoch(run, epochs, wanted)
    if wanted not in (None, epoch):
        epoch_availability.show_missing_epoch_notice(wanted, epoch)
    try:
        test_predictions = loader.load_test_predictions(run, epoch)
        if run.config.validation and (lost := validation_source.describe_validation_problem(run, epoch)):
            guard.show_error_message(lost)
        return EpochSelection(epoch, epochs, test_predictions)
    except NotPreparedError as error:
        epoch_availability.show_missing_images_notice(run, error)
    except RunError as error:
        guard.show_error_message(error)
        controls.show_predictions_epoch_slider(epochs, epoch, run)
    return None


def show_epoch_choice(run: runs.Run, chosen: EpochSelection) -> None:
    if sentence := describe_shown_epoch(run, chosen.epoch, chosen.epochs):
        st.caption(sentence)


def watch_newer_epochs(run: runs.Run, chosen: EpochSelection) -> None:
    if predictions_view.read_predictions_view().epoch is None:
        epoch_availability.show_newer_epoch_notice(run, chosen.epochs, chosen.epoch)
