"""The columns that the table of runs can have, and which of them a person has chosen."""

import dataclasses
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any

import streamlit as st

from ensemble.config import EnsembleConfig
from ensemble.settings import list_setting_fields
from ensemble.ui.shared import address, settings, widget_state
from ensemble.ui.shared.tab import tab
from ensemble.ui.sign_in import visitors
from ensemble.wording import formats
from ensemble.wording.verdicts import selection_basis as chosen_words

_ENSEMBLE_ACCURACY_HELP = "Share of test images that the averaged probabilities get right"
_REPORTED_EPOCH = "after the epoch chosen on validation images, else after the last"
_COLUMNS_KEY = "runs_columns"
_OWNER_COLUMN = "owner"
_FIRST_SETTINGS = {"members": ("Members", 67), "learning_rate": ("Rate", 62), "seed": ("Seed", 52)}


@dataclass(frozen=True)
class _RunColumn:
    """One column.

    Attributes:
      title: what stands over it.
      kind: "text", "number" (float64, NaN where there is none) or "when".
      width: in pixels.
      help: a line on what it is.
      formatter: how a number reads; None where that depends on the run.
      is_default: whether it is there until a person has chosen.
    """

    title: str
    kind: str = "text"
    width: int = 90
    help: str | None = None
    formatter: Callable[[float], str] | None = None
    is_default: bool = True


def format_signed_gain(gain: float) -> str:
    """A gain in images: "+18", "−1", "±0"."""
    return formats.format_image_difference(gain, "").strip().removesuffix(" s")


def _format_setting_number(value: float) -> str:
    """A setting's number: "0.05", "4", "4,096"."""
    return formats.format_plain_number(int(value) if value == int(value) else value)


def _build_run_setting_column(field: "dataclasses.Field[Any]") -> _RunColumn:
    title, width = _FIRST_SETTINGS.get(field.name, (settings.format_setting_title(field.name), 110))
    first = field.name in (*_FIRST_SETTINGS, "network", "momentum", "batch_size")
    if isinstance(field.default, str | bool):
        return _RunColumn(
            title=title, kind="text", width=width, help=field.metadata["help"], formatter=None, is_default=first
        )
    formatter = _format_seed if field.name == "seed" else _format_setting_number
    return _RunColumn(
        title=title, kind="number", width=width, help=field.metadata["help"], formatter=formatter, is_default=first
    )


def _format_seed(value: float) -> str:
    """A whole number that counts nothing: "2026"."""
    return f"{value:.0f}"


SETTING_COLUMNS = {
    field.name: _build_run_setting_column(field)
    for name in settings.MAIN_FIELDS + tuple(n for n in settings.RUN_FIELDS if n not in settings.MAIN_FIELDS)
    for field in list_setting_fields(EnsembleConfig)
    if field.name == name != "dataset"
}
# What tells runs apart comes first, then what they reached: a window of 400 pixels shows up to the
# accuracy, with nothing cut off. A name stands before them where a person gave one.
RUN_COLUMNS: dict[str, _RunColumn] = {
    "data": _RunColumn("Data", width=72, help="The dataset, or the column of a table that is predicted"),
    **{name: SETTING_COLUMNS[name] for name in _FIRST_SETTINGS},
    "accuracy": _RunColumn("Accuracy", "number", 78, f"{_ENSEMBLE_ACCURACY_HELP}, {_REPORTED_EPOCH}"),
    "gain": _RunColumn(
        "Gain",
        "number",
        58,
        f"How many more test images the ensemble gets right than its mean member, {_REPORTED_EPOCH}",
        format_signed_gain,
    ),
    "state": _RunColumn("State", width=78),
    "task": _RunColumn("Task", width=95, is_default=False),
    "rmse": _RunColumn(
        "RMSE",
        "number",
        70,
        f"Root mean squared error of predicted numbers on the test rows, in their unit, {_REPORTED_EPOCH}",
        formats.format_significant,
        is_default=False,
    ),
    "crps": _RunColumn(
        "CRPS",
        "number",
        70,
        f"Continuous ranked probability score of predicted numbers on the test rows, in their unit, {_REPORTED_EPOCH}",
        formats.format_significant,
        is_default=False,
    ),
    "name": _RunColumn("Name", width=250),
    "best": _RunColumn(
        "Best",
        "number",
        68,
        f"{_ENSEMBLE_ACCURACY_HELP}, at its best epoch: that of the lowest "
        f"validation NLL where the run has one, else {chosen_words.CHOSEN_ON_TEST}",
        is_default=False,
    ),
    "baseline": _RunColumn(
        "Baseline", width=80, help="The run that others on its data are compared with", is_default=False
    ),
    "nll": _RunColumn(
        "NLL",
        "number",
        70,
        "Negative log-likelihood of the test labels or targets under the "
        f"averaged probabilities or densities, mean in nats, {_REPORTED_EPOCH}: less is better",
        formats.format_significant,
    ),
    "ece": _RunColumn(
        "ECE",
        "number",
        75,
        f"Expected calibration error on the test images, {_REPORTED_EPOCH}, "
        "over 15 bins: how far confidence is from accuracy",
        formats.format_significant,
        is_default=False,
    ),
    "done": _RunColumn(
        "Done",
        width=150,
        help="How much of it, and how many epochs; for a queued run how many jobs come before it; "
        "for a run in groups how many of them are running",
    ),
    "last": _RunColumn("Last", "number", 75, f"{_ENSEMBLE_ACCURACY_HELP}, at its last epoch", is_default=False),
    "mean": _RunColumn("Mean member", "number", 110, f"The mean of the members' own accuracies, {_REPORTED_EPOCH}"),
    "time": _RunColumn("Time", "number", 90, "Time spent on training and testing", formats.format_duration),
    **{name: column for name, column in SETTING_COLUMNS.items() if name not in _FIRST_SETTINGS},
    "tags": _RunColumn("Tags", width=160, help="Words to find and compare runs by"),
    "settings": _RunColumn("Settings", width=300),
    "made": _RunColumn("Made", "when", 140),
    "note": _RunColumn("Note", width=200),
    _OWNER_COLUMN: _RunColumn("Owner", width=170, help="Who launched it: they and admins may change it"),
}
NAME_COLUMN = "name"  # always there


