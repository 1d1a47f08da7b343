"""Many pictures at once: read one after another, each a row that opens it."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import streamlit as st

from ensemble.ui.classify.answer import loader
from ensemble.ui.classify.answer import overrule as answer_overrule
from ensemble.ui.classify.input import tray
from ensemble.ui.classify.state import Row, Source
from ensemble.ui.shared import widget
from ensemble.ui.shared.guard import guarded
from ensemble.ui.shared.tab import Tab, tab
from ensemble.wording import readings as readings_words

if TYPE_CHECKING:
    from ensemble.recognition.classifier import Classifier

KEY = "classify_files"
SECONDS = 0.8  # of reading between two drawings of the list
EVERY = 0.2
HIGH, ROW = 320, 35  # pixels: of the list at most, of a row
WAITING = Row("…", "", "Waiting to be read.")


def show(asked: Classifier, refuse: float) -> None:
    """The list, where there is more than one picture; it fills while the page can be used."""
    sources = tray.all_sources()
    if len(sources) < 2:
        return
    complete = len(known(asked, refuse, sources)) == len(sources)
    st.fragment(body, run_every=None if complete else EVERY)(asked, refuse, complete)


def known(asked: Classifier, refuse: float, sources: list[Source]) -> dict[str, Row]:
    """Rows that stand already, by the pictures' ids; reads for a while where some are missing."""
    place = loader.who(asked), refuse
    if tab.rows_of != place:
        tab.rows_of, tab.rows = place, {}
        del tab.rows_since
    kept = tab.rows
    words = {one.id: one.key + answer_overrule.of(one.id).word for one in sources}
    rows = {name: kept[name] for name in words if name in kept and kept[name][0] == words[name]}
    end = time.monotonic() + SECONDS
    for one in sources:
        if one.id not in rows:
            overrule = answer_overrule.of(one.id)
            rows[one.id] = words[one.id], loader.row(asked, one, overrule, refuse)
            if time.monotonic() > end:
                break
    tab.rows = rows
    return {name: row for name, (_, row) in rows.items()}


def body(asked: Classifier, refuse: float, complete: bool) -> None:
    """The inside of the list: goes on reading by itself until all of it is read."""
    with guarded():
        # A row that was selected is another picture for the whole page.
        if Tab.row_pressed.take():
            st.rerun()
        sources = tray.all_sources()
        rows = known(asked, refuse, sources)
        if len(rows) < len(sources):
            st.progress(len(rows) / len(sources), progress(len(rows), len(sources)))
        elif not complete:
            del tab.rows_since
            st.rerun()
        table(sources, rows)


def progress(done: int, of: int) -> str:
    """How many are read, and how long the others will take at the pace so far."""
    now = time.monotonic()
    tab.rows_since = since, before = tab.rows_since or (now, done)
    left = (now - since) / (done - before) * (of - done) if done - before >= 4 else 0.0
    return f"{done} of {of} read{readings_words.left(left)}"


def table(sources: list[Source], rows: dict[str, Row]) -> None:
    """One row a picture; names are text here, whatever stands in them."""
    import pandas as pd  # here, for the page opens without and only a list needs it

    from ensemble.ui.predictions import downloads

    here = tray.opened()
    each = [rows.get(one.id, WAITING) for one in sources]
    frame = pd.DataFrame(
        {
            "": ["▸" if here and one.id == here.id else "" for one in sources],
            "Picture": [one.name for one in sources],
            "Says": [row.said for row in each],
            "Sure": [row.sure for row in each],
            "Note": [row.note for row in each],
        }
    )
    st.dataframe(
        downloads.on_screen(frame),
        key=KEY,
        hide_index=True,
        height=min(HIGH, ROW * (len(sources) + 1) + 3),
        on_select=chosen,
        selection_mode="single-row",
        alt="Your pictures, what the ensemble says of each, and why not where it does not",
        column_config={
            "": st.column_config.TextColumn(width=20),
            "Picture": st.column_config.TextColumn(width=150),
            "Says": st.column_config.TextColumn(width=60),
            "Sure": st.column_config.TextColumn(width=80),
        },
    )


def chosen() -> None:
    """Callback: the row that is selected opens its picture."""
    places = widget.value(KEY).selection.rows
    sources = tray.all_sources()
    if places and places[0] < len(sources):
        tray.open_one(sources[places[0]].id)
        tab.row_pressed = True


def stepping(here: Source) -> None:
    """The picture's name, its neighbours, and the ways to let it or all go."""
    every = tray.all_sources()
    many = len(every) > 1
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
        if many:
            st.button(
                ":material/chevron_left:",
                key="classify_before",
                help="Picture before",
                on_click=tray.step,
                args=(-1,),
            )
            st.button(
                ":material/chevron_right:",
                key="classify_after",
                help="Picture after",
                on_click=tray.step,
                args=(1,),
            )
            place = next(n for n, one in enumerate(every) if one.id == here.id)
            st.caption(f"{place + 1} of {len(every)}", width="content")
        st.space("stretch")
        st.button(
            "Remove",
            key="classify_remove",
            type="tertiary",
            icon=":material/close:",
            on_click=tray.remove,
            args=(here.id,),
            help="Let this picture go.",
        )
        if many:
            st.button("Remove all", key="classify_clear", type="tertiary", on_click=tray.clear)
