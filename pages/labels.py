"""Labels: those that are in doubt one by one, to be kept, mended or taken out."""

import streamlit as st

from ensemble import runs
from ensemble.runs.training_predictions import has_training_predictions
from ensemble.ui.inspect.shared_epoch import SharedEpoch
from ensemble.ui.labels import label_queue, mended_versions, pool_panel, queue_panel
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
    split = select_shown_split(run)
    if split == "pool":
        with st.container(key="labels"):
            pool_panel.show_pool_screen(run)
        return
    chosen = epoch_selection.select_predictions_epoch(run, "The labels in doubt stand")
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
    show_labels_epoch(shared_epoch, split)
    mended_versions.show_mended_versions(run)
    epoch_selection.show_epoch_choice(run, chosen)
    epoch_selection.watch_newer_epochs(run, chosen)


def show_labels_epoch(shared: SharedEpoch, split: str = "test") -> None:
    """The queue of one epoch: of its test images, or its training images."""
    with st.container(key="labels"):
        if split == "training":
            queue = label_queue.build_training_queue(shared)
        else:
            queue = label_queue.build_test_queue(shared)
        queue_panel.show_label_queue(queue, shared)


def select_shown_split(run: runs.Run) -> str:
    """Whose labels: of the test images; of a run with folds also of its training images.

    Where the run was trained here also "pool", images that have no label yet.
    """
    if run.training_config is None:
        return "test"
    things = pluralize_noun(run.data.noun)
    options = {"test": f"Test {things}"}
    if has_training_predictions(run):
        options["training"] = f"Training {things}"
    options["pool"] = f"New {things} without labels"
    return address.select_address_option(address.SPLIT, "Whose labels", options, "test", label_visibility="collapsed")


navigation.draw_page("labels", show_labels_page)
