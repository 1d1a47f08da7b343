"""One run as it goes on: the answer, how far it is, its curves and its members."""

import itertools
import time
from collections.abc import Iterator
from typing import Any

import streamlit as st

from ensemble import runs
from ensemble.jobs.queue import ahead_of
from ensemble.storage import csv_cells
from ensemble.ui.jobs import job_panel
from ensemble.ui.runs import groups
from ensemble.ui.shared import loaders, run_advice, run_figures, settings
from ensemble.ui.shared.guard import guarded
from ensemble.ui.shared.tab import may_end
from ensemble.ui.train import disputed, history, measured
from ensemble.ui.train.curves import TITLE, learning_curves
from ensemble.ui.train.varied import best
from ensemble.wording import formats
from ensemble.wording import jobs as jobs_words
from ensemble.wording.provenance import figure_caption
from ensemble.wording.run_names import called
from ensemble.wording.runs import groups as groups_words
from ensemble.wording.runs import training as training_words
from ensemble.wording.runs import varied

SECONDS_TO_THE_FIRST, SECONDS_BETWEEN, SECONDS_AT_MOST = 0.5, 1.0, 5.0
# Of each pause before the first curve the server spends so long looking at the file: that costs
# next to nothing, where drawing anew costs the browser what compiling could do with.
SECONDS_OF_WAITING, SECONDS_OF_A_WINK = 0.4, 0.02
# A worker that has fallen silent, or compiles for long, is not watched so closely for ever.
LOOKS_IN_HASTE = 240
FIGURES_A_SECOND = 60_000


def watch(run: runs.Run) -> None:
    """Show `run`, and again every second while it is active; its own part of the page only."""
    figures = len(loaders.history(run)) * run.config.members
    state, looks = loaders.shown_state(run), itertools.count()
    every = pause(figures, state) if run.active else None
    st.fragment(watched, run_every=every)(run.id, state, figures > 0, looks)


def pause(figures: int, state: str) -> float:
    """Seconds between two looks at a run with so many figures.

    A second, but more for an hour of a large ensemble, whose history takes a good part of
    a second to read: a core that reads does not train. The first curves are waited for.
    """
    if not figures and state != "queued":
        return SECONDS_TO_THE_FIRST
    return min(SECONDS_BETWEEN + figures / FIGURES_A_SECOND, SECONDS_AT_MOST)


def watched(run_id: str, last_state: str, had_figures: bool, looks: Iterator[int]) -> None:
    """The body of `watch`: what changes while a run goes on."""
    with guarded():
        run = runs.find(run_id)
        rows = history.averaged(loaders.history(run), run.config.own_views)
        first = run.active and bool(rows) and not had_figures
        if loaders.shown_state(run) != last_state and not first:
            loaders.forget_runs()
            st.rerun()
        run_figures.show(run, rows)
        progress(run)
        if run.state != "finished":
            groups.show(run)
        run_advice.show(run)
        if run.trained is None and len(rows) == 1:  # one point a member is no curve
            elsewhere(run)
            members(run, rows)
        elif rows or run.active:
            answer = st.container()
            charts(run, rows)
            best.show(run, rows, answer)
            members(run, rows)
        else:
            run_advice.way_on(run)
        if first:
            # The first curves are on their way, before the rest of the page says that the run
            # trains; from now on they are looked at less often.
            loaders.forget_runs()
            st.rerun()
        # At the first look the rest of the page is still to be drawn.
        in_haste = 0 < next(looks) < LOOKS_IN_HASTE
        if in_haste and run.active and last_state != "queued" and not rows:
            wait_for_the_first(run)


def wait_for_the_first(run: runs.Run) -> None:
    """Draw the first curves as soon as they are there, if they come within a moment."""
    end = time.monotonic() + SECONDS_OF_WAITING
    while time.monotonic() < end:
        if loaders.history(run):
            st.rerun(scope="fragment")
        may_end()
        time.sleep(SECONDS_OF_A_WINK)


def place_for(words: str) -> None:
    """Room for what will come. Still: a skeleton's shimmer takes time from the training."""
    with st.container(height=340, border=True, vertical_alignment="center"):
        st.caption(words, text_alignment="center")


