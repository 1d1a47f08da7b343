"""What the screen of predictions shows while there is nothing to show, and the next step."""

from collections.abc import Sequence

import streamlit as st

from ensemble import datasets, runs
from ensemble.errors import EnsembleError
from ensemble.ui.predictions import predictions_view
from ensemble.ui.shared import address as shared_address
from ensemble.ui.shared import loaders, navigation
from ensemble.ui.shared.guard import guard_page
from ensemble.ui.shared.tab import tab
from ensemble.ui.train import controls, live
from ensemble.wording import escaping, formats
from ensemble.wording.run_names import format_run_name

REFRESH_INTERVAL_S = 2.0


def show_no_runs_notice(title: str, promise: str) -> None:
    """The first visit: what will be here, and the button that makes it so."""
    st.subheader(title, anchor=False)
    st.markdown(promise)
    st.page_link("pages/train.py", label="Train a first ensemble", icon=":material/arrow_forward:")


def show_first_epoch_notice(run: runs.Run, awaited: str) -> None:
    """A run that has not finished an epoch yet, or ended before it had.

    Args:
      awaited: what will be here: "The test images stand".
    """
    every = REFRESH_INTERVAL_S if run.active else None
    st.fragment(_refresh_first_epoch_notice, run_every=every)(run.id, run.state, awaited)


def _refresh_first_epoch_notice(run_id: str, last_state: str, awaited: str) -> None:
    """The body of `show_first_epoch_notice`: shows the predictions as soon as there are some."""
    with guard_page():
        run = runs.find_run(run_id)
        if run.state != last_state or runs.list_prediction_epochs(run_id):
            loaders.forget_runs()
            st.rerun()
        if run.active:
            st.info(
                f"{escaping.escape_markdown(format_run_name(run))} is {run.state}. Its predictions "
                "appear here by themselves after the first epoch.",
                icon=":material/hourglass_top:",
            )
            live.show_placeholder(f"{awaited} here after the first epoch.")
        else:
            st.info(
                f"{escaping.escape_markdown(format_run_name(run))} is {run.state} and has no "
                "predictions: they are kept at the end of every epoch.",
                icon=":material/grid_off:",
            )
        show_train_link(run)


def show_train_link(run: runs.Run) -> None:
    st.page_link(
        "pages/train.py",
        label="See how it goes" if run.active else "See what happened",
        icon=":material/arrow_forward:",
        query_params=shared_address.RUN.build_query(run.id),
    )


def show_missing_images_notice(run: runs.Run, error: EnsembleError) -> None:
    info = run.data
    st.warning(
        f"{escaping.escape_markdown(info.title)} is not on this machine any more, so the images "
        "cannot be shown. The run and its predictions are kept.",
        icon=":material/image_not_supported:",
    )
    with st.container(width=420):
        if not info.own:
            controls.show_fetch_panel(datasets.find_dataset_info(run.config.dataset))
    with st.expander("Why, and how to do it without this page"):
        st.text(str(error))


def show_missing_epoch_notice(wanted: int, epoch: int) -> None:
    st.caption(f"There are no predictions of epoch {wanted}; these are epoch {epoch}'s.")


def select_shown_epoch(run: runs.Run, epochs: Sequence[int], wanted: int | None) -> int:
    """The epoch that the address names, else the usual one when the screen was opened.

    A run that goes on must not change the images under a person's eyes.
    """
    if wanted in epochs and wanted is not None:
        return wanted
    of_run, epoch = tab.held_epoch
    if navigation.is_page_opening() or of_run != run.id or epoch not in epochs:
        epoch = runs.select_default_epoch(run, epochs)
    tab.held_epoch = run.id, epoch
    return epoch


def show_newer_epoch_notice(run: runs.Run, epochs: Sequence[int], epoch: int) -> None:
    """Says when another epoch would be shown by now; what is shown stays until asked.

    Args:
      epoch: the epoch that is shown; one that was chosen by hand is left in peace.
    """
    if run.active or runs.select_default_epoch(run, epochs) != epoch:
        st.fragment(_refresh_newer_epoch_notice, run_every=REFRESH_INTERVAL_S if run.active else None)(run.id, epoch)


def _refresh_newer_epoch_notice(run_id: str, epoch: int) -> None:
    """The body of `show_newer_epoch_notice`."""
    with guard_page():
        run = runs.find_run(run_id)
        newest = runs.select_default_epoch(run, runs.list_prediction_epochs(run_id) or [epoch])
        left = formats.format_count(run.config.epochs - epoch, "epoch")
        label = f"Still {run.state}: {left} to come"
        if newest != epoch:
            label = f"Show epoch {newest}, which is in now"
        # Always a button, so that the images below do not move when it can be pressed.
        if st.button(
            label, icon=":material/refresh:", key="newer", on_click=_follow_default_epoch, disabled=newest == epoch
        ):
            st.rerun()


def _follow_default_epoch() -> None:
    """Callback: show the epoch that is usual by now."""
    del tab.held_epoch
    predictions_view.update_predictions_view(epoch=None, first=None)


def reset_view_for_run(run: runs.Run) -> None:
    """Another run than before: its usual epoch, from the top, nothing open."""
    if tab.predictions_run_id not in ("", run.id):
        predictions_view.update_predictions_view(epoch=None, first=None, digit=None)
        del tab.held_epoch
    tab.predictions_run_id = run.id
