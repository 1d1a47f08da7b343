"""What was decided, as a file and as a new version of the dataset."""

import streamlit as st

from ensemble import datasets
from ensemble.access import Action
from ensemble.datasets.decisions import decision_table, relabeling
from ensemble.errors import EnsembleError
from ensemble.runs.test_set import load_run_dataset
from ensemble.ui.labels.label_queue import LabelQueue, QueueState
from ensemble.ui.shared.tab import tab
from ensemble.ui.sign_in import rights
from ensemble.views.evaluated_epoch import EvaluatedEpoch
from ensemble.wording import escaping
from ensemble.wording import label_decisions as words


def show_decisions(queue: LabelQueue, state: QueueState, epoch: EvaluatedEpoch) -> None:
    if not state.every:
        return
    st.divider()
    counts = words.describe_decision_counts(state.every)
    st.caption(f"Decided so far: {counts}. That is kept in a file of its own: images and labels stay as they are.")
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        _show_version_button(epoch)
        st.download_button(
            "Download the decisions (CSV)",
            lambda: decision_table.format_decisions_csv({queue.split: queue.list_decisions()}, queue.class_names),
            f"{queue.run_id}-label-decisions.csv",
            "text/csv",
            icon=":material/download:",
            on_click="ignore",
            key="labels_csv",
        )


def _show_version_button(epoch: EvaluatedEpoch) -> None:
    if epoch.run.training_config is None:
        st.caption(
            "This run was trained elsewhere and its dataset is not here: mend the labels there.", width="content"
        )
        return
    try:
        dataset = load_run_dataset(epoch.run)
        changes = decision_table.collect_label_changes(decision_table.list_dataset_decisions(dataset))
    except EnsembleError as error:
        st.caption(escaping.escape_markdown(str(error)), width="content")
        return
    relabeled, removed = changes.count_relabeled(), changes.count_removed()
    if not (relabeled or removed):
        return
    if equal := relabeling.find_equal_version(dataset, changes):
        st.caption(f"{escaping.escape_markdown(equal)} has all of it.", width="content")
        return
    name = relabeling.suggest_version_name(dataset.name)
    if st.button(
        words.describe_new_version(relabeled, removed),
        key="labels_new_version",
        icon=":material/library_add:",
        **rights.build_control_arguments(
            Action.ADD_DATA, help=f"Adds it to your datasets as {name}. {dataset.name} and its runs stay as they are."
        ),
    ):
        _make_new_version(dataset, changes, name)


def _make_new_version(dataset: datasets.Dataset, changes: decision_table.LabelChanges, name: str) -> None:
    try:
        with st.spinner(f"Making {name} …"):
            relabeling.relabel_dataset(dataset, changes, name)
    except EnsembleError as error:
        tab.label_problem = str(error)
        st.rerun(scope="fragment")
    st.rerun()
