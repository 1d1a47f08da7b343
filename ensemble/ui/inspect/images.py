"""Test images that a view of Inspect has come to: a page of them, each opens at a press."""

import zlib
from collections.abc import Callable, Sequence

import numpy as np
import streamlit as st

from ensemble.analysis.quality.averaging import Ints
from ensemble.ui.inspect.shared_epoch import SharedEpoch
from ensemble.ui.predictions import image_dialog, image_grid, predictions_view
from ensemble.ui.shared.tab import tab
from ensemble.views.parts import OtherImages


def reset_image_lists() -> None:
    """Said once before the views: no list of images stands on the screen yet."""
    tab.image_lists = {}


def show_image_page(
    shared: SharedEpoch,
    numbers: Ints,
    *,
    key: str,
    rows: int = 3,
    under: Callable[[int], Sequence[str]] | None = None,
    others: OtherImages | None = None,
) -> None:
    """A page of images with verdict and votes under each, and buttons to the other pages.

    Test images open at a press.

    Args:
      numbers: (K,), the images' numbers in the order to show them; none draws nothing.
      under: the lines under an image, from its number; None for the members' votes.
    """
    if not len(numbers):
        return
    if not others:
        tab.image_lists = {**tab.image_lists, key: numbers}
    size = rows * image_grid.get_grid_columns(key)
    count = -(-len(numbers) // size)
    place = min(_find_image_page(key, numbers), count - 1)
    page = numbers[place * size : (place + 1) * size]
    if others:
        image_grid.show_image_grid(
            others.load(page),
            others.predictions,
            numbers=np.searchsorted(others.numbers, page),
            names=shared.class_names,
            noun=shared.noun,
            on_open=None,
            key=key,
            under=(lambda at: under(int(others.numbers[at]))) if under else None,
            subject=others.subject,
            shown_numbers=page,
        )
    else:
        _show_test_image_grid(shared, page, key, under)
    if count > 1:
        _show_image_pager(key, place, size, len(numbers))


def _show_test_image_grid(
    shared: SharedEpoch, page: Ints, key: str, under: Callable[[int], Sequence[str]] | None
) -> None:
    image_grid.show_image_grid(
        shared.dataset.tiles[page],
        shared.predictions,
        numbers=page,
        names=shared.class_names,
        noun=shared.noun,
        on_open=lambda number: _open_pressed_image(key, number),
        key=key,
        under=under,
        details=shared.dataset.details,
        has_images=shared.dataset.images is not None,
    )


def _find_image_page(key: str, numbers: Ints) -> int:
    """The page that was turned to; the first where these are other images than before."""
    mark = zlib.crc32(np.ascontiguousarray(numbers).tobytes())
    if tab.listed_images_hash[key] != mark:
        tab.listed_images_hash[key], tab.images_page[key] = mark, 0
    return tab.images_page[key]


def _show_image_pager(key: str, place: int, size: int, total: int) -> None:
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        for step, label, icon in ((-1, "Previous", "chevron_left"), (1, "Next", "chevron_right")):
            st.button(
                f":material/{icon}:",
                key=f"{key}_{label.lower()}",
                help=f"{label} page",
                disabled=not 0 <= (place + step) * size < total,
                on_click=_turn_image_page,
                args=(key, place + step),
            )
        last = min(total, (place + 1) * size)
        st.caption(f"{place * size + 1:,}–{last:,} of {total:,}", width="content")


def _turn_image_page(key: str, place: int) -> None:
    """Callback: another page."""
    tab.images_page[key] = place


def _open_pressed_image(key: str, number: int) -> None:
    """Callback: the address names the image that was pressed; its neighbours are this list's."""
    tab.image_list_pressed = key
    predictions_view.update_predictions_view(digit=number)


def show_open_image(shared: SharedEpoch) -> None:
    """Said once after the views: the image that the address names stands open over the page."""
    number = predictions_view.read_predictions_view().digit
    if number is None or number >= shared.n:
        return
    lists, pressed = tab.image_lists, tab.image_list_pressed
    ordered_keys = sorted(lists, key=lambda key: key != pressed)
    holding = [lists[key] for key in ordered_keys if number in lists[key]]
    numbers = holding[0] if holding else np.array([number])
    place = f"{shared.run.id} · epoch {shared.epoch}"
    image_dialog.show_image_dialog(
        image_dialog.ImageDialogContext(
            predictions=shared.predictions,
            dataset=shared.dataset,
            numbers=numbers,
            noun=shared.noun,
            source=shared.source,
            file_stem=place,
            validation_source=shared.fitting,
        )
    )
