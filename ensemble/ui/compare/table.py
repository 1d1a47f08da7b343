"""Table: a column a group or a run, and what each is better by than the baseline."""

from collections.abc import Sequence

import streamlit as st

from ensemble import runs
from ensemble.comparison import table as compared
from ensemble.comparison.groups import Group, grouped
from ensemble.comparison.settings import differing, settings_of
from ensemble.runs.annotations.baseline import read_baselines
from ensemble.ui.compare import controls, loader
from ensemble.ui.render import render_view
from ensemble.ui.shared import address
from ensemble.views.side_by_side import compare_side_by_side
from ensemble.wording.run_names import made, told_apart

WHICH = {"differ": "Those that differ", "all": "All"}
EACH = {"groups": "Groups", "runs": "Runs"}
NONE = "none"


def show(groups: Sequence[Group], every: Sequence[runs.Run]) -> None:
    """The controls, what the table shows, and the table."""
    with st.container(
        horizontal=True, vertical_alignment="bottom", gap="medium", key="compare_controls_table"
    ):
        each = address.choose(address.COLUMNS, "A column for each of the", EACH, "groups")
        if each == "runs":
            groups = one_by_one(every)
        differ = address.choose(address.ROWS, "Settings", WHICH, "differ") == "differ"
        baseline = choose_baseline(groups)
    seen = loader.stamp(every)
    keys = tuple(group.key for group in groups)
    found = loader.once("table", seen, (keys, baseline), lambda: compared.table(groups, baseline))
    render_view(compare_side_by_side(found, only_differing=differ))


def one_by_one(every: Sequence[runs.Run]) -> list[Group]:
    """Each run as a group of its own, by its name, else by what tells it apart from the others."""
    names = differing(settings_of(run) for run in every)
    found = []
    for group in grouped(every, names or ("seed",)):
        for run in group.runs:
            alone = group.title if len(group.runs) == 1 else f"{group.title} · {made(run.id)}"
            title = alone if run.name == run.id else told_apart(run)
            found.append(Group(title, run.id, (run,)))
    return found


def choose_baseline(groups: Sequence[Group]) -> str | None:
    """The id of a run of the group that the others are held against; None for none.

    As long as nobody chooses, the one that is pinned on Runs, else the first.
    """
    wanted = address.BASELINE.read()
    first = {group.runs[0].id: group for group in groups}
    own = next(
        (name for name, group in first.items() if wanted in [run.id for run in group.runs]), None
    )
    pinned = set(read_baselines().values())
    default = next(
        (name for name, group in first.items() if pinned & {run.id for run in group.runs}),
        next(iter(first)),
    )
    value = NONE if wanted == NONE else own or default
    options = {**{name: group.title for name, group in first.items()}, NONE: "No baseline"}
    key = f"compare_baseline_{controls.stamp([*options, *options.values()])}"
    address.bound(
        key,
        value,
        lambda key: st.selectbox(
            "Baseline",
            list(options),
            format_func=options.__getitem__,
            key=key,
            width=320,
            on_change=controls.follow_one,
            args=(address.BASELINE, key, default),
            help="What the others are held against, on the same test images.",
        ),
    )
    if wanted not in (None, NONE) and own is None:
        st.caption("The baseline of the address is none of these.", width="content")
    return None if value == NONE else value
