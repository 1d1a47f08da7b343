"""Which runs the table shows: filters by words, state, data, network and tags; sweeps folded."""

import re
from collections.abc import Collection, Mapping, Sequence

import streamlit as st

from ensemble import architectures, runs
from ensemble.ui.runs.table import load_run_row
from ensemble.ui.shared import address, widget_state
from ensemble.wording import formats
from ensemble.wording.run_names import format_run_name

_MAX_UNFILTERED_RUNS = 6  # with as few runs there are no filters
SWEEP_ID_PATTERN = re.compile(r"sweep-\d{4}-\d{6}(-\d+)?")  # a sweep's id, which is a tag of its trials
_SHOW_TRIALS_KEY = "runs_trials"


def filter_listed_runs(every: Sequence[runs.Run], ticked: Collection[str]) -> list[runs.Run]:
    matches, is_filtered = list(every), False
    if len(every) > _MAX_UNFILTERED_RUNS:
        matches, is_filtered = _select_filtered_runs(every)
    trials = {run.id: sweep for run in matches if (sweep := _find_run_sweep(run))}
    # Where there is nothing else they are not in the way of anything.
    if not trials or is_filtered or len(trials) == len(matches) or _select_trials_shown(trials):
        return matches
    return [run for run in matches if run.id not in trials or run.id in ticked]


def _select_filtered_runs(every: Sequence[runs.Run]) -> tuple[list[runs.Run], bool]:
    titles = {run.config.dataset: run.entry.title if run.entry else "Tables" for run in every if run.settings}
    if any(not run.settings for run in every):
        titles["imported"] = "Imported"
    states = {run.state for run in every}
    learners = {run.settings.network for run in every if run.settings}
    tags = sorted({tag for run in every for tag in run.tags})
    with st.container(horizontal=True, vertical_alignment="bottom"):
        text = widget_state.draw_widget(
            st.text_input,
            "Find",
            key="runs_text",
            width=220,
            icon=":material/search:",
            placeholder="Name, setting, note",
            persist_state="session",
        )
        more = st.popover("Filter", icon=":material/filter_list:", key="runs_filters")
    with more:
        state = _select_filter_values(
            "State", {state_name: state_name for state_name in runs.STATES if state_name in states}, "Every state"
        )
        data = _select_filter_values("Data", titles, "All data", key="datasets")
        network = (
            _select_filter_values(
                "Network", {learner: architectures.format_network_title(learner) for learner in sorted(learners)}, "All"
            )
            if len(learners) > 1
            else []
        )
        tag = (
            _select_filter_values("Tags", {tag_name: tag_name for tag_name in tags}, "With or without", 230)
            if tags
            else []
        )
    return find_matching_runs(every, text, states=state, datasets=data, learners=network, tags=tag), bool(
        text.strip() or tag
    )


def _select_filter_values(
    label: str, options: Mapping[str, str], nothing: str, width: int = 170, key: str = ""
) -> list[str]:
    """A filter of which several can be chosen; those that are."""
    key = f"runs_{key or label.lower()}"
    # What a person chose may be gone with the last run that was like it.
    widget_state.sync_widget_value(
        key, [option for option in widget_state.get_widget_value(key, []) if option in options]
    )
    return widget_state.draw_widget(
        st.multiselect,
        label,
        list(options),
        format_func=options.__getitem__,
        key=key,
        width=width,
        placeholder=nothing,
        persist_state="session",
    )


def _select_trials_shown(trials: Mapping[str, str]) -> bool:
    sweeps = formats.format_count(len(set(trials.values())), "sweep")
    value = address.TRIALS.read() == "shown"
    widget_state.sync_widget_value(_SHOW_TRIALS_KEY, value)
    return widget_state.draw_widget(
        st.toggle,
        f"Show {formats.format_count(len(trials), 'trial')} of {sweeps}",
        key=_SHOW_TRIALS_KEY,
        on_change=_update_trials_address,
        help="Trials are runs that a sweep made. A word or a tag that you look for finds them folded, too.",
    )


def _update_trials_address() -> None:
    """Callback: the address follows the switch."""
    address.TRIALS.set_value("shown" if widget_state.get_widget_value(_SHOW_TRIALS_KEY) else None)


def _find_run_sweep(run: runs.Run) -> str:
    """The id of the sweep whose trial this is; "" of a run that a person launched."""
    return next((tag for tag in run.tags if SWEEP_ID_PATTERN.fullmatch(tag)), "")


def find_matching_runs(
    every: Sequence[runs.Run],
    text: str = "",
    states: Collection[str] = (),
    datasets: Collection[str] = (),
    learners: Collection[str] = (),
    tags: Collection[str] = (),
) -> list[runs.Run]:
    """The runs that hold every word of `text` in name, id, settings, tags or note, of these kinds.

    Args:
      text: words, in any case; "" for all.
      states: only these states; none of them for all.
      datasets: only these datasets; none of them for all.
      learners: only these networks; none of them for all.
      tags: only those with all of these tags.
    """
    words, wanted = text.casefold().split(), set(tags)
    return [
        run
        for run in every
        if (not states or run.state in states)
        and (not datasets or run.config.dataset in datasets)
        and (not learners or (run.settings and run.settings.network in learners))
        and wanted <= set(run.tags)
        and (not words or _has_all_words(run, words))
    ]


def _has_all_words(run: runs.Run, words: Sequence[str]) -> bool:
    text = f"{format_run_name(run)} {run.state} {load_run_row(run)['words']}".casefold()
    return all(word in text for word in words)
