"""Curves: each group's mean bold with its band, its runs thin."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import streamlit as st

from ensemble import runs
from ensemble.comparison.group_curves import GroupCurves, compute_group_curves
from ensemble.comparison.history_columns import load_history_columns
from ensemble.comparison.run_groups import RunGroup
from ensemble.errors import EnsembleError
from ensemble.figures.comparison import curves as pictures
from ensemble.figures.comparison.curves import (
    CURVE_OWNERS,
    METRIC_TITLES,
    VERDICT_METRICS,
    describe_group_curves_chart,
    explain_group_curves_chart,
)
from ensemble.ui.compare import comparison_cache, controls
from ensemble.ui.compare.controls import ControlPlaces
from ensemble.ui.shared import address, figure_panel, guard, theme
from ensemble.wording import escaping, formats
from ensemble.wording.verdicts.settings_verdict import describe_settings_verdict, list_settings_evidence

_CURVE_SUBJECTS = {"ensemble": "Ensemble", "mean member": "Mean member", "members": "Members"}
SPLITS = {"train": "Train", "validation": "Validation", "test": "Test"}
_X_AXIS_UNITS = {"epochs": "Epochs", "steps": "Steps", "seconds": "Seconds", "img_member": "img·member"}
BANDS = {"range": "Range", "interval": "Interval"}
LOG_AXES = {"x": "log x", "y": "log y"}


def _show_band_controls() -> None:
    address.select_address_option(
        address.BAND,
        "Band",
        BANDS,
        "range",
        help="Of a group's runs: from the lowest to the highest, or the 95 % interval of their mean (Student's t).",
    )
    controls.select_option_pills(address.LOG, "Axes", LOG_AXES, ())


def show_comparison_curves(groups: Sequence[RunGroup], places: ControlPlaces) -> None:
    with places.first:
        what = address.select_address_option(address.FIGURE, "Figure", METRIC_TITLES, "loss")
    with places.more:
        who = address.select_address_option(address.WHO, "Of", _CURVE_SUBJECTS, "ensemble")
        splits = controls.select_option_pills(address.SPLITS, "Images", SPLITS, ("test",))
        over = address.select_address_option(address.OVER, "Over", _X_AXIS_UNITS, "epochs")
        _show_band_controls()
    band = address.BAND.read_option(BANDS, "range")
    log = tuple(axis for axis in LOG_AXES if axis in address.LOG.read())
    groups = _filter_readable_groups(groups)
    every = [run for group in groups for run in group.runs]
    if not every:
        return
    runs_fingerprint = comparison_cache.compute_runs_fingerprint(every)
    keys = tuple(group.key for group in groups)
    request = (keys, what, who, over, band)
    split_curves = [
        (
            split,
            comparison_cache.compute_shared_comparison(
                "curves",
                runs_fingerprint,
                (*request, split),
                partial(compute_group_curves, groups, x=over, figure=what, split=split, who=who, band=band),
            ),
        )
        for split in splits
    ]
    if not any(curves.lines for _, each in split_curves for curves in each):
        _show_no_curves(every, splits, over)
        return
    palette = theme.get_page_palette()
    table = comparison_cache.compute_comparison_table(groups)
    if verdict := table.verdicts.get(VERDICT_METRICS[what]):
        answer = describe_settings_verdict(verdict, so_far=any(run.active for run in every))
        st.markdown(f"#### {escaping.escape_markdown(answer)}")
        evidence = [*list_settings_evidence(verdict, every[0].data.noun), table.note]
        st.caption(escaping.escape_markdown(" ".join(evidence)))
    title = f"{METRIC_TITLES[what]} of {CURVE_OWNERS[who]} · {formats.format_count(len(every), 'run')}"
    figure = comparison_cache.compute_shared_comparison(
        "curves figure",
        runs_fingerprint,
        (*request, splits, log, palette),
        lambda: pictures.plot_group_curves(split_curves, what=what, x=over, title=title, palette=palette, log=log),
    )
    figure_panel.show_figure_panel(
        figure,
        key="compare_curves",
        name=f"compared-{what}",
        title=title,
        alt=describe_group_curves_chart(split_curves, what, who, over),
        table=lambda: pictures.tabulate_group_curves(split_curves, what, over),
        sees=explain_group_curves_chart(split_curves, band, who),
    )
    _show_missing_curves(split_curves)


def _filter_readable_groups(groups: Sequence[RunGroup]) -> list[RunGroup]:
    readable_groups = []
    for group in groups:
        left = []
        for run in group.runs:
            try:
                load_history_columns(run, "epoch")
                left.append(run)
            except EnsembleError as error:
                guard.show_error_message(error)
        if left:
            readable_groups.append(replace(group, runs=tuple(left)))
    return readable_groups


def _show_missing_curves(split_curves: Sequence[tuple[str, Sequence[GroupCurves]]]) -> None:
    sentences, without = [], dict[int, list[str]]()
    for split, each in split_curves:
        missing = sum(len(curves.missing) for curves in each)
        if missing and any(curves.lines for curves in each):
            without.setdefault(missing, []).append(split)
    for missing, splits in without.items():
        have = "has" if missing == 1 else "have"
        on = " or ".join(splits)
        sentences.append(f"{formats.format_count(missing, 'run')} {have} no such figure on {on} images.")
    if any(len(curves.n) and curves.n.min() < curves.runs for _, each in split_curves for curves in each):
        sentences.append(
            "Where not all runs of a group have come so far, the mean is of those that have, and may jump."
        )
    if sentences:
        st.caption(escaping.escape_markdown(" ".join(dict.fromkeys(sentences))))


def _show_no_curves(every: Sequence[runs.Run], splits: Sequence[str], over: str) -> None:
    """There is no such curve: why, and what to do."""
    if splits == ("validation",):
        sentence = "None of these runs holds training images out: choose test, or train with a validation share."
    elif over != "epochs" and all(run.training_config is None for run in every):
        sentence = "These runs were trained elsewhere: choose epochs."
    elif any(run.active for run in every):
        sentence = "The first epoch has not ended yet: the curves appear here by themselves."
    else:
        sentence = "None of these runs has such figures: choose other images, or another curve."
    st.info(sentence, icon=":material/show_chart:")
