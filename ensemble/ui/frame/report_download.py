"""The button that saves a run, or several beside each other, as one file for a colleague."""

from collections.abc import Sequence

import streamlit as st

from ensemble.errors import EnsembleError
from ensemble.jobs.store import StoredJob
from ensemble.wording import escaping

LABEL = "Save report"
HELP = (
    "One HTML file that opens anywhere, offline: settings, verdicts, curves, every view that needs "
    "no model, and the predictions, so that Import on Runs makes a run of it again."
)


def show_report_download(every: Sequence[StoredJob], key: str) -> None:
    """The button; the file is made when it is pressed, which takes some seconds."""
    ids = [run.id for run in every]
    name = ids[0] if len(ids) == 1 else f"{len(ids)}-runs-compared"
    st.download_button(
        LABEL,
        lambda: render_report_bytes(ids),
        f"{escaping.sanitize_file_name(name)}.html",
        "text/html",
        key=key,
        icon=":material/save_alt:",
        type="tertiary",
        on_click="ignore",
        help=HELP,
        width="content",
    )


def render_report_bytes(ids: Sequence[str]) -> bytes:
    """The file; where it cannot be made, a page that says why, for there is nowhere else to."""
    from ensemble import report  # here: pictures take a while to import

    try:
        return report.render_report(report.find_reported_runs(ids)).encode()
    except EnsembleError as error:
        return report.render_problem_page(str(error)).encode()
