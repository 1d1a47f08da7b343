"""The views of Compare: each is a module, imported when it is chosen."""

import streamlit as st

from ensemble import runs
from ensemble.comparison.groups import Group, grouped
from ensemble.comparison.settings import NAMES, differing, label, settings_of
from ensemble.ui.compare import controls, curves, selection, which
from ensemble.ui.compare.selection import Selection
from ensemble.ui.shared import address, loaders
from ensemble.ui.shared.guard import guarded

VIEWS = {"curves": "Curves", "table": "Table", "settings": "Settings", "plan": "Plan"}
USUAL = "curves"
SECONDS_BETWEEN = 5.0


def show(found: which.Chosen) -> None:
    """The view that the address names; looks again by itself while a run is active."""
    active = any(run.active for run in found.runs)
    st.fragment(body, run_every=SECONDS_BETWEEN if active else None)(active)


def body(was_active: bool) -> None:
    """The body of `show`."""
    with guarded():
        found = which.of_address()
        if not found.runs or any(run.active for run in found.runs) != was_active:
            loaders.forget_runs()
            st.rerun()
        which.remember()
        view = address.VIEW.among(VIEWS, USUAL)
        with st.container(
            horizontal=True, vertical_alignment="bottom", gap="medium", key="compare_controls"
        ):
            address.choose(address.VIEW, "View", VIEWS, USUAL)
            if view != "plan":
                by_control(found.runs)
                selection.top_control()
            if view == "curves":
                curves.band_controls()
        kept = selection.selected(found.runs, wanted=view == "settings")
        # There even when it is empty: else what follows would be drawn anew, and lose the keyboard.
        with st.container(key="compare_left_out"):
            if view != "plan":
                selection.line(kept)
        with st.container(key="compare_view"):
            draw(view, found.runs, kept)


def draw(view: str, every: tuple[runs.Run, ...], kept: Selection) -> None:
    """Draw one view."""
    left = kept.of(every)
    if not left and view in ("curves", "table"):
        st.info("No run is left: brush less, or show all.", icon=":material/filter_alt_off:")
        return
    if view == "curves":
        curves.show(groups_of(left))
    elif view == "table":
        from ensemble.ui.compare import table

        table.show(groups_of(left), left)
    elif view == "settings":
        from ensemble.ui.compare import settings

        settings.show(every, kept)
    else:
        from ensemble.ui.compare import plan

        plan.show(every)


def by_control(every: tuple[runs.Run, ...]) -> None:
    """Which settings part the runs into groups."""
    apart = differing(settings_of(run) for run in every)
    asked = [name for name in address.BY.read() if name in NAMES]
    options = {name: label(name).capitalize() for name in NAMES if name in (*apart, *asked)}
    if options:
        controls.several(
            address.BY,
            "One curve for runs alike in",
            options,
            (),
            width=240,
            placeholder="Everything but the seed",
            help="Runs that are equal in these settings are one group, whatever else differs: a "
            "curve with its band, a column. With none, runs that differ in the seed alone are.",
        )


def groups_of(every: list[runs.Run]) -> list[Group]:
    """The runs in groups as the address asks for it."""
    names = [name for name in address.BY.read() if name in NAMES]
    return grouped(every, names or None)
