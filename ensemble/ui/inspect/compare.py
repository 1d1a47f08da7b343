"""Compare: this run against another on the same test images, digit by digit."""

from collections.abc import Sequence
from typing import Any

import pandas as pd
import streamlit as st

from ensemble import architectures, runs
from ensemble.analysis.predictions import Predictions
from ensemble.comparison.images import same_images
from ensemble.errors import EnsembleError
from ensemble.figures.inspect.compare import MOST, apart, figure, per_class, table
from ensemble.ui.inspect import images
from ensemble.ui.inspect.compared_runs import against, against_all
from ensemble.ui.inspect.shared_epoch import SharedEpoch
from ensemble.ui.predictions import controls, loader
from ensemble.ui.shared import address, guard, loaders, settings, theme, widget
from ensemble.ui.shared import figure_panel as pictures
from ensemble.wording import escaping, formats
from ensemble.wording.formats import plural
from ensemble.wording.run_names import called, told_apart
from ensemble.wording.verdicts import compared

SIDES = {
    "won": "Won",
    "lost": "Lost",
    "settings": "Settings that differ",
    "all": "Against all runs",
}


def show(shown: SharedEpoch) -> None:
    """A run to compare with, what this one is better by, and where."""
    others = comparable(shown.run)
    if not others:
        nothing(shown)
        return
    other, epoch = choose(shown.run, others)
    try:
        theirs = loader.predictions(other, epoch)
    except EnsembleError as error:
        guard.problem(error)
        return
    found = against(shown, other, epoch)
    st.markdown(f"##### {compared.headline(found, escaping.markdown(called(other)), shown.noun)}")
    st.caption(
        " ".join(
            filter(
                None,
                (
                    compared.evidence(found, shown.noun),
                    compared.picked(len(others)),
                ),
            )
        )
    )
    picture(shown, theirs, other, epoch)
    details(shown, theirs, other, others)


def comparable(run: runs.Run) -> list[runs.Run]:
    """The other runs on the same test images that have predictions, newest first."""
    return [
        other
        for other in loaders.all_runs()
        if other.id != run.id and same_images(run, other) and runs.prediction_epochs(other.id)
    ]


def nothing(shown: SharedEpoch) -> None:
    """There is no other run to compare with: say so, and the next step."""
    title, same = escaping.markdown(shown.run.data.title), formats.count(shown.n, shown.noun)
    if shown.run.trained is None:
        st.info(
            f"There is no other run on the same {escaping.markdown(same)} in the same order. "
            "Import another model's predictions of them, and they can be compared here; "
            "`python -m ensemble export` writes the test images of a run that was trained "
            "here.",
            icon=":material/compare_arrows:",
        )
        st.page_link("pages/runs.py", label="Import another", icon=":material/arrow_forward:")
        return
    st.info(
        f"There is no other run on {title} with predictions. Train a second one, with other "
        "settings or another seed, or import what another model says of the images that "
        "`python -m ensemble export` writes, and it can be compared here.",
        icon=":material/compare_arrows:",
    )
    st.page_link(
        "pages/train.py",
        label="Train another",
        icon=":material/arrow_forward:",
        query_params=address.RUN.link(shown.run.id),
    )


def choose(run: runs.Run, others: Sequence[runs.Run]) -> tuple[runs.Run, int]:
    """Controls for the other run and its epoch; what they say stands in the address."""
    wanted = address.WITH.read()
    names = {other.id: f"{told_apart(other)} · {other.state}" for other in others}
    chosen = wanted if wanted in names else others[0].id
    if wanted and wanted != chosen:
        why = "That is this run itself" if wanted == run.id else "That run cannot be compared"
        st.caption(f"{why}; here it is compared with another.")
    address.WITH.put(chosen)
    other = next(one for one in others if one.id == chosen)
    epochs = runs.prediction_epochs(other.id)
    asked = address.WITH_EPOCH.read()
    epoch = asked if asked in epochs and asked is not None else epochs[-1]
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        address.bound(
            f"compare_with_{controls.stamp(names.values())}",
            chosen,
            lambda key: st.selectbox(
                "Compare with",
                list(names),
                format_func=names.__getitem__,
                key=key,
                width=420,
                on_change=picked,
                args=(key,),
                help="Runs on the same test images.",
            ),
        )
        if len(epochs) > 1:
            address.bound(
                f"compare_epoch_{controls.stamp(epochs)}",
                epoch,
                lambda key: st.select_slider(
                    "Its epoch",
                    epochs,
                    key=key,
                    width=260,
                    on_change=turned,
                    args=(key, epochs[-1]),
                ),
            )
        st.page_link(
            "pages/compare.py",
            label="Compare more than two",
            width="content",
            icon=":material/arrow_forward:",
            query_params=address.RUNS.link((run.id, other.id)),
        )
    return other, epoch


