"""The line that says which runs are compared, and how to compare others."""

from collections import Counter
from collections.abc import Mapping, Sequence

import streamlit as st

from ensemble import runs
from ensemble.comparison.run_groups import group_runs
from ensemble.config import REGRESSION
from ensemble.runs.annotations.tags import is_sweep_tag
from ensemble.ui.compare import selected_runs
from ensemble.ui.compare.selected_runs import MAX_RUNS, SelectedRuns
from ensemble.ui.frame import report_download
from ensemble.ui.predictions.controls import hash_options
from ensemble.ui.shared import address, loaders, run_panel, widget_state
from ensemble.wording import escaping, formats
from ensemble.wording.run_names import format_run_data, format_unique_run_name

_NEWEST_RUN_COUNT = 10  # of the newest runs, offered where nothing is chosen


def show_comparison_header(selection: SelectedRuns) -> None:
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="compared"):
        title = formats.format_count(len(selection.runs), "run")
        shared = f" · {selection.common_trait}" if selection.common_trait else ""
        st.subheader(escaping.escape_markdown(title + shared), anchor=False, width="content")
        data = ", ".join(dict.fromkeys(format_run_data(run) for run in selection.runs))
        st.caption(escaping.escape_markdown(data), width="content")
        st.space("stretch")
        report_download.show_report_download(sort_baseline_first(selection.runs), "compare_one_file")
        with st.popover("Choose runs", icon=":material/checklist:", key="compare_choose"):
            _show_run_choices(selection, "compare_other")
    show_comparison_problems(selection)


def sort_baseline_first(every: Sequence[runs.Run]) -> list[runs.Run]:
    """The runs as Table has them, its baseline first: the file's is the run that is named first."""
    wanted = address.BASELINE.read()
    listed = [run for group in group_runs(every) for run in group.runs]
    return sorted(listed, key=lambda run: run.id != wanted)


def _show_run_choices(selection: SelectedRuns, prefix: str) -> None:
    """Show boxes that choose runs by name, by tag and by sweep.

    Args:
      prefix: of the widgets' keys. It differs between the first page and the popover: under one
        key, the browser sends the empty choice of the first page back for the popover's box.
    """
    every = loaders.list_cached_runs(None)
    names = {run.id: format_unique_run_name(run) for run in (*every, *selection.runs)}
    ids = [run.id for run in selection.runs]
    address.show_address_widget(
        f"{prefix}_runs_{hash_options(names.values())}",
        ids,
        lambda key: widget_state.draw_widget(
            st.multiselect,
            "Runs",
            list(names),
            format_func=names.__getitem__,
            key=key,
            max_selections=MAX_RUNS,
            placeholder="Name, rate, dataset",
            on_change=_compare_picked_runs,
            args=(key,),
            select_all=False,
            help=f"Up to {MAX_RUNS} runs.",
        ),
    )
    _show_shared_choices(every, prefix)


def _show_shared_choices(every: Sequence[runs.Run], prefix: str) -> None:
    """Boxes for all runs of a tag or a sweep; none where there are neither."""
    counts = Counter(tag for run in every for tag in run.tags)
    sweeps = {tag for tag in counts if is_sweep_tag(tag)}
    for word, label, tags in (
        (address.TAG, "All with the tag", sorted(set(counts) - sweeps)),
        (address.SWEEP, "All of the sweep", sorted(sweeps, reverse=True)),
    ):
        if tags:
            _show_tag_choice(
                word, prefix, label, {tag: f"{tag} · {formats.format_count(counts[tag], 'run')}" for tag in tags}
            )


def _show_tag_choice(word: address.TextParameter, prefix: str, label: str, options: Mapping[str, str]) -> None:
    value = word.read()
    chosen = value if value in options else None
    address.show_address_widget(
        f"{prefix}_{word.name}_{hash_options(options.values())}",
        chosen,
        lambda key: widget_state.draw_widget(
            st.selectbox,
            label,
            list(options),
            index=None,
            format_func=options.__getitem__,
            key=key,
            placeholder="Choose one",
            on_change=_compare_tagged_runs,
            args=(word, key),
        ),
    )


def _compare_picked_runs(key: str) -> None:
    """Callback: these runs, one by one."""
    selected_runs.update_runs_address(widget_state.get_widget_value(key))


def _compare_tagged_runs(word: address.TextParameter, key: str) -> None:
    """Callback: all runs that share something."""
    if value := widget_state.get_widget_value(key):
        selected_runs.update_shared_address(word, value)


def show_comparison_problems(selection: SelectedRuns) -> None:
    regressions = selected_runs.read_selected_runs(REGRESSION).runs
    if selection.runs and regressions and selection.runs != regressions:
        _show_mixture_notice(regressions)
    elif not selection.runs:
        for run in regressions:
            run_panel.show_other_task_notice(run)
    numeric_ids = {run.id for run in regressions}
    missing = [run_id for run_id in selection.missing if run_id not in numeric_ids]
    if missing:
        named = ", ".join(f"“{run_id[:40]}”" for run_id in missing[:3])
        more = f" and {len(missing) - 3} more" if len(missing) > 3 else ""
        runs_ = "This run is" if len(missing) == 1 else "These runs are"
        st.warning(
            escaping.escape_markdown(f"{runs_} not found, and left out: {named}{more}."), icon=":material/link_off:"
        )
    if selection.omitted_count:
        are = "is" if selection.omitted_count == 1 else "are"
        st.caption(f"{MAX_RUNS} runs are compared at a time: {selection.omitted_count:,} more {are} left out.")


def _show_mixture_notice(regressions: Sequence[runs.Run]) -> None:
    """Warn that runs of both tasks were chosen, and link to the ones that are not compared here."""
    count = formats.format_count(len(regressions), "run")
    predicts = "predicts" if len(regressions) == 1 else "predict"
    st.warning(
        f"{count} of these {predicts} numbers and {'is' if len(regressions) == 1 else 'are'} left out: classifications "
        "and regressions have no figures in common.",
        icon=":material/123:",
    )
    if len(regressions) == 1:
        run_panel.show_run_link(regressions[0])
    else:
        st.button(
            f"Compare the {len(regressions)} regressions",
            key="compare_regressions",
            icon=":material/compare_arrows:",
            on_click=selected_runs.update_runs_address,
            args=([run.id for run in regressions],),
        )


def show_comparison_introduction() -> None:
    """No runs are chosen: what will be here, and the next step."""
    every = loaders.list_cached_runs()
    st.subheader("Compare runs", anchor=False)
    st.markdown(
        "Learning curves, figures with their intervals, settings against results: of up to "
        f"{MAX_RUNS} runs, beside each other."
    )
    if trait := address.TAG.read() or address.SWEEP.read():
        has = "has the tag" if address.TAG.read() else "is of the sweep"
        st.warning(escaping.escape_markdown(f"No run {has} “{trait[:40]}”: choose others."), icon=":material/link_off:")
    if not every:
        st.page_link("pages/train.py", label="Train a first ensemble", icon=":material/arrow_forward:")
        return
    newest = [run.id for run in every[:_NEWEST_RUN_COUNT]]
    if len(newest) == 1:
        st.caption("There is one run so far. Train a second one to compare them.")
        st.page_link("pages/train.py", label="Train another", icon=":material/arrow_forward:")
        return
    st.button(
        f"Compare the newest {len(newest)} runs",
        type="primary",
        key="compare_newest",
        on_click=selected_runs.update_runs_address,
        args=(newest,),
    )
    with st.container(width=480):
        _show_run_choices(SelectedRuns(()), "compare_first")
