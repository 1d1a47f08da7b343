"""The views of a sweep: how it goes, its trials, each setting alone, what matters, trade-offs."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from ensemble import sweeps
from ensemble.comparison.settings import label
from ensemble.figures.comparison import front as front_figure
from ensemble.figures.comparison import importances, slices
from ensemble.figures.comparison.trials import SHORT
from ensemble.figures.comparison.trials import columns as columns_of
from ensemble.sweeps import OBJECTIVES, Sweep, Trial
from ensemble.ui.shared import address, figure_panel, theme
from ensemble.ui.tune import charts, coordinates, loader
from ensemble.wording import formats
from ensemble.wording.run_names import called

if TYPE_CHECKING:
    import plotly.graph_objects as go

VIEWS = {
    "progress": "Progress",
    "trials": "Trials",
    "slices": "One by one",
    "weights": "What matters",
    "front": "Trade-off",
}
USUAL = "progress"
ACROSS = 2
WEIGHTS = (
    "The share of the trials' variance that a setting explains, alone and with others: fANOVA, by "
    "a forest of trees. It says what made a difference within the ranges searched, not which way."
)


def show(sweep: Sweep, trials: Sequence[Trial]) -> None:
    """The view that the address names."""
    several = len(sweep.config.goals) > 1
    views = {name: title for name, title in VIEWS.items() if name != "front" or several}
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium", key="tune_views"):
        address.choose(address.VIEW, "View", views, USUAL)
        view = address.VIEW.among(views, USUAL)
        goal = sweep.config.goals[0]
        if several and view in ("progress", "slices", "weights"):
            goal = by_goal(sweep)
    draw = {
        "progress": progress,
        "trials": listed,
        "slices": sliced,
        "weights": weighed,
        "front": traded,
    }[view]
    with st.container(key="tune_pictures"):
        draw(sweep, trials, goal)


def by_goal(sweep: Sweep) -> str:
    """Which of several objectives the view is of."""
    goals = {goal: SHORT[goal] for goal in sweep.config.goals}
    return address.choose(address.MEASURE, "Objective", goals, sweep.config.goals[0])


def progress(sweep: Sweep, trials: Sequence[Trial], goal: str) -> None:
    """Each trial's value with the best so far; beside it the epochs."""
    told = any(one.epochs for one in trials)
    left, right = st.columns(2, gap="large") if told else (st.container(), None)
    with left:
        charts.history(sweep, trials, goal)
    if right:
        with right:
            charts.epochs(sweep, trials)


def listed(sweep: Sweep, trials: Sequence[Trial], goal: str) -> None:
    """Parallel coordinates to brush, and the table."""
    coordinates.show(sweep, trials)


def sliced(sweep: Sweep, trials: Sequence[Trial], goal: str) -> None:
    """The objective against each setting."""
    complete = [one for one in trials if one.state == "complete"]
    if not complete:
        st.caption("Drawn from the end of the first trial on.")
        return
    row: list[DeltaGenerator] = []
    for at, name in enumerate(sweep.config.axes):
        if not at % ACROSS:  # A row at a time: on a phone they then stay in their order.
            row = st.columns(ACROSS, gap="large")
        with row[at % ACROSS]:
            by_setting(sweep, complete, goal, name)


def by_setting(sweep: Sweep, complete: Sequence[Trial], goal: str, name: str) -> None:
    """An objective against one setting, the best trial marked where it is judged by that."""
    found = {column.name: column for column in columns_of(sweep.config, complete)}
    column, values, palette = found[name], found[goal], theme.palette()
    best = sweeps.best(sweep, list(complete)) if goal == sweep.config.goals[0] else None
    numbers = [one.number + 1 for one in complete]
    title = f"{values.label} by {column.spoken} · {called(sweep)}"

    def draw() -> "go.Figure":
        place = complete.index(best) if best else None
        return slices.figure(column, values, numbers, place, title, palette)

    which = ": the diamond is the best trial." if best else "."
    figure_panel.show(
        loader.once("slice", (sweep.id, goal, name, loader.stamp(complete), palette), draw),
        key=f"tune_slice_{name}",
        of=sweep,
        name=f"{sweep.id}-{goal}-by-{name}",
        title=title,
        alt=f"{values.label} of {formats.count(len(complete), 'trial')} by {column.label}",
        table=lambda: table(sweep, complete),
        sees=f"By {column.spoken}{which}",
    )


