"""One run that predicts numbers as it goes on: its answer, how far it is, curves and members."""

from collections.abc import Mapping
from typing import Any

import pandas as pd
import streamlit as st

from ensemble import runs
from ensemble.runs.store import Run, find_regression_run, resume_run
from ensemble.ui.jobs import job_panel
from ensemble.ui.shared import loaders
from ensemble.ui.shared.guard import show_error_message
from ensemble.ui.shared.settings import summarize_run_settings
from ensemble.ui.train import curve_panels, history
from ensemble.ui.train.learning_curves import show_curve_panels
from ensemble.ui.train.live import show_placeholder
from ensemble.wording import escaping, formats
from ensemble.wording.run_names import format_run_name
from ensemble.wording.runs import numeric_training

REFRESH_INTERVAL_S = 1.0


def show_live_numbers(run: Run) -> None:
    """Show a run that is trained here, live or as it ended; nothing for an import.

    While it is active its part of the page is drawn again every second.
    """
    if run.settings is None:
        return
    if not run.active:
        _show_numeric_progress(run)
        return
    job_panel.show_live_job(lambda: find_regression_run(run.id), _draw_live_numbers, REFRESH_INTERVAL_S)


def _draw_live_numbers(run: Run) -> None:
    rows = load_numeric_history(run)
    if sentence := numeric_training.describe_numeric_result(run, rows):
        st.markdown(f"#### {escaping.escape_markdown(sentence)}")
    _show_numeric_progress(run)
    if rows:
        _show_numeric_curves(run, rows)
        _show_numeric_members(run, numeric_training.select_shown_line(run, rows))
    else:
        show_placeholder("The curves appear with the first epoch.")


def show_numeric_training(run: Run) -> None:
    """Show the curves and the members of a run that has ended; nothing for an import."""
    if run.settings is None or not (rows := load_numeric_history(run)):
        return
    st.markdown("##### Learning curves")
    _show_numeric_curves(run, rows)
    _show_numeric_members(run, numeric_training.select_shown_line(run, rows))


def load_numeric_history(run: Run) -> list[dict[str, Any]]:
    version = loaders.get_file_version(run.path / "history.jsonl")
    return _read_cached_history(str(run.path), version, run.id)


@st.cache_resource(max_entries=12, show_spinner=False)
def _read_cached_history(folder: str, version: tuple[int, int], _run_id: str) -> list[dict[str, Any]]:
    return [line for line in runs.read_history(_run_id) if line["kind"] == "epoch"]


def _show_numeric_progress(run: Run) -> None:
    if run.state in ("finished", "imported"):
        if run.message:
            st.caption(escaping.escape_markdown(run.message))
        return
    if run.state == "diverged":
        show_error_message(run.message)
        return
    detail = f"epoch {run.status.epoch} of {run.status.epochs}"
    job_panel.show_job_progress(run, detail, prefix="numeric_", resume=lambda: resume_run(run.id))


def _show_numeric_curves(run: Run, rows: list[dict[str, Any]]) -> None:
    show_curve_panels(
        run.id,
        rows,
        build_numeric_panels(rows, run.unit or run.target_name),
        caption=f"{format_run_name(run)} · {summarize_run_settings(run.config)}",
        epochs=run.status.epochs,
        members=run.config.members,
        validation=run.status.best_on == "validation",
    )


def build_numeric_panels(rows: list[dict[str, Any]], unit: str) -> list[list[dict[str, Any]]]:
    """The pictures: the loss and the error, as the component of learning curves takes them."""
    # What is called NLL of numbers is the loss of the curves.
    renamed = [
        {
            **row,
            "test_loss": row.get("test_nll"),
            **({"validation_loss": row["validation_nll"]} if row.get("validation_nll") is not None else {}),
        }
        for row in rows
    ]
    panels = []
    for figure, title, axis in (("loss", "Loss (NLL)", "nats"), ("rmse", "Error (RMSE)", unit or "unit of the target")):
        curves = [
            *history.build_split_curves(renamed, "train", figure),
            *history.build_split_curves(renamed, "validation", figure)[-1:],
            *history.build_split_curves(renamed, "test", figure),
        ]
        panels.append(
            [
                {
                    "name": figure,
                    "noun": "NLL" if figure == "loss" else "RMSE",
                    "title": title,
                    "axis": axis,
                    "alt": f"{title} over the epochs, one line a member, the ensemble bold",
                    "scale": "linear",
                    "percent": False,
                    "lines": curve_panels.build_panel_lines(curves),
                }
            ]
        )
    return panels


def _show_numeric_members(run: Run, line: Mapping[str, Any]) -> None:
    rows = [
        {
            "": name,
            "test RMSE": _format_member_figure(line, "test_rmse", member),
            "test NLL": _format_member_figure(line, "test_nll", member),
            "test CRPS": _format_member_figure(line, "test_crps", member),
        }
        for member, name in enumerate(run.member_names)
    ]
    whole = {
        "": "ensemble",
        **{
            f"test {name.upper()}": formats.format_significant(line.get(f"ensemble_test_{name}"))
            for name in ("rmse", "nll", "crps")
        },
    }
    st.caption(f"On the test rows, after epoch {line['epoch']}.")
    st.dataframe(
        pd.DataFrame([whole, *rows]),
        hide_index=True,
        key="numbers_members",
        alt="RMSE, NLL and CRPS on the test rows, of the ensemble and each member",
    )


def _format_member_figure(line: Mapping[str, Any], name: str, member: int) -> str:
    """A member's figure of an epoch; "–" of one that diverged."""
    values = line.get(name) or []
    return formats.format_significant(values[member] if member < len(values) else None)
