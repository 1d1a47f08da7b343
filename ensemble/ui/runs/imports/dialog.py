"""The dialog: files are handed in, read, looked at, and then kept as runs."""

from collections.abc import Sequence
from typing import Any

import streamlit as st

from ensemble import exchange
from ensemble.access import Action
from ensemble.errors import EnsembleError
from ensemble.exchange import Capsule, MemberOutputs
from ensemble.ui.runs.imports import predictions, report
from ensemble.ui.shared import address, loaders
from ensemble.ui.shared.guard import guarded
from ensemble.ui.shared.tab import tab
from ensemble.ui.sign_in import rights
from ensemble.wording import escaping

FORMS = ["npz", "csv", "parquet", "html", "htm"]
TAKES = (
    "A report (`.html`) that was saved of runs, with their data in it. Or predictions, one file "
    "for all members, or one a member: `.npz` with `probabilities` or `logits` of shape (members, "
    "examples, classes) and `labels` from 0; images, class and member names if you have them. CSV "
    "and Parquet too."
)


def button() -> None:
    """The way in, and the dialog while it is open."""
    st.button(
        "Import…",
        icon=":material/upload_file:",
        key="import_open",
        type="tertiary",
        on_click=open_dialog,
        **rights.given(
            Action.IMPORT,
            help="A report that somebody sent you; or predictions of an ensemble "
            "that was trained elsewhere: with PyTorch, Keras, scikit-learn, anything that can save "
            "an array.",
        ),
    )
    if tab.importing:
        st.dialog("Import a report, or predictions", width="large", on_dismiss=close)(body)()


def open_dialog() -> None:
    """Callback: the dialog stands over the page until it is closed."""
    tab.importing = True


def close() -> None:
    """Callback: what was read is let go; it may have taken a gigabyte."""
    del tab.importing, tab.import_read


def body() -> None:
    """The inside of the dialog."""
    with guarded():
        st.markdown(TAKES)
        predictions.how_to_save()
        limit = exchange.most_upload_bytes()
        files = st.file_uploader(
            "Reports, or files of predictions",
            type=FORMS,
            accept_multiple_files=True,
            key="import_files",
            max_upload_size=limit // 10**6,
            label_visibility="collapsed",
            **rights.given(Action.IMPORT),
        )
        if not files:
            del tab.import_read
            return
        found, names = read(files), [file.name for file in files]
        if isinstance(found, str):
            st.warning(escaping.markdown(found), icon=":material/error:")
        elif isinstance(found, list):
            report.show(found, names, go_on)
        else:
            predictions.preview(found)
            predictions.accept(found, names, go_on)


def read(files: Sequence[Any]) -> MemberOutputs | list[Capsule] | str:
    """What the files hold, or why they cannot be taken; read once."""
    of = tuple(file.file_id for file in files)
    if tab.import_read is None or tab.import_read[0] != of:
        del tab.import_read
        with st.spinner("Reading …"):
            tab.import_read = of, understood(files)
    return tab.import_read[1]


def understood(files: Sequence[Any]) -> MemberOutputs | list[Capsule] | str:
    """As `read`, anew."""
    try:
        exchange.check_upload(sum(file.size for file in files))
        most = exchange.UNPACKED * exchange.most_upload_bytes()
        if all(exchange.is_report(file) for file in files):
            return exchange.read_reports(list(files), most)
        return exchange.read(list(files), most)
    except EnsembleError as error:
        return str(error)


def go_on(run_ids: Sequence[str]) -> None:
    """Goes on to the run that was kept; of several, back to the list."""
    close()
    loaders.forget_runs()
    if len(run_ids) == 1:
        st.switch_page("pages/inspect.py", query_params=address.RUN.link(run_ids[0]))
    st.rerun()
