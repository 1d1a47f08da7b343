"""One run as it goes on: the answer, how far it is, its curves and its members."""

import contextlib
import html
import itertools
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import streamlit as st

from ensemble import runs
from ensemble.analysis.predictions import MAX_SHOWN_MEMBERS
from ensemble.errors import EnsembleError
from ensemble.jobs.queue import list_jobs_ahead
from ensemble.storage import csv_format
from ensemble.ui.jobs import job_panel
from ensemble.ui.runs import groups
from ensemble.ui.shared import loaders, run_advice, run_metrics, settings, widget_state
from ensemble.ui.shared.guard import guard_page
from ensemble.ui.shared.tab import allow_script_stop, tab
from ensemble.ui.train import (
    disagreement_backfill,
    disputed_images,
    history,
    resume_elsewhere,
    run_verdict,
    teacher_control,
)
from ensemble.ui.train.learning_curves import CURVES_TITLE, show_learning_curves
from ensemble.ui.train.varied import best_value
from ensemble.wording import formats
from ensemble.wording import jobs as jobs_words
from ensemble.wording.provenance import format_figure_caption
from ensemble.wording.run_names import format_run_name
from ensemble.wording.runs import groups as groups_words
from ensemble.wording.runs import member_settings
from ensemble.wording.runs import training as training_words

if TYPE_CHECKING:
    import pyarrow as pa

_FIRST_CURVE_INTERVAL_S, REFRESH_INTERVAL_S, _MAX_REFRESH_INTERVAL_S = 0.5, 1.0, 5.0
# Of each pause before the first curve the server spends so long looking at the file: that costs
# next to nothing, where drawing anew costs the browser what compiling could do with.
FAST_POLL_DURATION_S, POLL_INTERVAL_S = 0.4, 0.02
_ANNOUNCEMENT_INTERVAL_S = 10.0
_ENDED_RUN_INTERVAL_S = 5.0  # it may be gone on with in another tab, or by a command
# A worker that has fallen silent, or compiles for long, is not watched so closely for ever.
MAX_FAST_POLLS = 240
_VALUES_PER_SECOND = 60_000
# So many tabs are drawn at a time: all at once would each be as late as the last.
_drawing_turns = threading.BoundedSemaphore(2)
_MAX_MEMBER_TABLES = 24


_DrawFunction = Callable[[runs.Run, list[dict[str, Any]]], None]


def show_live_run(run: runs.Run, draw: _DrawFunction | None = None) -> None:
    """Show `run`, and again every second while it is active; its own part of the page only.

    Args:
      draw: draws the run and the lines of its history; by default as Train does.
    """
    figures = len(loaders.load_run_history(run)) * run.config.members
    state, looks = loaders.get_displayed_run_state(run), itertools.count()
    every = compute_refresh_interval(figures, state) if run.active else None
    st.fragment(refresh_live_run, run_every=every)(run.id, state, figures > 0, looks, draw or draw_live_run)
    if run.can_resume:
        st.fragment(look_at_ended_run, run_every=_ENDED_RUN_INTERVAL_S)(run.id, state)


def look_at_ended_run(run_id: str, last_state: str) -> None:
    with contextlib.suppress(EnsembleError):  # It may be gone: the next press says so.
        run = loaders.find_watched_run(run_id)
        if loaders.get_displayed_run_state(run) != last_state:
            loaders.forget_runs()
            st.rerun()


def compute_refresh_interval(figures: int, state: str) -> float:
    """Seconds between two looks at a run with so many figures.

    A second, but more for an hour of a large ensemble, whose history takes a good part of
    a second to read: a core that reads does not train. The first curves are waited for.
    """
    if not figures and state != "queued":
        return _FIRST_CURVE_INTERVAL_S
    return min(REFRESH_INTERVAL_S + figures / _VALUES_PER_SECOND, _MAX_REFRESH_INTERVAL_S)


