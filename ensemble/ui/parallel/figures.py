"""The pictures of a regression on its screen, each with what to see in it."""

import streamlit as st

from ensemble import regression
from ensemble.figures.regression_charts import list_started_solves
from ensemble.regression import RegressionTraces
from ensemble.ui.parallel import answer, settings
from ensemble.ui.shared import figure_panel, theme
from ensemble.views.parts import Figure
from ensemble.views.regression import (
    SCALING_TITLE,
    build_error_figure,
    build_scaling_figure,
    build_step_time_figure,
    describe_missing_scaling,
)


def show_regression_figures(solve: regression.Regression, traces: RegressionTraces) -> None:
    """Error and step time by iteration; below them the speed-up by devices, and all figures."""
    if not list_started_solves(traces):
        return
    titles = settings.summarize_regression_settings(solve.config)
    left, right = st.columns(2, gap="large")
    with left:
        _show_regression_figure(solve, build_error_figure(solve, traces, titles))
    with right:
        _show_regression_figure(solve, build_step_time_figure(solve, traces, titles))
    left, right = st.columns(2, gap="large")
    with left:
        if len(traces.scaling) < 2:
            st.markdown(f"**{SCALING_TITLE}**")
            st.caption(describe_missing_scaling(solve, traces))
        else:
            _show_regression_figure(solve, build_scaling_figure(solve, traces, titles))
    with right:
        st.markdown("Every solve in figures; last come the shorter ones on the left.")
        answer.show_solve_table(traces)


def _show_regression_figure(solve: regression.Regression, figure: Figure) -> None:
    figure_panel.show_figure_panel(
        figure.draw(theme.get_page_palette()),
        key=figure.key,
        job=solve,
        name=f"{solve.id}-{figure.file}",
        title=figure.title,
        alt=figure.alt,
        table=figure.table,
        sees=figure.explanation,
        help=figure.help,
    )
