"""Inspect: whether the ensemble is better than a member, how sure it is, and if it may be."""

import streamlit as st

from ensemble import runs
from ensemble.runs.store import read_regression_run
from ensemble.ui.inspect import answer as inspect_answer
from ensemble.ui.inspect import images
from ensemble.ui.inspect import views as inspect_views
from ensemble.ui.inspect.shared_epoch import SharedEpoch
from ensemble.ui.predictions import epoch_selection
from ensemble.ui.predictions.epoch_selection import EpochSelection
from ensemble.ui.shared import address, loaders, navigation, run_panel
from ensemble.ui.shared.tab import tab


def show_inspect_page() -> None:
    if numeric_run := read_regression_run(address.RUN.read() or ""):
        # What is inspected of numbers has a page of its own.
        st.switch_page("pages/numbers.py", query_params=address.RUN.build_query(numeric_run.id))
    run_panel.show_run_screen(show_inspect_run, show_inspect_example)


def show_inspect_example() -> None:
    """The first visit: the same of a run that was recorded."""
    # Here, for a page with a run of one's own does without.
    from ensemble.ui.train.example import recorded_banner, recorded_epoch, recording

    recorded_banner.show_recorded_banner("See what an ensemble knows, and what it does not")
    show_inspect_epoch(recorded_epoch.load_recorded_shared_epoch(), tab.inspected_run_id != recording.RECORDED_ID)


def show_inspect_run(run: runs.Run) -> None:
    """The answer, the views and the one that is chosen, or why there is none yet."""
    first = navigation.is_page_opening() or tab.inspected_run_id != run.id
    chosen = epoch_selection.select_predictions_epoch(run, "The answer stands")
    if not chosen:
        return
    version = loaders.get_file_version(run.path / "predictions" / f"epoch-{chosen.epoch:04d}.npz")
    dataset = loaders.load_run_test_set(run)
    shared_epoch = SharedEpoch(
        run=run,
        epoch=chosen.epoch,
        epochs=chosen.epochs,
        predictions=chosen.predictions,
        dataset=dataset,
        version=version,
    )
    show_inspect_epoch(shared_epoch, first, chosen)


def show_inspect_epoch(shared: SharedEpoch, first: bool, chosen: EpochSelection | None = None) -> None:
    """The answer, the views and the one that is chosen.

    Args:
      shared: the run's epoch.
      first: whether nothing of this run stands on the screen yet.
      chosen: the epoch of a run that may go on; None of one that was recorded.
    """
    with st.container(gap="xxsmall", key="inspect"):
        places = inspect_answer.show_inspect_answer(shared)
        if chosen:
            epoch_selection.watch_newer_epochs(shared.run, chosen)
        # With another epoch the picture comes first; at first these must not push it down.
        if first:
            inspect_answer.show_answer_metrics(shared, places)
        view = inspect_views.select_inspect_view(shared.run)
        images.reset_image_lists()
        with st.container(key="view"):
            inspect_views.show_inspect_view(view, shared)
    images.show_open_image(shared)
    if not first:
        inspect_answer.show_answer_metrics(shared, places)
    inspect_answer.complete_inspect_answer(shared, places)
    tab.inspected_run_id = shared.run.id


navigation.draw_page("inspect", show_inspect_page)
