"""Predictions: what the members and their average say of each test image."""

import streamlit as st

from ensemble import data, runs
from ensemble.analysis.predictions import Predictions
from ensemble.errors import NotPreparedError, RunError
from ensemble.ui import (
    answer,
    digits_address,
    digits_controls,
    digits_detail,
    digits_gallery,
    digits_loader,
    digits_waiting,
    digits_words,
    entry,
    loaders,
    run_panel,
)


def main() -> None:
    entry.through_app()
    choice = run_panel.choose()
    if choice.problem:
        run_panel.show_problem(choice)
    elif choice.run:
        run_panel.header(choice.run)
        of_run(choice.run)
    else:
        digits_waiting.no_runs()


def of_run(run: runs.Run) -> None:
    """The run's predictions, or why there are none yet."""
    digits_waiting.new_run(run)
    if not (epochs := runs.prediction_epochs(run.id)):
        digits_waiting.no_epoch(run)
        return
    wanted = digits_address.read().epoch
    epoch = digits_waiting.epoch_to_show(run, epochs, wanted)
    if wanted not in (None, epoch):
        digits_waiting.missing_epoch(wanted, epoch)
    try:
        made = digits_loader.predictions(run, epoch)
    except NotPreparedError as error:
        digits_waiting.not_prepared(run, error)
    except RunError as error:
        st.error(str(error), icon=":material/error:")
        digits_controls.epoch(epochs, epoch)
    else:
        of_epoch(run, epochs, epoch, made)


def of_epoch(run: runs.Run, epochs: list[int], epoch: int, made: Predictions) -> None:
    """The answer, what to show of it, the images, and the one that is open."""
    dataset = loaders.dataset(run.config.dataset)
    noun = answer.noun(data.info(run.config.dataset))
    view = digits_controls.fitting(digits_address.read(), made, len(dataset.class_names))
    st.markdown(f"#### {digits_words.answer(made, noun)}")
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        digits_controls.epoch(epochs, epoch)
        digits_controls.filters(made, view, dataset.class_names, noun)
    if digits_address.read().epoch is None:
        digits_waiting.watch(run, epochs[-1], epoch)
    numbers = digits_gallery.show(run, epoch, made, dataset, view, noun)
    if view.digit is not None:
        source = f"{run.id} · epoch {epoch}"
        digits_detail.show(digits_detail.Shown(made, dataset, numbers, noun, source))


main()