def picked(key: str) -> None:
    """Callback: another run to compare with, at its last epoch."""
    address.WITH.put(widget.value(key))
    address.WITH_EPOCH.put(None)


def turned(key: str, last: int) -> None:
    """Callback: another epoch of the other run."""
    address.WITH_EPOCH.put(widget.value(key), last)


def picture(shown: SharedEpoch, theirs: Predictions, other: runs.Run, epoch: int) -> None:
    """Where the difference comes from, class by class."""
    won, lost = apart(shown.predictions, theirs)
    counts = per_class(shown.predictions.labels, won, lost, len(shown.class_names))
    title = f"Won and lost · {shown.source}, against {called(other)} · epoch {epoch}"
    pictures.show(
        figure(counts, shown.class_names, shown.noun, title, theme.palette()),
        key="compare",
        of=shown.run,
        epoch=shown.epoch,
        name=f"{shown.file_stem}-against-{other.id}-epoch-{epoch}",
        title="Won and lost by class",
        alt=f"Of each class, {plural(shown.noun)} that only one of the two runs gets right: "
        f"{len(won):,} won, {len(lost):,} lost",
        table=lambda: table(shown.predictions, theirs, shown.class_names),
        sees=f"By what it is: {plural(shown.noun)} that only this run gets right (won, blue, up) "
        "and "
        f"that only the other does (lost, orange, down).{left_out(len(shown.class_names))}",
    )


def left_out(classes: int) -> str:
    """Which classes the picture has, where it has not all."""
    if classes <= MOST:
        return ""
    return f" Of {classes:,} classes the {MOST} with the most of both."


def details(
    shown: SharedEpoch, theirs: Predictions, other: runs.Run, others: Sequence[runs.Run]
) -> None:
    """The images won or lost, the settings that differ, or how it stands against all others."""
    won, lost = apart(shown.predictions, theirs)
    name = address.choose(
        address.SIDE, "Show", SIDES, "won", width="content", label_visibility="collapsed"
    )
    if name == "settings":
        differing(shown.run, other)
        return
    if name == "all":
        against_all(shown, others)
        return
    numbers = won if name == "won" else lost
    who = "this run" if name == "won" else escaping.markdown(called(other))
    if not len(numbers):
        st.caption(f"There is no {shown.noun} that only {who} gets right.")
        return
    st.caption(
        f"{formats.count(len(numbers), shown.noun)} that only {who} gets right, this run's "
        "surest first."
    )
    images.show(
        shown,
        numbers,
        key=f"compare_{name}",
        under=lambda number: under(theirs, number, shown.class_names),
    )


def under(theirs: Predictions, number: int, names: Sequence[str]) -> list[str]:
    """What the other run says of an image."""
    sure = formats.chance(theirs.confidence[number])
    return [f"other {names[theirs.said[number]]}", sure]


def differing(ours: runs.Run, theirs: runs.Run) -> None:
    """The settings that the two runs were trained with, where they differ."""
    frame = settings_apart(ours, theirs)
    if frame.empty:
        st.caption("Both runs have the same settings.")
    else:
        st.dataframe(frame, hide_index=True, key="compare_settings", width="content")


def settings_apart(ours: runs.Run, theirs: runs.Run) -> pd.DataFrame:
    """One row for each setting that differs: its name, and the value in either run."""
    first, second = ours.config.as_dict(), theirs.config.as_dict()
    return pd.DataFrame(
        [
            {
                "setting": settings.label(name),
                "this run": value(name, first[name]),
                "the other": value(name, second[name]),
            }
            for name in first
            if first[name] != second[name]
        ]
    )


def value(name: str, setting: Any) -> str:
    """The value of the setting of that name in words."""
    if name == "network":
        return architectures.title(setting)
    if isinstance(setting, bool):
        return "yes" if setting else "no"
    return setting if isinstance(setting, str) else settings.shown(setting)