def refresh_live_run(
    run_id: str, last_state: str, had_figures: bool, looks: Iterator[int], draw: _DrawFunction
) -> None:
    """The body of `show_live_run`: what changes while a run goes on."""
    with guard_page():
        run = loaders.find_watched_run(run_id)
        rows = history.drop_own_view_metrics(loaders.load_run_history(run), run.config.has_member_views)
        first = run.active and bool(rows) and not had_figures
        if loaders.get_displayed_run_state(run) != last_state and not first:
            loaders.forget_runs()
            st.rerun()
        with _drawing_turns if run.active else nullcontext():
            draw(run, rows)
        if first:
            # The first curves are on their way, before the rest of the page says that the run
            # trains; from now on they are looked at less often.
            loaders.forget_runs()
            st.rerun()
        # At the first look the rest of the page is still to be drawn.
        in_haste = 0 < next(looks) < MAX_FAST_POLLS
        if in_haste and run.active and last_state != "queued" and not rows:
            wait_for_first_curves(run)


def draw_live_run(run: runs.Run, rows: list[dict[str, Any]]) -> None:
    verdict = run_verdict.reserve_verdict_place(run)
    run_metrics.show_run_metrics(run, rows)
    show_run_progress(run)
    if run.state != "finished":
        groups.show_run_groups(run)
    run_advice.show_run_advice(run)
    if run.training_config is None and len(rows) == 1:  # one point a member is no curve
        _show_no_curves_notice(run)
        _show_member_table(run, rows)
    elif rows or run.active:
        answer = st.container()
        _show_run_curves(run, rows)
        best_value.show_best_value(run, rows, answer)
        _show_member_table(run, rows)
    else:
        run_advice.show_predictions_link(run)
    run_verdict.show_run_verdict(run, verdict)


def wait_for_first_curves(run: runs.Run) -> None:
    end = time.monotonic() + FAST_POLL_DURATION_S
    while time.monotonic() < end:
        if loaders.load_run_history(run):
            st.rerun(scope="fragment")
        allow_script_stop()
        time.sleep(POLL_INTERVAL_S)


def show_placeholder(words: str) -> None:
    """Room for what will come. Still: a skeleton's shimmer takes time from the training."""
    with st.container(height=340, border=True, vertical_alignment="center"):
        st.caption(words, text_alignment="center")


def show_run_progress(run: runs.Run) -> None:
    if run.state not in ("finished", "diverged", "imported"):
        again = (lambda: runs.resume_run(run.id)) if run.can_resume and not run.active else None
        job_panel.show_progress_bar(run, _describe_run_stage(run), resume=again)
        resume_elsewhere.show_resume_elsewhere(run)
    _announce_run_progress(run)


def _announce_run_progress(run: runs.Run) -> None:
    """The run's stage for a screen reader, which says it when it is done with what it says now.

    Anew at most once in ten seconds, but for another state, of which it hears at once.
    """
    state, when, _ = tab.announced[run.id]
    if not (run.active or state):  # It had ended before this tab saw it.
        return
    if state != run.state or time.monotonic() - when >= _ANNOUNCEMENT_INTERVAL_S:
        accuracy = run.status.ensemble_test_accuracy
        reached = f", accuracy {formats.format_percent(accuracy, run.data.test_size)}" if accuracy else ""
        text = f"{run.state}: {_describe_run_stage(run)}{reached}"
        tab.announced[run.id] = run.state, time.monotonic(), text
    with st.container(key="announcement"):
        st.html(f'<p role="status" aria-live="polite">{html.escape(tab.announced[run.id][2])}</p>')


def _describe_run_stage(run: runs.Run) -> str:
    status = run.status
    if run.state == "queued" and groups_words.find_scheduler_title(run):
        return groups_words.describe_cluster_wait(run)
    if run.state == "queued":
        return jobs_words.describe_queue_wait(list_jobs_ahead(run), run.message)
    if run.state == "starting":
        return run.message or f"Starting: reading the {'images' if run.entry else 'table'} and compiling the step."
    if run.state != "training":
        done = formats.format_count(status.epoch, "epoch")
        return f"{run.state.capitalize()} after {done} of {status.epochs}"
    text = f"epoch {min(status.epoch + 1, status.epochs)} of {status.epochs}"
    if run.settings and run.settings.groups > 1:  # They need not be at the same one.
        text = f"{status.epoch} of {formats.format_count(status.epochs, 'epoch')} by every group"
    if status.img_member_per_s:
        text += f" · {formats.format_throughput(status.img_member_per_s, 'img' if run.entry else 'row')}"
    return f"{text}{jobs_words.describe_silence(status)}"


