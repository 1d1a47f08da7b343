"""What an ensemble has learnt from, where that limits what it can read, and who has learnt more."""

from collections.abc import Sequence

import streamlit as st

from ensemble import runs
from ensemble.ui.shared import address, loaders
from ensemble.wording import escaping
from ensemble.wording.run_names import format_run_name
from ensemble.wording.verdicts import chance_level

_LARGE_DATASET = "mnist"


def show_training_source(run: runs.Run) -> None:
    """Of the embedded digits: that they are few and small, and the newest run on MNIST, if any."""
    if run.config.dataset != "digits":
        return
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.caption(
            f"Learnt from {run.data.train_size:,} small digits by few people: expect mistakes, also where it is sure.",
            width="content",
        )
        if other := find_newest_reader(loaders.list_cached_runs()):
            st.page_link(
                "pages/classify.py",
                label=f"Ask {escaping.escape_markdown(format_run_name(other))}, which learnt from "
                f"{other.data.train_size:,}",
                icon=":material/arrow_forward:",
                width="content",
                query_params=address.RUN.build_query(other.id),
            )


def find_newest_reader(every: Sequence[runs.Run]) -> runs.Run | None:
    """The newest finished run on MNIST that does not only guess, of runs newest first; or None."""
    return next(
        (
            run
            for run in every
            if run.training_config is not None
            and run.config.dataset == _LARGE_DATASET
            and run.state in chance_level.ENDED_STATES
            and not chance_level.is_run_at_chance(run)
        ),
        None,
    )
