"""The line that says which runs are compared, and how to compare others."""

from collections import Counter
from collections.abc import Mapping, Sequence

import streamlit as st

from ensemble import runs
from ensemble.comparison.groups import grouped
from ensemble.ui.compare import which
from ensemble.ui.compare.which import MOST, Chosen
from ensemble.ui.frame import one_file
from ensemble.ui.predictions.controls import stamp
from ensemble.ui.shared import address, loaders, widget
from ensemble.wording import escaping, formats
from ensemble.wording.run_names import told_apart

FIRST = 10  # of the newest runs, offered where nothing is chosen


def header(found: Chosen) -> None:
    """How many runs there are, of what, and the way to choose others."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="compared"):
        title = formats.count(len(found.runs), "run")
        shared = f" · {found.shared}" if found.shared else ""
        st.subheader(escaping.markdown(title + shared), anchor=False, width="content")
        said = ", ".join(dict.fromkeys(run.data.title for run in found.runs))
        st.caption(escaping.markdown(said), width="content")
        st.space("stretch")
        one_file.button(as_compared(found.runs), "compare_one_file")
        with st.popover("Choose runs", icon=":material/checklist:", key="compare_choose"):
            choices(found)
    problems(found)


def as_compared(every: Sequence[runs.Run]) -> list[runs.Run]:
    """The runs as Table has them, its baseline first: the file's is the run that is named first."""
    wanted = address.BASELINE.read()
    listed = [run for group in grouped(every) for run in group.runs]
    return sorted(listed, key=lambda run: run.id != wanted)


def choices(found: Chosen) -> None:
    """Boxes for runs by name, by a tag, by a sweep."""
    every = loaders.all_runs()
    names = {run.id: told_apart(run) for run in (*every, *found.runs)}
    ids = [run.id for run in found.runs]
    address.bound(
        f"compare_runs_{stamp(names.values())}",
        ids,
        lambda key: st.multiselect(
            "Runs",
            list(names),
            format_func=names.__getitem__,
            key=key,
            max_selections=MOST,
            default=widget.held(key),
            placeholder="Name, rate, dataset",
            on_change=picked,
            args=(key,),
            select_all=False,
            help=f"Up to {MOST} runs.",
        ),
    )
    shared(every)


def shared(every: Sequence[runs.Run]) -> None:
    """Boxes for all runs of a tag or a sweep; none where there are neither."""
    counts = Counter(tag for run in every for tag in run.tags)
    sweeps = {tag for tag in counts if is_sweep(tag)}
    for word, label, tags in (
        (address.TAG, "All with the tag", sorted(set(counts) - sweeps)),
        (address.SWEEP, "All of the sweep", sorted(sweeps, reverse=True)),
    ):
        if tags:
            box(word, label, {tag: f"{tag} · {formats.count(counts[tag], 'run')}" for tag in tags})


def is_sweep(tag: str) -> bool:
    """Whether a tag is the id of a sweep: all of a sweep's trials have it."""
    return tag.startswith("sweep-")


def box(word: address.Text, label: str, options: Mapping[str, str]) -> None:
    """A box for one of the tags."""
    value = word.read()
    chosen = value if value in options else None
    address.bound(
        f"compare_{word.name}_{stamp(options.values())}",
        chosen,
        lambda key: st.selectbox(
            label,
            list(options),
            index=None,
            format_func=options.__getitem__,
            key=key,
            placeholder="Choose one",
            on_change=picked_shared,
            args=(word, key),
        ),
    )


def picked(key: str) -> None:
    """Callback: these runs, one by one."""
    which.choose(widget.value(key))


def picked_shared(word: address.Text, key: str) -> None:
    """Callback: all runs that share something."""
    if value := widget.value(key):
        which.choose_shared(word, value)


def problems(found: Chosen) -> None:
    """What the address asked for and cannot have, in a sentence."""
    if found.missing:
        named = ", ".join(f"“{one[:40]}”" for one in found.missing[:3])
        more = f" and {len(found.missing) - 3} more" if len(found.missing) > 3 else ""
        runs_ = "This run is" if len(found.missing) == 1 else "These runs are"
        st.warning(
            escaping.markdown(f"{runs_} not there, and left out: {named}{more}."),
            icon=":material/link_off:",
        )
    if found.left_out:
        are = "is" if found.left_out == 1 else "are"
        st.caption(f"{MOST} runs are compared at a time: {found.left_out:,} more {are} left out.")


def nothing_chosen() -> None:
    """No runs are chosen: what will be here, and the next step."""
    every = loaders.all_runs()
    st.subheader("Compare runs", anchor=False)
    st.markdown(
        "Learning curves, figures with their intervals, settings against results: of up to "
        f"{MOST} runs, beside each other."
    )
    if asked := address.TAG.read() or address.SWEEP.read():
        has = "has the tag" if address.TAG.read() else "is of the sweep"
        st.warning(
            escaping.markdown(f"No run {has} “{asked[:40]}”: choose others."),
            icon=":material/link_off:",
        )
    if not every:
        st.page_link(
            "pages/train.py", label="Train a first ensemble", icon=":material/arrow_forward:"
        )
        return
    newest = [run.id for run in every[:FIRST]]
    count = "the only run" if len(newest) == 1 else f"the newest {len(newest)} runs"
    st.button(
        f"Compare {count}",
        type="primary",
        key="compare_newest",
        on_click=which.choose,
        args=(newest,),
    )
    with st.container(width=480):
        choices(Chosen(()))
