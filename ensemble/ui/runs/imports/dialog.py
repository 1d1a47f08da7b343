"""The dialog: files are handed in, read, looked at, and then kept as runs."""

import functools
from collections.abc import Sequence
from typing import Any

import streamlit as st

from ensemble import exchange
from ensemble.access import Action
from ensemble.errors import EnsembleError
from ensemble.exchange import Capsule, LabelReadingError, MemberOutputs
from ensemble.exchange.file_task import is_numeric_file
from ensemble.exchange.numeric_files import NumericPredictions, read_numeric_file
from ensemble.files.numbers import DecimalSignError
from ensemble.ui.runs.imports import numbers, predictions, report
from ensemble.ui.shared import address, decimal_sign, loaders, widget_state
from ensemble.ui.shared.guard import guard_page
from ensemble.ui.shared.tab import tab
from ensemble.ui.sign_in import rights

# Where predictions from elsewhere are opened: whether they can be trusted is asked first.
_VIEW_OF_PREDICTIONS = "calibration"
FILE_TYPES = ["npz", "csv", "parquet", "html", "htm"]
_ACCEPTED_FILES_HELP = (
    "A report (`.html`) that was saved of runs, with their data in it. Or predictions, one file for all members, "
    "or one a member: `.npz` with `probabilities` or `logits` of shape (members, examples, classes) "
    "and `labels` from 0; images, class and member names if you have them. Or predicted numbers, in one file: "
    "`mean` and `std` of shape (members, examples) and `targets`. CSV and Parquet too."
)


def show_import_button() -> None:
    st.button(
        "Import…",
        icon=":material/upload_file:",
        key="import_open",
        type="tertiary",
        on_click=_open_import_dialog,
        **rights.build_control_arguments(
            Action.IMPORT,
            help="A report that somebody sent you; or predictions of an ensemble that was trained elsewhere: "
            "with PyTorch, Keras, scikit-learn, anything that can save an array.",
        ),
    )
    if tab.import_dialog_open:
        st.dialog("Import a report, or predictions", width="large", on_dismiss=_close_import_dialog)(
            _show_import_dialog_body
        )()


def _open_import_dialog() -> None:
    """Callback: the dialog stands over the page until it is closed."""
    tab.import_dialog_open = True


def _close_import_dialog() -> None:
    """Callback: what was read is let go; it may have taken a gigabyte."""
    del tab.import_dialog_open, tab.import_contents


def _show_import_dialog_body() -> None:
    with guard_page():
        st.markdown(_ACCEPTED_FILES_HELP)
        predictions.show_save_instructions()
        limit = exchange.max_import_bytes()
        files = st.file_uploader(
            "Reports, or files of predictions",
            type=FILE_TYPES,
            accept_multiple_files=True,
            key="import_files",
            max_upload_size=limit // 10**6,
            label_visibility="collapsed",
            **rights.build_control_arguments(Action.IMPORT),
        )
        if not files:
            del tab.import_contents
            return
        labels_key, decimal_key = (f"import_{name}_{files[0].file_id}" for name in ("labels", "decimal"))
        decimal = widget_state.get_widget_value(decimal_key, None) or ""
        import_files = _load_import_files(files, widget_state.get_widget_value(labels_key, None) or "", decimal)
        names = [file.name for file in files]
        if isinstance(import_files, EnsembleError):
            decimal_sign.show_file_problem(import_files)
        if decimal or isinstance(import_files, DecimalSignError):
            decimal_sign.select_decimal_sign(decimal_key)
        if isinstance(import_files, LabelReadingError):
            predictions.select_label_reading(import_files.options, None, labels_key)
        elif isinstance(import_files, NumericPredictions):
            numbers.show_numbers_preview(import_files)
            numbers.show_numbers_form(import_files, names[0], _finish_numbers_import)
        elif isinstance(import_files, list):
            report.show_report_runs(import_files, names, _finish_import)
        elif not isinstance(import_files, EnsembleError):
            predictions.show_import_preview(import_files)
            if len(import_files.label_options) > 1:
                predictions.select_label_reading(import_files.label_options, import_files.label_reading, labels_key)
            predictions.show_import_form(
                import_files, names, functools.partial(_finish_import, view=_VIEW_OF_PREDICTIONS)
            )


def _load_import_files(
    files: Sequence[Any], labels_as: str, decimal: str
) -> MemberOutputs | NumericPredictions | list[Capsule] | EnsembleError:
    """What the files hold, or why they cannot be taken; read once for each reading of labels and numbers."""
    file_ids = (*(file.file_id for file in files), labels_as, decimal)
    if tab.import_contents is None or tab.import_contents[0] != file_ids:
        del tab.import_contents
        with st.spinner("Reading …"):
            tab.import_contents = file_ids, _parse_import_files(files, labels_as, decimal)
    return tab.import_contents[1]


def _parse_import_files(
    files: Sequence[Any], labels_as: str = "", decimal: str = ""
) -> MemberOutputs | NumericPredictions | list[Capsule] | EnsembleError:
    """As `_load_import_files`, anew."""
    try:
        exchange.check_import_size(sum(file.size for file in files))
        most = exchange.MAX_UNPACK_RATIO * exchange.max_import_bytes()
        if all(exchange.is_report_file(file) for file in files):
            return exchange.read_reports(list(files), most)
        if len(files) == 1 and is_numeric_file(files[0]):
            return read_numeric_file(files[0], decimal)
        return exchange.read_prediction_files(list(files), most, labels_as, decimal)
    except EnsembleError as error:
        return error


def _finish_import(run_ids: Sequence[str], view: str = "") -> None:
    """Goes on to the run that was kept, to a view of Inspect; of several, back to the list."""
    _close_import_dialog()
    loaders.forget_runs()
    if len(run_ids) == 1:
        query = address.RUN.build_query(run_ids[0])
        if view:
            query |= address.VIEW.build_query(view)
        st.switch_page("pages/inspect.py", query_params=query)
    st.rerun()


def _finish_numbers_import(run_id: str) -> None:
    _close_import_dialog()
    loaders.forget_runs()
    st.switch_page("pages/numbers.py", query_params=address.RUN.build_query(run_id))
