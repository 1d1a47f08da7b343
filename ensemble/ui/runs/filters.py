"""Which runs the table shows: filters by words, state, data, network and tags; sweeps folded."""

import re
from collections.abc import Collection, Mapping, Sequence

import streamlit as st

from ensemble import architectures, runs
from ensemble.ui.runs.table import row
from ensemble.ui.shared import address, widget
from ensemble.wording import formats
from ensemble.wording.run_names import called

MANY = 6  # with as few runs there are no filters
SWEEP = re.compile(r"sweep-\d{4}-\d{6}(-\d+)?")  # a sweep's id, which is a tag of its trials
FOLD = "runs_trials"


def filtered(every: Sequence[runs.Run], ticked: Collection[str]) -> list[runs.Run]:
    """The runs that the filters leave.

    Args:
      every: all runs.
      ticked: the ids of those that are ticked: of these no trial is folded away.
    """
    found, asked = list(every), False
    if len(every) > MANY:
        found, asked = asked_for(every)
    trials = {run.id: sweep for run in found if (sweep := sweep_of(run))}
    # Where there is nothing else they are not in the way of anything.
    if not trials or asked or len(trials) == len(found) or unfolded(trials):
        return found
    return [run for run in found if run.id not in trials or run.id in ticked]


def asked_for(every: Sequence[runs.Run]) -> tuple[list[runs.Run], bool]:
    """The runs that a person asks for by words and kinds, and whether by a word or a tag."""
    titles = {run.config.dataset: run.data.title for run in every if run.trained}
    if any(not run.trained for run in every):
        titles["imported"] = "Imported"
    states = {run.state for run in every}
    learners = {run.trained.network for run in every if run.trained}
    tags = sorted({tag for run in every for tag in run.tags})
    with st.container(horizontal=True, vertical_alignment="bottom"):
        text = st.text_input(
            "Find",
            key="runs_text",
            width=220,
            icon=":material/search:",
            placeholder="Name, setting, note",
            persist_state="session",
        )
        state = several("State", {one: one for one in runs.STATES if one in states}, "Every state")
        data = several("Data", titles, "All data", key="datasets")
        network = (
            several("Network", {one: architectures.title(one) for one in sorted(learners)}, "All")
            if len(learners) > 1
            else []
        )
        tag = several("Tags", {one: one for one in tags}, "With or without", 230) if tags else []
    return matching(every, text, state, data, network, tag), bool(text.strip() or tag)


def several(
    label: str, options: Mapping[str, str], nothing: str, width: int = 170, key: str = ""
) -> list[str]:
    """A filter of which several can be chosen; those that are.

    Args:
      label: what stands over it.
      options: what can be chosen, and how that reads.
      nothing: what none of them means.
      width: in pixels.
      key: the end of its key, where that is not its label.
    """
    key = f"runs_{key or label.lower()}"
    # What a person chose may be gone with the last run that was like it.
    widget.follow(key, [one for one in widget.value(key, []) if one in options])
    return st.multiselect(
        label,
        list(options),
        format_func=options.__getitem__,
        key=key,
        width=width,
        placeholder=nothing,
        persist_state="session",
    )


def unfolded(trials: Mapping[str, str]) -> bool:
    """Whether the trials of sweeps are to stand in the table, by a switch that says how many."""
    sweeps = formats.count(len(set(trials.values())), "sweep")
    value = address.TRIALS.read() == "shown"
    widget.follow(FOLD, value)
    return st.toggle(
        f"Show {formats.count(len(trials), 'trial')} of {sweeps}",
        key=FOLD,
        on_change=unfold,
        help="Trials are runs that a sweep made. A word or a tag that you look for finds them "
        "folded, too.",
    )


def unfold() -> None:
    """Callback: the address follows the switch."""
    address.TRIALS.put("shown" if widget.value(FOLD) else None)


def sweep_of(run: runs.Run) -> str:
    """The id of the sweep whose trial this is; "" of a run that a person launched."""
    return next((tag for tag in run.tags if SWEEP.fullmatch(tag)), "")


def matching(
    every: Sequence[runs.Run],
    text: str = "",
    states: Collection[str] = (),
    datasets: Collection[str] = (),
    learners: Collection[str] = (),
    tags: Collection[str] = (),
) -> list[runs.Run]:
    """The runs that hold every word of `text` in name, id, settings, tags or note, of these kinds.

    Args:
      every: runs to look through.
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
        and (not learners or (run.trained and run.trained.network in learners))
        and wanted <= set(run.tags)
        and (not words or holds(run, words))
    ]


def holds(run: runs.Run, words: Sequence[str]) -> bool:
    """Whether all of these words are said of the run."""
    said = f"{called(run)} {run.state} {row(run)['words']}".casefold()
    return all(word in said for word in words)