def _list_available_columns() -> list[str]:
    """The columns to choose from: on a machine of one's own every run is one's own."""
    return [name for name in RUN_COLUMNS if name != _OWNER_COLUMN or visitors.is_server_shared()]


def list_shown_columns(first: Collection[str] = (), named: bool = False) -> list[str]:
    """The columns that are shown, in their order: as the address says, else as this tab remembers."""
    address_names = [name for name in address.FIELDS.read() if name in _list_available_columns()]
    wanted = address_names or tab.runs_columns
    if wanted:
        tab.runs_columns = tuple(wanted)
        address.FIELDS.set_value(tuple(wanted))
    else:
        wanted = [name for name, column in RUN_COLUMNS.items() if column.is_default or name in first]
    shown = [name for name in _list_available_columns() if name == NAME_COLUMN or name in wanted]
    return sorted(shown, key=lambda name: name != NAME_COLUMN) if named else shown


def show_column_picker(names: list[str]) -> None:
    with st.popover("Columns", icon=":material/view_column:", type="tertiary"):
        wanted = [name for name in names if name != NAME_COLUMN]
        if set(widget_state.get_widget_value(_COLUMNS_KEY, ())) != set(
            wanted
        ):  # else what is pressed now would come back
            widget_state.set_widget_value(_COLUMNS_KEY, wanted)
        widget_state.draw_widget(
            st.pills,
            "Columns of the table",
            [name for name in _list_available_columns() if name != NAME_COLUMN],
            selection_mode="multi",
            format_func=lambda name: RUN_COLUMNS[name].title,
            key=_COLUMNS_KEY,
            on_change=_save_column_choice,
            help="Kept in this tab, and in the address for a link.",
        )
        st.button("The usual ones", key="runs_columns_usual", on_click=_reset_column_choice, type="tertiary")


def _save_column_choice() -> None:
    """Callback: the address and the tab follow the choice."""
    wanted = {NAME_COLUMN, *widget_state.get_widget_value(_COLUMNS_KEY)}
    tab.runs_columns = tuple(name for name in RUN_COLUMNS if name in wanted)
    address.FIELDS.set_value(tab.runs_columns)


def _reset_column_choice() -> None:
    """Callback: the columns that there are until a person has chosen."""
    del tab.runs_columns
    address.FIELDS.set_value(None)


def build_column_config(names: list[str]) -> dict[str, Any]:
    """How Streamlit is to show these columns; a run's id is with them and not seen."""
    kinds: dict[str, Callable[..., Any]] = {
        "text": st.column_config.TextColumn,
        "number": st.column_config.NumberColumn,
        "when": lambda *a, **more: st.column_config.DatetimeColumn(*a, format="D MMM YYYY, HH:mm", **more),
    }
    config: dict[str, Any] = {}
    for name in names:
        column = RUN_COLUMNS[name]
        pinned = {"pinned": True} if name == NAME_COLUMN == names[0] else {}
        config[name] = kinds[column.kind](column.title, width=column.width, help=column.help, **pinned)
    return {**config, "id": None}
