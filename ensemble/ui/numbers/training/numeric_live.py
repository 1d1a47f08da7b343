"""One run that predicts numbers as it goes on: its answer, how far it is, curves and members."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import streamlit as st

from ensemble.runs.store import Run
from ensemble.ui.shared import run_advice
from ensemble.ui.shared.loaders import load_run_history
from ensemble.ui.shared.settings import summarize_run_settings
from ensemble.ui.train import curve_panels, history, live
from ensemble.ui.train.history import find_reported_epoch_row, select_epoch_rows
from ensemble.ui.train.learning_curves import show_curve_panels
from ensemble.wording import escaping, formats
from ensemble.wording.run_names import format_run_name
from ensemble.wording.runs import numeric_training

if TYPE_CHECKING:
    import pyarrow as pa


def show_live_numbers(run: Run) -> None:
    """Show a run that is trained here, live or as it ended; nothing for an import."""
    if run.settings:
        live.show_live_run(run, _draw_live_numbers)


def _draw_live_numbers(run: Run, lines: list[dict[str, Any]]) -> None:
    rows, shown = select_epoch_rows(lines), find_reported_epoch_row(run, lines)
    if run.active and shown and (sentence := numeric_training.describe_numeric_result(run, shown)):
        st.markdown(f"#### {escaping.escape_markdown(sentence)}")
    live.show_run_progress(run)
    run_advice.show_run_advice(run)
    if run.active and shown:
        _show_numeric_history(run, rows, shown)
    elif run.active:
        live.show_placeholder("The curves appear with the first epoch.")


def show_numeric_training(run: Run) -> None:
    """Show the curves and the members of a run that has ended; nothing for an import."""
    rows = select_epoch_rows(load_run_history(run)) if run.settings else []
    if shown := find_reported_epoch_row(run, rows):
        st.markdown("##### Learning curves")
        _show_numeric_history(run, rows, shown)


def _show_numeric_history(run: Run, rows: list[dict[str, Any]], line: Mapping[str, Any]) -> None:
    _show_numeric_curves(run, rows)
    st.caption(f"On the test rows, after epoch {line['epoch']}.")
    live.show_member_table(run, _tabulate_numeric_members(run, line))


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


def _tabulate_numeric_members(run: Run, line: Mapping[str, Any]) -> "pa.Table":
    import pyarrow as pa

    columns: dict[str, list[str]] = {"member": ["ensemble", *run.member_names]}
    for name in ("rmse", "nll", "crps"):
        each = line.get(f"test_{name}") or []
        each = [*each, *[None] * (len(run.member_names) - len(each))]  # nothing of one that diverged
        values = (line.get(f"ensemble_test_{name}"), *each)
        columns[f"test {name.upper()}"] = [formats.format_significant(value) for value in values]
    return pa.table(columns)
