"""What an ensemble has learnt from, where that limits what it can read, and who reads better."""

import streamlit as st

from ensemble import runs
from ensemble.ui.shared import address, loaders
from ensemble.wording import escaping
from ensemble.wording.run_names import format_run_name
from ensemble.wording.verdicts import chance_level

BETTER_DATASET = "mnist"


def show_training_source(run: runs.Run) -> None:
    """Of the embedded digits: that they are few and small, and the best run on MNIST, if any."""
    if run.config.dataset != "digits":
        return
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.caption(
            f"Learnt from {run.data.train_size:,} small, blurred digits by few people: expect "
            "mistakes on yours, also where it is sure.",
            width="content",
        )
        if better := find_better_reader(loaders.list_cached_runs()):
            st.page_link(
                "pages/classify.py",
                label=f"Ask {escaping.escape_markdown(format_run_name(better))}, which reads "
                "better",
                icon=":material/arrow_forward:",
                width="content",
                query_params=address.RUN.build_query(better.id),
            )


def find_better_reader(every: list[runs.Run]) -> runs.Run | None:
    """The finished run on MNIST with the highest validation or test accuracy; None of none."""
    readers = [
        run
        for run in every
        if run.training_config is not None
        and run.config.dataset == BETTER_DATASET
        and run.state in chance_level.ENDED_STATES
        and run.status.ensemble_test_accuracy is not None
        and not chance_level.is_chance_accuracy(run.status.ensemble_test_accuracy, run.data)
    ]
    return max(readers, key=lambda run: run.status.ensemble_test_accuracy or 0.0, default=None)
