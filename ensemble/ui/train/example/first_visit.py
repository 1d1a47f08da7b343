"""The first screen: what a run looks like, on one that was recorded, until there is one."""

import streamlit as st

from ensemble.ui.predictions.image_grid import show_image_grid
from ensemble.ui.shared import run_metrics
from ensemble.ui.train import history
from ensemble.ui.train.example import recording
from ensemble.ui.train.learning_curves import show_learning_curves
from ensemble.wording import escaping, run_names
from ensemble.wording import images as images_words

_SMOOTHING = 0.6


def show_recorded_example() -> None:
    kept, rows = recording.load_recorded_run(), recording.load_recorded_history()
    recorded_predictions, images = (
        recording.load_recorded_predictions(kept.config.epochs),
        recording.load_recorded_test_set(),
    )
    info, numbers = kept.data, recording.find_recorded_disputed_images()
    called = run_names.format_ensemble_settings(recording.load_recorded_config())
    with st.container(border=True, key="example"):
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.badge("Recorded example", icon=":material/history:", color="orange")
            st.caption(f"{called}: not one of your runs, which will replace it.", width="content")
        if last := history.find_latest_epoch_row(rows):
            with st.container(horizontal=True, gap="medium"):
                run_metrics.show_test_accuracy_metric(last, info)
                run_metrics.show_mean_gain_metric(last, info)
        show_learning_curves(
            "example",
            rows,
            caption=f"Recorded example · {called}",
            epochs=kept.config.epochs,
            members=kept.config.members,
            n_test=info.test_size,
            log=True,
            smoothing=_SMOOTHING,
        )
        st.caption(images_words.describe_disagreement_warning(recorded_predictions, info.noun))
        show_image_grid(
            images.tiles[numbers],
            recorded_predictions,
            numbers=numbers,
            names=info.class_names,
            noun=info.noun,
            on_open=_show_recorded_image_toast,
            key="example_grid",
        )


def _show_recorded_image_toast(number: int) -> None:
    """One of the digits was pressed: what was said of it, in a sentence."""
    kept = recording.load_recorded_run()
    recorded_predictions = recording.load_recorded_predictions(kept.config.epochs)
    st.toast(
        escaping.escape_markdown(
            images_words.describe_image_prediction(recorded_predictions, number, kept.data.class_names)
        )
    )
