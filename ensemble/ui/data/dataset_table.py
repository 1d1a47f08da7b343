"""The datasets there are: a row each, and what can be done with the one that is chosen."""

import pandas as pd
import streamlit as st

from ensemble import datasets
from ensemble.datasets import DatasetInfo
from ensemble.ui.data import dataset_actions
from ensemble.ui.predictions import downloads
from ensemble.ui.shared import address, widget_state
from ensemble.wording import escaping, formats

KEY, ROW_HEIGHT_PX, MAX_ROWS = "data_table", 35, 12


def show_datasets() -> None:
    every = datasets.list_dataset_infos()
    st.markdown(f"### {_describe_ready_datasets(every)}")
    _show_dataset_table(every)
    chosen = next((dataset for dataset in every if dataset.name == address.DATASET.read()), None)
    if chosen:
        dataset_actions.show_dataset_panel(chosen)
    elif wanted := address.DATASET.read():
        st.warning(
            escaping.escape_markdown(f"There is no dataset “{wanted:.40}”. It may have been removed: choose another."),
            icon=":material/link_off:",
        )
    else:
        st.caption("Choose a row to train on it, fetch it or remove it.")


def _describe_ready_datasets(every: list[DatasetInfo]) -> str:
    ready = sum(dataset.prepared for dataset in every)
    own = sum(dataset.own for dataset in every)
    sentence = f"{formats.format_count(ready, 'dataset')} {'is' if ready == 1 else 'are'} ready to train on"
    if own:
        return f"{sentence}, {own} of them your own"
    return sentence


def _show_dataset_table(every: list[DatasetInfo]) -> None:
    """The table; the row that is chosen stands in the address."""
    names = [dataset.name for dataset in every]
    wanted = address.DATASET.read()
    rows = [names.index(wanted)] if wanted in names else []
    # Rows are chosen by place: another list is another table.
    key = f"{KEY}_{len(names)}"
    widget_state.set_widget_value(key, {"selection": {"rows": rows, "columns": [], "cells": []}})
    frame = pd.DataFrame(
        {
            "Dataset": [dataset.title for dataset in every],
            "State": [_describe_dataset_state(dataset) for dataset in every],
            "To learn from": [dataset.train_size for dataset in every],
            "To test": [dataset.test_size for dataset in every],
            "Image": [_format_image_kind(dataset) for dataset in every],
            "Classes": [len(dataset.class_names) for dataset in every],
            "Where from": [dataset.source for dataset in every],
        }
    )
    text, number = st.column_config.TextColumn, st.column_config.NumberColumn
    st.dataframe(
        downloads.style_downloadable_table(frame),
        key=key,
        hide_index=True,
        selection_mode="single-row",
        on_select=lambda: _update_dataset_address(key, names),
        height=ROW_HEIGHT_PX * (min(len(names), MAX_ROWS) + 1) + 3,
        alt=f"{formats.format_count(len(names), 'dataset')} with sizes, classes and whether it is here",
        column_config={
            "Dataset": text(pinned=True, width=150),
            "State": text(width=110),
            "To learn from": number(width=100, format="localized"),
            "To test": number(width=80, format="localized"),
            "Image": text(width=110),
            "Classes": number(width=70),
            "Where from": text(width=420),
        },
    )


def _describe_dataset_state(info: DatasetInfo) -> str:
    if not info.prepared:
        return "damaged" if info.own else "not fetched yet"
    return "ready · yours" if info.own else "ready"


def _format_image_kind(info: DatasetInfo) -> str:
    """The size and kind of an image: "28×28 grey"."""
    height, width, channels = info.image_shape
    return f"{width}×{height} {'grey' if channels == 1 else 'colour'}"


def _update_dataset_address(key: str, names: list[str]) -> None:
    """Callback: the address follows the row."""
    rows = widget_state.get_widget_value(key).selection.rows
    address.DATASET.set_value(names[rows[0]] if rows and rows[0] < len(names) else None)
