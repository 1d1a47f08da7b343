"""The table that is learnt from: uploaded, read, and what its columns are."""

import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import streamlit as st

from ensemble import exchange
from ensemble.access import Action
from ensemble.config import RegressionConfig
from ensemble.errors import EnsembleError
from ensemble.exchange.data_tables import read_data_table
from ensemble.files.numbers import DecimalSignError
from ensemble.runs.numeric.numeric_launch import prepare_numeric_table
from ensemble.storage.folders import data_folder
from ensemble.tables.prepared_table import PreparedTable
from ensemble.tables.raw_table import NUMBER, RawTable
from ensemble.ui.shared import decimal_sign, widget_state
from ensemble.ui.shared.tab import tab
from ensemble.ui.sign_in import rights

FILE_TYPES = ["csv", "tsv", "txt", "parquet"]
_UPLOAD_HELP = (
    "A row an example; the first row of a CSV names the columns. What is assumed of it is said before training begins."
)
_MAX_PREPARED_TABLES = 2


@dataclass(frozen=True, eq=False)
class SelectedTable:
    """A table, and what a person said of its columns.

    Attributes:
      file_id: of the upload: the same file has the same.
      table: as it was read.
      target: the column to predict; "" where no column can be.
      leave_out: columns that are not to be learnt from.
      categories: columns of numbers that stand for kinds.
      group: the column whose equal values belong together; "" for none.
      in_time_order: whether rows are in time order.
    """

    file_id: str
    table: RawTable
    target: str
    leave_out: tuple[str, ...]
    categories: tuple[str, ...]
    group: str = ""
    in_time_order: bool = False


def select_table() -> SelectedTable | None:
    """The uploader, and once a table is there what its columns are; None without one."""
    file = st.file_uploader(
        "Table",
        type=FILE_TYPES,
        key="numbers_file",
        max_upload_size=exchange.max_import_bytes() // 10**6,
        **rights.build_control_arguments(Action.LAUNCH, help=_UPLOAD_HELP),
    )
    if file is None:
        del tab.numeric_table
        return None
    decimal_key = f"numbers_decimal_{file.file_id}"
    decimal = widget_state.get_widget_value(decimal_key, None) or ""
    table = _load_uploaded_table(file, decimal)
    if isinstance(table, EnsembleError):
        decimal_sign.show_file_problem(table)
    if decimal or isinstance(table, DecimalSignError):
        decimal_sign.select_decimal_sign(decimal_key)
    if isinstance(table, EnsembleError):
        return None
    numbers = [column.name for column in table.columns if column.kind == NUMBER]
    if not numbers:
        st.warning("It has no column of numbers: there is nothing to predict.", icon=":material/error:")
        return None
    target = widget_state.draw_widget(
        st.selectbox,
        "Predict",
        numbers,
        index=len(numbers) - 1,
        key=f"numbers_target_{file.file_id}",
        help="The column of numbers that the ensemble learns to predict.",
    )
    others = [name for name in table.column_names if name != target]
    with st.expander("Columns"):
        left_out = widget_state.draw_widget(
            st.multiselect,
            "Leave out",
            others,
            key=f"numbers_leave_{file.file_id}",
            help="Columns that are not to be learnt from: those that nobody would know beforehand.",
        )
        categories = widget_state.draw_widget(
            st.multiselect,
            "Numbers that stand for kinds",
            [name for name in numbers if name != target],
            key=f"numbers_kinds_{file.file_id}",
            help="As a postcode does: each value becomes a column of its own.",
        )
        group = widget_state.draw_widget(
            st.selectbox,
            "Group",
            ["", *others],
            format_func=lambda name: name or "None: rows are independent",
            key=f"numbers_group_{file.file_id}",
            help="Rows with the same value belong together, such as those of one patient. A group "
            "is never split between training and test, and intervals count groups.",
        )
        in_time_order = widget_state.draw_widget(
            st.checkbox,
            "Rows are in time order",
            key=f"numbers_time_{file.file_id}",
            help="The last rows are tested on and those before them held out; nothing is drawn.",
        )
    return SelectedTable(
        file_id=file.file_id,
        table=table,
        target=str(target),
        leave_out=tuple(left_out),
        categories=tuple(categories),
        group=str(group or ""),
        in_time_order=bool(in_time_order),
    )


def explain_missing_table() -> str:
    """What to do before training, if `select_table` returns None."""
    if tab.numeric_table and isinstance(tab.numeric_table[1], DecimalSignError):
        return "Choose the decimal sign of the table."
    return "Upload a table first, and choose what to predict."


def _load_uploaded_table(file: Any, decimal: str) -> RawTable | EnsembleError:
    """What the file holds, or why it cannot be taken; read once for each decimal sign."""
    key = file.file_id, decimal
    if tab.numeric_table is None or tab.numeric_table[0] != key:
        del tab.numeric_table
        with st.spinner("Reading …"):
            tab.numeric_table = key, _read_uploaded_table(file, decimal)
    return tab.numeric_table[1]


def _read_uploaded_table(file: Any, decimal: str) -> RawTable | EnsembleError:
    """As `_load_uploaded_table`, anew: by a copy on the disk, for columns are read from files."""
    try:
        exchange.check_import_size(file.size)
        data_folder().mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".table-", dir=data_folder()) as folder:
            copy = Path(folder) / "table"
            copy.write_bytes(file.getbuffer())
            return read_data_table(copy, file.name, decimal)
    except EnsembleError as error:
        return error


def prepare_selected_table(config: RegressionConfig, chosen: SelectedTable) -> PreparedTable:
    """The table as a run with these settings learns from it; what `prepare_numeric_table` raises.

    Kept for a while: sliders that do not change it move without it being made anew.
    """
    key = (
        *(chosen.file_id, chosen.table.chosen_decimal, chosen.target, chosen.leave_out, chosen.categories),
        *(chosen.group, chosen.in_time_order),
        *(config.split_seed, config.test, config.validation, config.batch_size, config.folds),
    )
    return _prepare_table(key, config, chosen)


@st.cache_resource(max_entries=_MAX_PREPARED_TABLES, show_spinner=False)
def _prepare_table(key: tuple[Any, ...], _config: RegressionConfig, _chosen: SelectedTable) -> PreparedTable:
    return prepare_numeric_table(
        _config,
        _chosen.table,
        target=_chosen.target,
        leave_out=_chosen.leave_out,
        as_categories=_chosen.categories,
        group=_chosen.group,
        in_time_order=_chosen.in_time_order,
    )
