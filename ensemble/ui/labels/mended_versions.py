"""Versions with mended labels: the same settings trained on one, and what that has changed."""

from dataclasses import replace

import streamlit as st

from ensemble import runs
from ensemble.access import Action
from ensemble.comparison import mended_labels
from ensemble.comparison.mended_labels import MendedComparison, is_mended_version
from ensemble.comparison.run_measures import select_compared_epoch
from ensemble.datasets.decisions import relabeling
from ensemble.datasets.own import custom_registry
from ensemble.datasets.own.custom_registry import CustomDatasetNote
from ensemble.errors import EnsembleError
from ensemble.runs.epoch_files import locate_epoch_file
from ensemble.runs.start_weights import identify_start_weights
from ensemble.storage.folder_index import file_version
from ensemble.ui.jobs import job_panel
from ensemble.ui.shared import address, guard, loaders
from ensemble.wording import escaping, formats
from ensemble.wording import label_decisions as words
from ensemble.wording.provenance import build_rerun_command
from ensemble.wording.run_names import format_run_name

POLL_INTERVAL_S = 2.0
_MAX_VERSIONS = 3  # that are offered, the newest


def show_mended_versions(run: runs.Run) -> None:
    """The versions made of the run's dataset, and what training on each has changed.

    Of a run on such a version, what it is better by than the one on the version of before.
    """
    config = run.training_config
    if config is None:
        return
    every = loaders.list_cached_runs()
    note = custom_registry.read_custom_note(config.dataset)
    if note and note.relabeled_from:
        for other in every:
            if _have_equal_settings(run, other) and is_mended_version(run, other):
                _show_mended_gain(run, other)
                break
    versions = relabeling.list_relabeled_versions(config.dataset, run.data.fingerprint)
    for name, version in list(versions.items())[:_MAX_VERSIONS]:
        _show_mended_version(run, name, version, every)


def _have_equal_settings(run: runs.Run, other: runs.Run) -> bool:
    config, other_config = run.training_config, other.training_config
    if config is None or other_config is None:
        return False
    return vars(config) | {"dataset": ""} == vars(other_config) | {"dataset": ""}


def _show_mended_version(run: runs.Run, name: str, version: CustomDatasetNote, every: list[runs.Run]) -> None:
    """One version: how it came about, and its run of the same settings, if there is one."""
    with st.container(border=True, key=f"labels_version_{name}"):
        relabeled, removed = sum(version.relabeled), sum(version.removed)
        st.markdown(
            f"**{escaping.escape_markdown(name)}** · "
            f"{formats.format_count(relabeled, 'label')} mended, "
            f"{formats.format_count(removed, 'image')} removed"
        )
        trained = [
            other
            for other in every
            if _have_equal_settings(run, other)
            and other.config.dataset == name
            and other.data.fingerprint == version.fingerprint
        ]
        judged = [other for other in trained if runs.list_prediction_epochs(other.id)]
        finished = [other for other in judged if not other.active]
        if finished:
            _show_mended_gain(finished[0], run)
        elif trained and trained[0].active:
            _show_run_under_way(trained[0].id)
        elif not version.training_changed:
            st.caption(words.TEST_LABELS_ALONE_CHANGED)
        else:
            _show_retrain_button(run, name)


def _show_mended_gain(run: runs.Run, other: runs.Run) -> None:
    try:
        comparison = _compare_cached_runs(run, other)
    except EnsembleError as error:
        guard.show_error_message(error)
        return
    st.markdown(f"##### {escaping.escape_markdown(words.describe_mended_gain(comparison))}")
    basis = words.describe_mended_basis(comparison, format_run_name(run), format_run_name(other), run.data.noun)
    st.caption(escaping.escape_markdown(basis))
    if caution := words.describe_test_label_caution(comparison, run.data.noun):
        st.caption(escaping.escape_markdown(caution))


def _compare_cached_runs(run: runs.Run, other: runs.Run) -> MendedComparison:
    """As `mended_labels.compare_mended_runs`, computed once for the files of both.

    Raises:
      EnsembleError: one of the two cannot be judged.
    """
    versions = tuple(
        file_version(str(locate_epoch_file(each.path, "predictions", select_compared_epoch(each)[0])))
        for each in (run, other)
    )
    return _compare_mended_runs(run.id, other.id, versions, run, other)


@st.cache_resource(max_entries=64, show_spinner="Comparing on the mended labels …")
def _compare_mended_runs(
    run_id: str, other_id: str, versions: tuple[object, ...], _run: runs.Run, _other: runs.Run
) -> MendedComparison:
    return mended_labels.compare_mended_runs(_run, _other)


@st.fragment(run_every=POLL_INTERVAL_S)
def _show_run_under_way(run_id: str) -> None:
    """That the same settings are being trained on it, and the way there, until it has ended."""
    with guard.guard_page():
        run = loaders.find_watched_run(run_id)
        if not run.active:
            loaders.forget_runs()
            st.rerun()
        st.page_link(
            "pages/train.py",
            label=f"{escaping.escape_markdown(format_run_name(run))} is {run.state}: watch it train",
            icon=":material/model_training:",
            query_params=address.RUN.build_query(run.id),
        )


def _show_retrain_button(run: runs.Run, name: str) -> None:
    if not build_rerun_command(run):
        st.caption("Its members were chosen from other runs: train these on it first.")
        return
    if identify_start_weights(run.path):
        st.caption("Its members began with given weights: train on it with these by `--from`.")
        return
    shown = escaping.escape_markdown(name)
    job_panel.show_job_button(
        f"Train the same settings on {shown}",
        f"labels_retrain_{name}",
        lambda: _launch_mended_run(run, name),
        Action.LAUNCH,
        icon=":material/model_training:",
        help="Then both runs are judged on the same test images by the mended labels.",
    )


def _launch_mended_run(run: runs.Run, name: str) -> None:
    """Launch a run's settings on a version, unless such a run is active."""
    config = replace(runs.require_training_config(run), dataset=name)
    if config not in [run.training_config for run in runs.list_runs() if run.active]:
        runs.launch_run(config)
    loaders.forget_runs()
