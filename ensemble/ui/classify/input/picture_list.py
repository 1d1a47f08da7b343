"""Many pictures at once: read one after another, each a row that opens it."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import streamlit as st

from ensemble.ui.classify.answer import list_accuracy, reading_cache
from ensemble.ui.classify.answer import overrides as answer_overrule
from ensemble.ui.classify.input import tab_pictures
from ensemble.ui.classify.state import InputPicture, ReadingRow
from ensemble.ui.shared import widget_state
from ensemble.ui.shared.guard import guard_page
from ensemble.ui.shared.tab import Tab, tab
from ensemble.wording import readings as readings_words

if TYPE_CHECKING:
    from ensemble.recognition.classifier import Classifier

KEY = "classify_files"
_READING_SLICE_S = 0.8  # of reading between two drawings of the list
POLL_INTERVAL_S = 0.2
MAX_HEIGHT_PX, ROW_HEIGHT_PX = 320, 35  # pixels: of the list at most, of a row
_UNREAD_ROW = ReadingRow("…", "", "Waiting to be read.")


def show_picture_list(classifier: Classifier, refuse: float) -> None:
    """The list, where there is more than one picture; it fills while the page can be used."""
    sources = tab_pictures.list_tab_pictures()
    if len(sources) < 2:
        return
    complete = len(_collect_picture_rows(classifier, refuse, sources)) == len(sources)
    st.fragment(_refresh_picture_list, run_every=None if complete else POLL_INTERVAL_S)(classifier, refuse, complete)


def _collect_picture_rows(classifier: Classifier, refuse: float, sources: list[InputPicture]) -> dict[str, ReadingRow]:
    """Rows that stand already, by the pictures' ids; reads for a while where some are missing."""
    place = reading_cache.identify_classifier(classifier), refuse
    if tab.rows_source != place:
        tab.rows_source, tab.rows = place, {}
        del tab.rows_reading_start
    kept = tab.rows
    words = {picture.id: picture.key + answer_overrule.find_overrides(picture.id).cache_key for picture in sources}
    rows = {name: kept[name] for name in words if name in kept and kept[name][0] == words[name]}
    end = time.monotonic() + _READING_SLICE_S
    for source in sources:
        if source.id not in rows:
            overrule = answer_overrule.find_overrides(source.id)
            rows[source.id] = (words[source.id], reading_cache.read_picture_row(classifier, source, overrule, refuse))
            if time.monotonic() > end:
                break
    tab.rows = rows
    return {name: row for name, (_, row) in rows.items()}


def _refresh_picture_list(classifier: Classifier, refuse: float, complete: bool) -> None:
    """The inside of the list: goes on reading by itself until all of it is read."""
    with guard_page():
        # A row that was selected is another picture for the whole page.
        if Tab.row_pressed.pop():
            st.rerun()
        sources = tab_pictures.list_tab_pictures()
        rows = _collect_picture_rows(classifier, refuse, sources)
        if len(rows) < len(sources):
            st.progress(len(rows) / len(sources), describe_reading_progress(len(rows), len(sources)))
        elif not complete:
            del tab.rows_reading_start
            st.rerun()
        _show_picture_table(sources, rows)
        if len(rows) == len(sources):
            list_accuracy.show_accuracy_estimate(classifier, list(rows.values()))


def describe_reading_progress(done: int, total: int) -> str:
    now = time.monotonic()
    tab.rows_reading_start = since, before = tab.rows_reading_start or (now, done)
    left = (now - since) / (done - before) * (total - done) if done - before >= 4 else 0.0
    return f"{done} of {total} read{readings_words.format_remaining_time(left)}"


def _show_picture_table(sources: list[InputPicture], rows: dict[str, ReadingRow]) -> None:
    """One row a picture; names are text here, whatever stands in them."""
    import pandas as pd  # here, for the page opens without and only a list needs it

    from ensemble.ui.predictions import downloads

    here = tab_pictures.find_open_picture()
    each = [rows.get(source.id, _UNREAD_ROW) for source in sources]
    frame = pd.DataFrame(
        {
            "": ["▸" if here and source.id == here.id else "" for source in sources],
            "Picture": [source.name for source in sources],
            "Says": [row.answer for row in each],
            "Sure": [row.confidence for row in each],
            "Note": [row.note for row in each],
        }
    )
    st.dataframe(
        downloads.style_downloadable_table(frame),
        key=KEY,
        hide_index=True,
        height=min(MAX_HEIGHT_PX, ROW_HEIGHT_PX * (len(sources) + 1) + 3),
        on_select=_open_selected_picture,
        selection_mode="single-row",
        alt="Your pictures, the ensemble's answer to each, and the reason where it gives none",
        column_config={
            "": st.column_config.TextColumn(width=20),
            "Picture": st.column_config.TextColumn(width=150),
            "Says": st.column_config.TextColumn(width=60),
            "Sure": st.column_config.TextColumn(width=80),
        },
    )


def _open_selected_picture() -> None:
    """Callback: the row that is selected opens its picture."""
    places = widget_state.get_widget_value(KEY).selection.rows
    sources = tab_pictures.list_tab_pictures()
    if places and places[0] < len(sources):
        tab_pictures.open_tab_picture(sources[places[0]].id)
        tab.row_pressed = True


def show_picture_navigation(here: InputPicture) -> None:
    every = tab_pictures.list_tab_pictures()
    many = len(every) > 1
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
        if many:
            st.button(
                ":material/chevron_left:",
                key="classify_before",
                help="Picture before",
                on_click=tab_pictures.open_adjacent_picture,
                args=(-1,),
            )
            st.button(
                ":material/chevron_right:",
                key="classify_after",
                help="Picture after",
                on_click=tab_pictures.open_adjacent_picture,
                args=(1,),
            )
            place = next(n for n, picture in enumerate(every) if picture.id == here.id)
            st.caption(f"{place + 1} of {len(every)}", width="content")
        st.space("stretch")
        st.button(
            "Remove",
            key="classify_remove",
            type="tertiary",
            icon=":material/close:",
            on_click=tab_pictures.remove_tab_picture,
            args=(here.id,),
            help="Remove this picture.",
        )
        if many:
            st.button("Remove all", key="classify_clear", type="tertiary", on_click=tab_pictures.clear_tab_pictures)
