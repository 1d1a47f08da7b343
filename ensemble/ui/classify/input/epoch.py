"""Which epoch of a run does the classifying: any whose members are kept."""

from collections.abc import Sequence

import streamlit as st

from ensemble import runs
from ensemble.ui.classify.input import members
from ensemble.ui.predictions import controls, waiting
from ensemble.ui.shared import address
from ensemble.wording import escaping
from ensemble.wording.marks import article
from ensemble.wording.run_names import called


def choose(run: runs.Run) -> tuple[int, Sequence[int]] | None:
    """The epoch that the address names, else the last, and all there are; None if none is."""
    waiting.new_run(run)
    epochs = members.epochs(run)
    if not epochs:
        nothing_kept(run)
        return None
    wanted = address.EPOCH.read()
    epoch = waiting.epoch_to_show(run, epochs, wanted)
    if wanted not in (None, epoch):
        st.caption(f"The members of epoch {wanted} are not kept; epoch {epoch} is asked.")
    return epoch, epochs


def nothing_kept(run: runs.Run) -> None:
    """A run whose members cannot be opened yet, or not any more."""
    if run.active or not runs.prediction_epochs(run.id):
        noun = run.data.noun
        waiting.no_epoch(run, f"You can give it {article(noun)} {noun}")
        return
    st.info(
        f"The members of {escaping.markdown(called(run))} are not kept: only what they said of the "
        "test images is. Choose another run above, or train one.",
        icon=":material/grid_off:",
    )
    if run.trained is None:
        st.page_link(
            "pages/predictions.py",
            label="See its predictions",
            icon=":material/arrow_forward:",
            query_params=address.RUN.link(run.id),
        )
    else:
        waiting.to_train(run)


def slider(epochs: Sequence[int], shown: int, run: runs.Run) -> None:
    """The epoch that is asked, where there is a choice."""
    if len(epochs) < 2:
        return
    address.bound(
        f"classify_epoch_{controls.stamp(epochs)}",
        shown,
        lambda key: st.select_slider(
            "Epoch",
            epochs,
            key=key,
            width=260,
            on_change=address.follow,
            args=(address.EPOCH, key, epochs[-1]),
            help="What would the ensemble have said earlier in its training? The last epoch is "
            f"asked until you choose another. {controls.best_epoch(run)}",
        ),
    )


def watch(run: runs.Run, epochs: Sequence[int], shown: int) -> None:
    """Says when a later epoch is in than the one asked, where none was chosen by hand."""
    if run.active and address.EPOCH.read() is None:
        waiting.watch(run, epochs[-1], shown)