def weighed(sweep: Sweep, trials: Sequence[Trial], goal: str) -> None:
    """How much each setting explains, or why that cannot be said."""
    complete = [one for one in trials if one.state == "complete"]
    if len(sweep.config.axes) < 2:
        name = label(next(iter(sweep.config.axes)))
        st.info(f"Trials differ in one setting, {name}: search two or more to see which matters.")
        return
    if len(complete) < importances.FEWEST:
        are = "is" if len(complete) == 1 else "are"
        st.info(
            f"Stands here from {importances.FEWEST} complete trials on; there {are} "
            f"{len(complete)}. Of fewer it would be a guess."
        )
        return
    if sweep.active:  # A forest takes a moment to grow: not anew for each trial of many.
        complete = complete[: len(complete) - len(complete) % (len(complete) // 10)]
    with st.spinner("Weighing the settings…"):
        shares = loader.weights(sweep, complete, goal)
    if not shares:
        st.info("All trials came to the same: no setting made a difference.")
        return
    first = next(iter(shares))
    title = f"What {SHORT[goal]} depends on · {called(sweep)}"
    figure_panel.show(
        importances.figure(shares, title, theme.palette()),
        key="tune_weights",
        of=sweep,
        name=f"{sweep.id}-{goal}-importances",
        title=title,
        help=WEIGHTS,
        alt="Importances: "
        + ", ".join(
            f"{label(name)} {formats.percent(share, places=0)}" for name, share in shares.items()
        ),
        table=lambda: pd.DataFrame({"setting": list(shares), "share": list(shares.values())}),
        sees=f"**{label(first).capitalize()}** explains {formats.percent(shares[first], places=0)} "
        f"of what {formats.count(len(complete), 'trial')} differ in.",
    )


def traded(sweep: Sweep, trials: Sequence[Trial], goal: str) -> None:
    """Two objectives against each other, with the Pareto front."""
    complete = [one for one in trials if one.state == "complete"]
    if not complete:
        st.caption("Drawn from the end of the first trial on.")
        return
    found = {column.name: column for column in columns_of(sweep.config, complete)}
    y, x = (found[name] for name in sweep.config.goals[:2])
    front = sweeps.pareto(sweep, complete)
    title = f"{y.label} by {x.spoken} · {called(sweep)}"
    names = [f"trial {one.number + 1}" for one in complete]
    better = " and ".join(
        f"{'less' if OBJECTIVES[name].minimize else 'more'} {found[name].spoken}"
        for name in sweep.config.goals[:2]
    )
    figure_panel.show(
        front_figure.figure(
            x, y, [one in front for one in complete], names, title, theme.palette()
        ),
        key="tune_front",
        of=sweep,
        name=f"{sweep.id}-front",
        title=title,
        alt=f"{title}: {len(front)} of {len(complete)} trials on the front",
        table=lambda: table(sweep, complete),
        sees=f"**{formats.count(len(front), 'trial')}** of {len(complete):,} "
        f"{'is' if len(front) == 1 else 'are'} beaten by no other in every objective at once. "
        f"Better is {better}.",
    )


def table(sweep: Sweep, trials: Sequence[Trial]) -> pd.DataFrame:
    """A row a trial: its settings and what it came to."""
    return pd.DataFrame(
        {
            "trial": [one.number + 1 for one in trials],
            **{column.name: list(column.values) for column in columns_of(sweep.config, trials)},
            "run": [one.run_id for one in trials],
        }
    )
