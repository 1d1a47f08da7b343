"""Test images that a view of Inspect has come to: a page of them, each opens at a press."""

import zlib
from collections.abc import Callable, Sequence

import numpy as np
import streamlit as st

from ensemble.analysis.quality.averaging import Ints
from ensemble.ui.inspect.shared_epoch import SharedEpoch
from ensemble.ui.predictions import address, detail, grid
from ensemble.ui.shared.tab import tab


def begin() -> None:
    """Said once before the views: no list of images stands on the screen yet."""
    tab.image_lists = {}


def show(
    shown: SharedEpoch,
    numbers: Ints,
    *,
    key: str,
    rows: int = 3,
    under: Callable[[int], Sequence[str]] | None = None,
) -> None:
    """A page of images with verdict and votes under each, and buttons to the other pages.

    Args:
      shown: the run's epoch.
      numbers: (K,), the images' numbers in the order to show them; none draws nothing.
      key: the grid's own key on this screen.
      rows: how many rows of images to a page.
      under: the lines under an image, from its number; None for the members' votes.
    """
    if not len(numbers):
        return
    tab.image_lists = {**tab.image_lists, key: numbers}
    size = rows * grid.columns(key)
    count = -(-len(numbers) // size)
    place = min(page_of(key, numbers), count - 1)
    page = numbers[place * size : (place + 1) * size]
    grid.grid(
        shown.dataset.tiles[page],
        shown.predictions,
        page,
        shown.class_names,
        shown.noun,
        lambda number: opened(key, number),
        key=key,
        under=under,
    )
    if count > 1:
        pager(key, place, size, len(numbers))


def page_of(key: str, numbers: Ints) -> int:
    """The page that was turned to; the first where these are other images than before."""
    mark = zlib.crc32(np.ascontiguousarray(numbers).tobytes())
    if tab.images_of[key] != mark:
        tab.images_of[key], tab.images_page[key] = mark, 0
    return tab.images_page[key]


def pager(key: str, place: int, size: int, total: int) -> None:
    """Buttons to the page before and after, and which images these are."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        for step, label, icon in ((-1, "Previous", "chevron_left"), (1, "Next", "chevron_right")):
            st.button(
                f":material/{icon}:",
                key=f"{key}_{label.lower()}",
                help=f"{label} page",
                disabled=not 0 <= (place + step) * size < total,
                on_click=turn,
                args=(key, place + step),
            )
        last = min(total, (place + 1) * size)
        st.caption(f"{place * size + 1:,}–{last:,} of {total:,}", width="content")


def turn(key: str, place: int) -> None:
    """Callback: another page."""
    tab.images_page[key] = place


def opened(key: str, number: int) -> None:
    """Callback: the address names the image that was pressed; its neighbours are this list's."""
    tab.image_list_pressed = key
    address.put(digit=number)


def end(shown: SharedEpoch) -> None:
    """Said once after the views: the image that the address names stands open over the page."""
    number = address.read().digit
    if number is None or number >= shown.n:
        return
    lists, pressed = tab.image_lists, tab.image_list_pressed
    asked = sorted(lists, key=lambda key: key != pressed)
    holding = [lists[key] for key in asked if number in lists[key]]
    numbers = holding[0] if holding else np.array([number])
    place = f"{shown.run.id} · epoch {shown.epoch}"
    detail.show(
        detail.Shown(
            shown.predictions,
            shown.dataset,
            numbers,
            shown.noun,
            shown.source,
            place,
            shown.fitting,
        )
    )
