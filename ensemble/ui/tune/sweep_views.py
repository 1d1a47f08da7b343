"""The views of a sweep: how it goes, its trials, each setting alone, what matters, trade-offs."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from ensemble import sweeps
from ensemble.comparison.compared_settings import humanize_setting_name
from ensemble.figures.comparison import importances, slices
from ensemble.figures.comparison import pareto_front as front_figure
from ensemble.figures.comparison.trial_columns import OBJECTIVE_TITLES
from ensemble.figures.comparison.trial_columns import list_trial_columns as columns_of
from ensemble.sweeps import OBJECTIVES, Sweep, Trial
from ensemble.ui.shared import address, figure_panel, theme
from ensemble.ui.tune import charts, loader, trial_coordinates
from ensemble.wording import formats
from ensemble.wording.run_names import format_run_name

if TYPE_CHECKING:
    import plotly.graph_objects as go

_VIEW_LABELS = {
    "progress": "Progress",
    "trials": "Trials",
    "slices": "One by one",
    "weights": "What matters",
    "front": "Trade-off",
}
DEFAULT_VIEW = "progress"
_FIGURES_PER_ROW = 2
_IMPORTANCE_HELP = (
    "The share of the trials' variance that a setting explains, alone and with others: fANOVA, by "
    "a forest of trees. It says what made a difference within the ranges searched, not which way."
)


def show_sweep_views(sweep: Sweep, trials: Sequence[Trial]) -> None:
    several = len(sweep.config.objective_names) > 1
    views = {name: title for name, title in _VIEW_LABELS.items() if name != "front" or several}
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium", key="tune_views"):
        address.select_address_option(address.VIEW, "View", views, DEFAULT_VIEW)
        view = address.VIEW.read_option(views, DEFAULT_VIEW)
        goal = sweep.config.objective_names[0]
        if several and view in ("progress", "slices", "weights"):
            goal = _select_objective(sweep)
    draw = {
        "progress": _show_search_progress,
        "trials": _show_trials_list,
        "slices": _show_setting_slices,
        "weights": _show_setting_importances,
        "front": _show_pareto_front,
    }[view]
    with st.container(key="tune_pictures"):
        draw(sweep, trials, goal)


def _select_objective(sweep: Sweep) -> str:
    goals = {goal: OBJECTIVE_TITLES[goal] for goal in sweep.config.objective_names}
    return address.select_address_option(address.MEASURE, "Objective", goals, sweep.config.objective_names[0])


def _show_search_progress(sweep: Sweep, trials: Sequence[Trial], goal: str) -> None:
    """Each trial's value with the best so far; beside it the epochs."""
    has_epochs = any(trial.epochs for trial in trials)
    left, right = st.columns(2, gap="large") if has_epochs else (st.container(), None)
    with left:
        charts.show_trial_history(sweep, trials, goal)
    if right:
        with right:
            charts.show_trial_epochs(sweep, trials)


def _show_trials_list(sweep: Sweep, trials: Sequence[Trial], goal: str) -> None:
    trial_coordinates.show_trials_view(sweep, trials)


def _show_setting_slices(sweep: Sweep, trials: Sequence[Trial], goal: str) -> None:
    complete = [trial for trial in trials if trial.state == "complete"]
    if not complete:
        st.caption("Appears after the first trial.")
        return
    row: list[DeltaGenerator] = []
    for at, name in enumerate(sweep.config.search_axes):
        if not at % _FIGURES_PER_ROW:  # A row at a time: on a phone they then stay in their order.
            row = st.columns(_FIGURES_PER_ROW, gap="large")
        with row[at % _FIGURES_PER_ROW]:
            _show_setting_slice(sweep, complete, goal, name)


def _show_setting_slice(sweep: Sweep, complete: Sequence[Trial], goal: str, name: str) -> None:
    columns_by_name = {column.name: column for column in columns_of(sweep.config, complete)}
    column, values, palette = columns_by_name[name], columns_by_name[goal], theme.get_page_palette()
    best = sweeps.find_best_trial(sweep, list(complete)) if goal == sweep.config.objective_names[0] else None
    numbers = [trial.number + 1 for trial in complete]
    title = f"{values.label} by {column.label_in_sentence} · {format_run_name(sweep)}"

    def plot_slice() -> "go.Figure":
        place = complete.index(best) if best else None
        return slices.plot_setting_slice(column, values, numbers=numbers, best=place, title=title, palette=palette)

    which = ": the diamond is the best trial." if best else "."
    figure_panel.show_figure_panel(
        loader.compute_once("slice", (sweep.id, goal, name, loader.build_trials_key(complete), palette), plot_slice),
        key=f"tune_slice_{name}",
        job=sweep,
        name=f"{sweep.id}-{goal}-by-{name}",
        title=title,
        alt=f"{values.label} of {formats.format_count(len(complete), 'trial')} by {column.label}",
        table=lambda: _tabulate_trials(sweep, complete),
        sees=f"By {column.label_in_sentence}{which}",
    )