def _show_no_curves_notice(run: runs.Run) -> None:
    st.caption("It was trained elsewhere and brought one epoch's predictions: there are no learning curves.")
    run_advice.show_predictions_link(run)


def _show_run_curves(run: runs.Run, rows: list[dict[str, Any]]) -> None:
    # One low row: what is above the pictures they have not.
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="curve_row"):
        run_advice.show_predictions_link(run)
        teacher_control.show_distillation_offer(run)
        with st.popover("Axes", type="tertiary", width="content", key="curve_axes"):
            scale = widget_state.draw_widget(
                st.segmented_control,
                "Axes",
                ["Linear", "Log"],
                default="Log",
                required=True,
                key="curves_scale",
                persist_state="session",
            )
            smoothing = widget_state.draw_widget(
                st.slider,
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
    info = run.data
    show_learning_curves(
        run.id,
        disagreement_backfill.fill_missing_disagreement(run, rows),
        caption=f"{format_run_name(run)} · {info.title} · {settings.summarize_run_settings(run.config)}",
        about=format_figure_caption(run, CURVES_TITLE),
        epochs=run.config.epochs,
        members=run.config.members,
        n_test=info.test_size,
        validation=bool(run.config.validation),
        log=scale == "Log",
        smoothing=smoothing,
        images=disputed_images.load_disputed_images(run, rows),
        varied=member_settings.collect_varied_settings(run.config),
    )
    if run.config.members > MAX_SHOWN_MEMBERS:
        st.caption(
            f"Of the {run.config.members:,} members the curves show, at each point, the lowest value, the highest, and "
            "the 5 % and 95 % quantiles."
        )
    if missing_training_curve := training_words.explain_missing_training_curve(run):
        st.caption(missing_training_curve)


def _show_member_table(run: runs.Run, rows: list[dict[str, Any]]) -> None:
    reported = history.find_reported_epoch_row(run, rows)
    if reported is None:
        st.caption("Each member's figures appear here after the first epoch.")
        return
    _, table = _build_member_table(run.id, id(reported), run, reported)
    show_member_table(run, table)


def show_member_table(run: runs.Run, table: "pa.Table") -> None:
    """Each member's figures, and the history that they are from as a file."""
    tall = table.num_rows > 12
    st.dataframe(
        table,
        hide_index=True,
        key="members_table",
        height=420 if tall else "content",
        alt="The figures of the ensemble and of each member on the test set",
        column_config={"member": st.column_config.TextColumn(pinned=True)},
    )
    st.download_button(
        "Download the whole history (CSV)",
        lambda: _format_history_csv(
            history.drop_own_view_metrics(runs.read_history(run.id), run.config.has_member_views)
        ),
        f"{run.id}-history.csv",
        "text/csv",
        icon=":material/download:",
        on_click="ignore",
        key="history_csv",
    )


# With the line that it is made of: as long as that is kept no other has its `id`.
@st.cache_resource(max_entries=_MAX_MEMBER_TABLES, show_spinner=False)
def _build_member_table(
    run_id: str, row_id: int, _run: runs.Run, _reported: dict[str, Any]
) -> tuple[dict[str, Any], "pa.Table"]:
    import pandas as pd
    import pyarrow as pa

    table = run_metrics.tabulate_member_metrics(
        _reported, _run.data, member_settings.collect_varied_settings(_run.config)
    )
    return _reported, pa.Table.from_pandas(pd.DataFrame(table), preserve_index=False)


def _format_history_csv(rows: list[dict[str, Any]]) -> str:
    columns = history.tabulate_history(rows)
    return csv_format.format_csv([columns, *zip(*columns.values(), strict=True)])