def progress(run: runs.Run) -> None:
    """How far the run is, and the button that stops it or goes on with it."""
    if run.state not in ("finished", "diverged", "imported"):
        again = (lambda: resume(run)) if run.may_resume else None
        job_panel.show(run, stage(run), resume=again)


def stage(run: runs.Run) -> str:
    """What the run is doing, in words."""
    status = run.status
    if run.state == "queued" and groups_words.placed(run):
        return groups_words.in_queue(run)
    if run.state == "queued":
        return jobs_words.waits_for(ahead_of(run))
    if run.state == "starting":
        return run.message or "Starting: reading the images and compiling the step."
    if run.state != "training":
        done = formats.count(status.epoch, "epoch")
        return f"{run.state.capitalize()} after {done} of {status.epochs}"
    said = f"epoch {min(status.epoch + 1, status.epochs)} of {status.epochs}"
    if run.trained and run.trained.groups > 1:  # They need not be at the same one.
        said = f"{status.epoch} of {formats.count(status.epochs, 'epoch')} by every group"
    if status.img_member_per_s:
        said += f" · {formats.throughput(status.img_member_per_s)}"
    return f"{said}{jobs_words.no_news(status)}"


def resume(run: runs.Run) -> None:
    """Go on where the run ended."""
    runs.resume(run.id)
    loaders.forget_runs()


def elsewhere(run: runs.Run) -> None:
    """What stands in place of the curves of a run that brought one epoch's predictions."""
    st.caption(
        "It was trained elsewhere and brought one epoch's predictions: there are no "
        "learning curves."
    )
    run_advice.way_on(run)


def charts(run: runs.Run, rows: list[dict[str, Any]]) -> None:
    """Loss, accuracy and disagreement over the epochs, and how to draw them."""
    # One low row: what is above the pictures they have not.
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        scale = st.segmented_control(
            "Axes",
            ["Linear", "Log"],
            default="Log",
            required=True,
            key="curves_scale",
            persist_state="session",
            format_func="{} axes".format,
            label_visibility="collapsed",
        )
        with st.popover("Smoothing", width="content"):
            smoothing = st.slider(
                "Smoothing of training curves",
                0.0,
                0.99,
                0.6,
                0.01,
                key="curves_smoothing",
                persist_state="session",
                help="Averages the dashed training curves over neighbouring steps. Test curves "
                "are always shown as measured.",
            )
        run_advice.way_on(run)
    info = run.data
    learning_curves(
        run.id,
        measured.completed(run, rows),
        caption=f"{called(run)} · {info.title} · {settings.summary(run.config)}",
        about=figure_caption(run, TITLE),
        epochs=run.config.epochs,
        members=run.config.members,
        n_test=info.test_size,
        validation=bool(run.config.validation),
        log=scale == "Log",
        smoothing=smoothing,
        images=disputed.latest(run, rows),
        varied=varied.of(run.config),
    )
    if said := training_words.no_training_curve(run):
        st.caption(said)


def members(run: runs.Run, rows: list[dict[str, Any]]) -> None:
    """Each member's latest figures, and the whole history as a file."""
    if not (table := run_figures.member_table(rows, run.data, varied.of(run.config))):
        st.caption("Each member's figures stand here after the first epoch.")
        return
    tall = len(table["member"]) > 12
    st.dataframe(
        table,
        hide_index=True,
        key="members_table",
        height=420 if tall else "content",
        alt="Each member's latest test accuracy and loss, and its gap to the ensemble",
        column_config={"member": st.column_config.TextColumn(pinned=True)},
    )
    st.download_button(
        "Download the whole history (CSV)",
        lambda: csv(rows),
        f"{run.id}-history.csv",
        "text/csv",
        icon=":material/download:",
        on_click="ignore",
        key="history_csv",
    )


def csv(rows: list[dict[str, Any]]) -> str:
    """The history as comma-separated values, one line of it a row."""
    columns = history.table(rows)
    return csv_cells.table([columns, *zip(*columns.values(), strict=True)])
