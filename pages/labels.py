"""Labels: those that are in doubt one by one, to be kept, mended or taken out."""

import streamlit as st

from ensemble import runs
from ensemble.runs.training_predictions import has_training_predictions
from ensemble.ui.inspect.shared_epoch import SharedEpoch
from ensemble.ui.labels import label_queue, mended_versions, queue_panel
from ensemble.ui.labels.label_queue import LabelQueue
from ensemble.ui.predictions import epoch_selection
from ensemble.ui.shared import address, loaders, navigation, run_panel
from ensemble.wording.formats import pluralize_noun


def show_labels_page() -> None:
    run_panel.show_run_screen(show_labels_run, show_labels_example)


def show_labels_example() -> None:
    """The first visit: the same of a run that was recorded."""
    # Here, for a page with a run of one's own does without.
    from ensemble.ui.train.example import recorded_banner, recorded_epoch

    recorded_banner.show_recorded_banner("Which labels are wrong?")
    show_labels_epoch(recorded_epoch.load_recorded_shared_epoch())


def show_labels_run(run: runs.Run) -> None:
    """The queue of the epoch that is asked for, or why there is none yet."""
    chosen = epoch_selection.select_predictions_epoch(run, "The labels in doubt stand")
    if not chosen:
        return
    version = loaders.get_file_version(run.path / "predictions" / f"epoch-{chosen.epoch:04d}.npz")
    dataset = loaders.load_run_test_set(run)
    shared_epoch = SharedEpoch(
        run, chosen.epoch, chosen.epochs, chosen.predictions, dataset, version
    )
    show_labels_epoch(shared_epoch)
    mended_versions.show_mended_versions(run)
    epoch_selection.show_epoch_choice(run, chosen)
    epoch_selection.watch_newer_epochs(run, chosen)


def show_labels_epoch(shared_epoch: SharedEpoch) -> None:
    """The queue of one epoch."""
    with st.container(key="labels"):
        queue = select_label_queue(shared_epoch)
        queue_panel.show_label_queue(queue, shared_epoch)


def select_label_queue(shared_epoch: SharedEpoch) -> LabelQueue:
    """That of the test images; of a run with folds also that of its training images."""
    if not has_training_predictions(shared_epoch.run):
        return label_queue.build_test_queue(shared_epoch)
    things = pluralize_noun(shared_epoch.noun)
    split = address.select_address_option(
        address.SPLIT,
        "Whose labels",
        {"test": f"Test {things}", "training": f"Training {things}"},
        "test",
        label_visibility="collapsed",
    )
    if split == "training":
        return label_queue.build_training_queue(shared_epoch)
    return label_queue.build_test_queue(shared_epoch)


navigation.draw_page("labels", show_labels_page)
