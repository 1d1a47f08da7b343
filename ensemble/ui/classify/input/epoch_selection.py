"""Which epoch of a run does the classifying: any whose members are kept."""

from collections.abc import Sequence

import streamlit as st

from ensemble import runs
from ensemble.ui.classify.input import classifier_loader
from ensemble.ui.predictions import controls, epoch_availability
from ensemble.ui.shared import address, widget_state
from ensemble.wording import escaping
from ensemble.wording.marks import select_article
from ensemble.wording.run_names import format_run_name


def select_classifier_epoch(run: runs.Run) -> tuple[int, Sequence[int]] | None:
    """The epoch that the address names, else the usual one, and all there are; None if none is."""
    epoch_availability.reset_view_for_run(run)
    epochs = classifier_loader.list_classifier_epochs(run)
    if not epochs:
        _show_missing_members_notice(run)
        return None
    wanted = address.EPOCH.read()
    epoch = epoch_availability.select_shown_epoch(run, epochs, wanted)
    if wanted not in (None, epoch):
        st.caption(f"The members of epoch {wanted} are not kept; epoch {epoch} answers.")
    return epoch, epochs


def _show_missing_members_notice(run: runs.Run) -> None:
    if run.active or not runs.list_prediction_epochs(run.id):
        noun = run.data.noun
        epoch_availability.show_first_epoch_notice(run, f"You can give it {select_article(noun)} {noun}")
        return
    st.info(
        f"The members of {escaping.escape_markdown(format_run_name(run))} were not kept, only "
        "their predictions of the test images. Choose another run above, or train one.",
        icon=":material/grid_off:",
    )
    if run.training_config is None:
        st.page_link(
            "pages/predictions.py",
            label="See its predictions",
            icon=":material/arrow_forward:",
            query_params=address.RUN.build_query(run.id),
        )
    else:
        epoch_availability.show_train_link(run)


def show_classifier_epoch_slider(epochs: Sequence[int], epoch: int, run: runs.Run) -> None:
    if len(epochs) < 2:
        return
    address.show_address_widget(
        f"classify_epoch_{controls.hash_options(epochs)}",
        epoch,
        lambda key: widget_state.draw_widget(
            st.select_slider,
            "Epoch",
            epochs,
            key=key,
            width=260,
            on_change=controls.update_epoch_address,
            args=(key, run.id, runs.select_default_epoch(run, epochs)),
            help="What would the ensemble have said earlier in its training? "
            f"{controls.describe_default_epoch(run, epochs)}",
        ),
    )


def watch_classifier_epochs(run: runs.Run, epochs: Sequence[int], epoch: int) -> None:
    if run.active and address.EPOCH.read() is None:
        epoch_availability.show_newer_epoch_notice(run, epochs, epoch)