def _show_setting_importances(sweep: Sweep, trials: Sequence[Trial], goal: str) -> None:
    complete = [trial for trial in trials if trial.state == "complete"]
    if len(sweep.config.search_axes) < 2:
        name = humanize_setting_name(next(iter(sweep.config.search_axes)))
        st.info(f"Trials differ in one setting, {name}: search two or more to see which matters.")
        return
    if len(complete) < importances.MIN_TRIALS:
        are = "is" if len(complete) == 1 else "are"
        st.info(
            f"Appears from {importances.MIN_TRIALS} complete trials on; there {are} "
            f"{len(complete)}. With fewer it would be a guess."
        )
        return
    if sweep.active:  # A forest takes a moment to grow: not anew for each trial of many.
        complete = complete[: len(complete) - len(complete) % (len(complete) // 10)]
    with st.spinner("Weighing the settings…"):
        shares = loader.load_setting_importances(sweep, complete, goal)
        noise = None if sweep.active else loader.load_noise_shares(sweep, complete, goal)
    if not shares:
        st.info("All trials have the same result: no setting made a difference.")
        return
    title = f"What {OBJECTIVE_TITLES[goal]} depends on · {format_run_name(sweep)}"
    figure_panel.show_figure_panel(
        importances.plot_setting_importances(shares, title, theme.get_page_palette()),
        key="tune_weights",
        job=sweep,
        name=f"{sweep.id}-{goal}-importances",
        title=title,
        help=_IMPORTANCE_HELP,
        alt="Importances: "
        + ", ".join(
            f"{humanize_setting_name(name)} {formats.format_percent(share, places=0)}" for name, share in shares.items()
        ),
        table=lambda: pd.DataFrame({"setting": list(shares), "share": list(shares.values())}),
        sees=describe_importances(shares, noise, trials),
    )


def describe_importances(
    shares: Mapping[str, float], noise: importances.NoiseShares | None, trials: Sequence[Trial]
) -> str:
    first = next(iter(shares))
    name, share = humanize_setting_name(first), formats.format_percent(shares[first], places=0)
    count = sum(trial.state == "complete" for trial in trials)
    of_trials = f"of what {formats.format_count(count, 'trial')} differ in"
    if noise is None:
        sentence = f"**{name.capitalize()}** explains {share} {of_trials}."
    else:
        low, high = (formats.format_percent(end, places=0) for end in (noise.low, noise.high))
        by_noise = f"noise alone would give the first of {len(shares)} settings {low} to {high}"
        sentence = (
            f"**{name.capitalize()}** explains {share} {of_trials}; {by_noise}."
            if noise.is_exceeded
            else f"No setting is shown to matter: {name} explains {share} {of_trials}, and {by_noise}."
        )
    pruned = sum(trial.state == "pruned" for trial in trials)
    if not pruned:
        return sentence
    are = "is" if pruned == 1 else "are"
    return f"{sentence} {formats.format_count(pruned, 'pruned trial')} {are} left out."


def _show_pareto_front(sweep: Sweep, trials: Sequence[Trial], goal: str) -> None:
    complete = [trial for trial in trials if trial.state == "complete"]
    if not complete:
        st.caption("Appears after the first trial.")
        return
    columns_by_name = {column.name: column for column in columns_of(sweep.config, complete)}
    y, x = (columns_by_name[name] for name in sweep.config.objective_names[:2])
    front = sweeps.find_pareto_trials(sweep, complete)
    title = f"{y.label} by {x.label_in_sentence} · {format_run_name(sweep)}"
    names = [f"trial {trial.number + 1}" for trial in complete]
    better = " and ".join(
        f"{'less' if OBJECTIVES[name].minimize else 'more'} {columns_by_name[name].label_in_sentence}"
        for name in sweep.config.objective_names[:2]
    )
    figure_panel.show_figure_panel(
        front_figure.plot_pareto_front(
            x,
            y,
            on_front=[trial in front for trial in complete],
            names=names,
            title=title,
            palette=theme.get_page_palette(),
        ),
        key="tune_front",
        job=sweep,
        name=f"{sweep.id}-front",
        title=title,
        alt=f"{title}: {len(front)} of {len(complete)} trials on the front",
        table=lambda: _tabulate_trials(sweep, complete),
        sees=f"**{formats.format_count(len(front), 'trial')}** of {len(complete):,} "
        f"{'is' if len(front) == 1 else 'are'} beaten by no other in every objective at once. Better is {better}.",
    )


def _tabulate_trials(sweep: Sweep, trials: Sequence[Trial]) -> pd.DataFrame:
    """A row a trial: its settings and what it came to."""
    return pd.DataFrame(
        {
            "trial": [trial.number + 1 for trial in trials],
            **{column.name: list(column.values) for column in columns_of(sweep.config, trials)},
            "run": [trial.run_id for trial in trials],
        }
    )
