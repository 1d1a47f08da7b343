"""Curves: each group's mean bold with its band, its runs thin."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import streamlit as st

from ensemble import runs
from ensemble.comparison.curves import Curves, curves
from ensemble.comparison.groups import Group
from ensemble.comparison.histories import lines
from ensemble.errors import EnsembleError
from ensemble.figures.comparison import curves as pictures
from ensemble.figures.comparison.curve_words import WHAT, WHOSE, alt, best, sees
from ensemble.ui.compare import controls, loader
from ensemble.ui.shared import address, figure_panel, guard, theme
from ensemble.wording import escaping, formats

WHO = {"ensemble": "Ensemble", "mean member": "Mean member", "members": "Members"}
SPLITS = {"train": "Train", "validation": "Validation", "test": "Test"}
OVER = {"epochs": "Epochs", "steps": "Steps", "seconds": "Seconds", "img_member": "img·member"}
BANDS = {"range": "Range", "interval": "Interval"}
LOGS = {"x": "log x", "y": "log y"}


def band_controls() -> None:
    """What the band is, and which axes are log: beside the controls of every view."""
    address.choose(
        address.BAND,
        "Band",
        BANDS,
        "range",
        help="Of a group's runs: from the least to the most, or the 95 % interval of "
        "their mean (Student's t).",
    )
    controls.pills(address.LOG, "Axes", LOGS, ())


def show(groups: Sequence[Group]) -> None:
    """The controls, and the picture that they ask for."""
    with st.container(
        horizontal=True, vertical_alignment="bottom", gap="medium", key="compare_controls_curves"
    ):
        what = address.choose(address.FIGURE, "Figure", WHAT, "loss")
        who = address.choose(address.WHO, "Of", WHO, "ensemble")
        splits = controls.pills(address.SPLITS, "Images", SPLITS, ("test",))
        over = address.choose(address.OVER, "Over", OVER, "epochs")
    band = address.BAND.among(BANDS, "range")
    log = tuple(one for one in LOGS if one in address.LOG.read())
    groups = readable(groups)
    every = [run for group in groups for run in group.runs]
    if not every:
        return
    seen = loader.stamp(every)
    keys = tuple(group.key for group in groups)
    asked = (keys, what, who, over, band)
    found = [
        (
            split,
            loader.once(
                "curves",
                seen,
                (*asked, split),
                partial(curves, groups, x=over, figure=what, split=split, who=who, band=band),
            ),
        )
        for split in splits
    ]
    if not any(one.lines for _, each in found for one in each):
        nothing(every, splits, over)
        return
    palette = theme.palette()
    going = any(run.active for run in every)
    said, below = best(found[-1][1], what, splits[-1], going)
    if said:
        st.markdown(f"##### {escaping.markdown(said)}")
    if below:
        st.caption(escaping.markdown(below))
    title = f"{WHAT[what]} of {WHOSE[who]} · {formats.count(len(every), 'run')}"
    figure = loader.once(
        "curves figure",
        seen,
        (*asked, splits, log, palette),
        lambda: pictures.figure(found, what=what, x=over, title=title, palette=palette, log=log),
    )
    figure_panel.show(
        figure,
        key="compare_curves",
        name=f"compared-{what}",
        title=title,
        alt=alt(found, what, who, over),
        table=lambda: pictures.table(found, what, over),
        sees=sees(found, band, who),
    )
    left_out(found)


def readable(groups: Sequence[Group]) -> list[Group]:
    """The groups without the runs whose histories cannot be read, which are named."""
    found = []
    for group in groups:
        left = []
        for run in group.runs:
            try:
                lines(run, "epoch")
                left.append(run)
            except EnsembleError as error:
                guard.problem(error)
        if left:
            found.append(replace(group, runs=tuple(left)))
    return found


def left_out(found: Sequence[tuple[str, Sequence[Curves]]]) -> None:
    """Which runs have no such curve, and where a mean is of fewer runs than began."""
    said, without = [], dict[int, list[str]]()
    for split, each in found:
        missing = sum(len(one.missing) for one in each)
        if missing and any(one.lines for one in each):
            without.setdefault(missing, []).append(split)
    for missing, splits in without.items():
        have = "has" if missing == 1 else "have"
        on = " or ".join(splits)
        said.append(f"{formats.count(missing, 'run')} {have} no such figure on {on} images.")
    if any(len(one.n) and one.n.min() < one.runs for _, each in found for one in each):
        said.append(
            "Where not all runs of a group have come so far, the mean is of those that "
            "have, and may jump."
        )
    if said:
        st.caption(escaping.markdown(" ".join(dict.fromkeys(said))))


def nothing(every: Sequence[runs.Run], splits: Sequence[str], over: str) -> None:
    """There is no such curve: why, and what to do."""
    if splits == ("validation",):
        said = (
            "None of these runs holds training images out: choose test, or train with a "
            "validation share."
        )
    elif over != "epochs" and all(run.trained is None for run in every):
        said = "These runs were trained elsewhere: choose epochs."
    elif any(run.active for run in every):
        said = "The first epoch has not ended yet: the curves appear here by themselves."
    else:
        said = "None of these runs has such figures: choose other images, or another curve."
    st.info(said, icon=":material/show_chart:")
