"""The columns that the table of runs can have, and which of them a person has chosen."""

import dataclasses
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any

import streamlit as st

from ensemble.config import EnsembleConfig
from ensemble.settings import setting_fields
from ensemble.ui.shared import address, settings, widget
from ensemble.ui.shared.tab import tab
from ensemble.ui.sign_in import visitors
from ensemble.wording import formats
from ensemble.wording.verdicts import chosen as chosen_words

ENSEMBLE = "Share of the test images that the averaged probabilities get right"
KEY = "runs_columns"
OWNER = "owner"


@dataclass(frozen=True)
class Column:
    """One column.

    Attributes:
      title: what stands over it.
      kind: "text", "number" (float64, NaN where there is none) or "when".
      width: in pixels.
      help: a line on what it is.
      said: how a number reads; None where that depends on the run.
      first: whether it is there until a person has chosen.
    """

    title: str
    kind: str = "text"
    width: int = 90
    help: str | None = None
    said: Callable[[float], str] | None = None
    first: bool = True


def signed(gain: float) -> str:
    """A gain in images: "+18", "−1", "±0"."""
    return formats.digits(gain, "").strip().removesuffix(" s")


def number(value: float) -> str:
    """A setting's number: "0.05", "4", "4,096"."""
    return formats.plain(int(value) if value == int(value) else value)


def of_setting(field: "dataclasses.Field[Any]") -> Column:
    """The column of a setting."""
    title = settings.label(field.name)
    first = field.name in ("network", "members", "learning_rate", "momentum", "batch_size")
    if isinstance(field.default, str | bool):
        return Column(title, "text", 110, field.metadata["help"], None, first)
    said = str_of_whole if field.name == "seed" else number
    return Column(title, "number", 110, field.metadata["help"], said, first)


def str_of_whole(value: float) -> str:
    """A whole number that counts nothing: "2026"."""
    return f"{value:.0f}"


OF_SETTINGS = {
    field.name: of_setting(field)
    for name in settings.MAIN + tuple(n for n in settings.FIELDS if n not in settings.MAIN)
    for field in setting_fields(EnsembleConfig)
    if field.name == name != "dataset"
}
# What a run reached stands before what it was set to: a window of 400 pixels shows up to the
# accuracy, with nothing cut off.
COLUMNS: dict[str, Column] = {
    "name": Column("Name", width=184),
    "state": Column("State", width=78),
    "best": Column(
        "Best",
        "number",
        68,
        f"{ENSEMBLE}, at its best epoch: that of the lowest "
        f"validation NLL where the run has one, else {chosen_words.ON_TEST}",
    ),
    "gain": Column(
        "Gain",
        "number",
        58,
        "How many more test images the ensemble gets right than its mean member, at the last epoch",
        signed,
    ),
    "baseline": Column(
        "Baseline", width=80, help="The run that others on its data are compared with", first=False
    ),
    "nll": Column(
        "NLL",
        "number",
        70,
        "Negative log-likelihood of the test labels under the "
        "averaged probabilities, mean in nats, at the last epoch: less is better",
        formats.significant,
    ),
    "ece": Column(
        "ECE",
        "number",
        75,
        "Expected calibration error on the test images at the last "
        "epoch, over 15 bins: how far confidence is from accuracy",
        formats.significant,
        first=False,
    ),
    "done": Column(
        "Done",
        width=150,
        help="How much of it, or how many epochs; of one that waits, "
        "how many jobs come before it; of one in groups how many of them work",
    ),
    "last": Column("Last", "number", 75, f"{ENSEMBLE}, at its last epoch"),
    "mean": Column(
        "Mean member", "number", 110, "The mean of the members' own accuracies at the last epoch"
    ),
    "time": Column("Time", "number", 90, "Spent on training and testing", formats.duration),
    "data": Column("Data", width=110),
    **OF_SETTINGS,
    "tags": Column("Tags", width=160, help="Words to find and compare runs by"),
    "settings": Column("Settings", width=300),
    "made": Column("Made", "when", 140),
    "note": Column("Note", width=200),
    OWNER: Column("Owner", width=170, help="Who launched it: they and admins may change it"),
}
ALWAYS = "name"


def there_are() -> list[str]:
    """The columns to choose from: on a machine of one's own every run is one's own."""
    return [name for name in COLUMNS if name != OWNER or visitors.is_shared()]


def chosen(first: Collection[str] = ()) -> list[str]:
    """The columns that are shown, in their order: as the address says, else as this tab remembers.

    Args:
      first: columns to show beside the usual ones until a person has chosen.
    """
    asked = [name for name in address.FIELDS.read() if name in there_are()]
    wanted = asked or tab.runs_columns
    if wanted:
        tab.runs_columns = tuple(wanted)
        address.FIELDS.put(tuple(wanted))
    else:
        wanted = [name for name, one in COLUMNS.items() if one.first or name in first]
    return [name for name in there_are() if name == ALWAYS or name in wanted]


def choice(shown: list[str]) -> None:
    """The way to other columns than those that are shown."""
    with st.popover("Columns", icon=":material/view_column:", type="tertiary"):
        wanted = [name for name in shown if name != ALWAYS]
        if set(widget.value(KEY, ())) != set(wanted):  # else what is pressed now would come back
            widget.put(KEY, wanted)
        st.pills(
            "Columns of the table",
            [name for name in there_are() if name != ALWAYS],
            selection_mode="multi",
            format_func=lambda name: COLUMNS[name].title,
            key=KEY,
            default=widget.held(KEY),
            on_change=choose,
            help="Kept in this tab, and in the address for a link.",
        )
        st.button("The usual ones", key="runs_columns_usual", on_click=usual, type="tertiary")


def choose() -> None:
    """Callback: the address and the tab follow the choice."""
    wanted = {ALWAYS, *widget.value(KEY)}
    tab.runs_columns = tuple(name for name in COLUMNS if name in wanted)
    address.FIELDS.put(tab.runs_columns)


def usual() -> None:
    """Callback: the columns that there are until a person has chosen."""
    del tab.runs_columns
    address.FIELDS.put(None)


def config(shown: list[str]) -> dict[str, Any]:
    """How Streamlit is to show these columns; a run's id is with them and not seen."""
    kinds: dict[str, Callable[..., Any]] = {
        "text": st.column_config.TextColumn,
        "number": st.column_config.NumberColumn,
        "when": lambda *a, **more: st.column_config.DatetimeColumn(
            *a, format="D MMM YYYY, HH:mm", **more
        ),
    }
    found: dict[str, Any] = {}
    for name in shown:
        one = COLUMNS[name]
        pinned = {"pinned": True} if name == ALWAYS else {}
        found[name] = kinds[one.kind](one.title, width=one.width, help=one.help, **pinned)
    return {**found, "id": None}
