"""Many test images as one composed picture, in tiles that open at a click or a key.

A component of our own: Streamlit's images are one element each and cannot be pressed, and
Vega-Lite smooths what it enlarges. Here one strip of pixels is drawn with nearest neighbour,
each tile is a button with its words under it, and as many come on a page as fit its width.
"""

import functools
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import streamlit as st

from ensemble.analysis.predictions import EnsemblePredictions
from ensemble.analysis.quality.averaging import Ints
from ensemble.datasets.example_details import NO_DETAILS, ExampleDetails
from ensemble.figures import palette, thumbnails
from ensemble.ui.frame.chart_component import read_shared_script
from ensemble.ui.shared import widget_state
from ensemble.ui.shared.tab import tab
from ensemble.wording import formats
from ensemble.wording import images as images_words
from ensemble.wording.formats import pluralize_noun

GRID_KEY = "digits_grid"
MAX_TILE_NAME = 24  # letters
_MIN_PAGE_IMAGES, _MAX_PAGE_IMAGES, _PAGE_ROWS = 24, 60, 5


def count_page_images() -> int:
    """How many images come on a page in this tab: whole rows, 24 to 60."""
    return compute_page_size(get_grid_columns(GRID_KEY))


def get_grid_columns(key: str) -> int:
    return tab.grid_columns[key]


def compute_page_size(columns: int) -> int:
    """Whole rows of `get_grid_columns` images: five where that makes 24 to 60 images."""
    return columns * min(max(_PAGE_ROWS, -(-_MIN_PAGE_IMAGES // columns)), max(1, _MAX_PAGE_IMAGES // columns))


def show_image_grid(
    images: thumbnails.Pixels,
    predictions: EnsemblePredictions,
    numbers: Ints,
    names: Sequence[str],
    noun: str,
    on_open: Callable[[int], None] | None,
    key: str = GRID_KEY,
    under: Callable[[int], Sequence[str]] | None = None,
    details: ExampleDetails = NO_DETAILS,
    has_images: bool = True,
    subject: str = "",
    shown_numbers: Ints | None = None,
) -> None:
    """Draw the images of one page.

    Args:
      images: uint8 (K, H, W, channels), the images on screen and no others.
      on_open: called with an image's number when it is pressed; None where nothing opens.
      under: the lines under an image, from its number; None for the members' votes.
      has_images: whether there are images; else what is known of each stands in its tile.
    """
    subject = subject or f"test {noun}"
    shown_numbers = numbers if shown_numbers is None else shown_numbers
    keys = "arrow keys move, Enter opens" if on_open else "arrow keys move"
    register_image_grid()(
        data={
            "strip": thumbnails.encode_image_strip(images),
            "image": compute_tile_layout(images.shape[1:]),
            "columns": get_grid_columns(key),
            "label": f"{len(numbers)} {pluralize_noun(subject)}: {keys}",
            "wide": max(map(len, names)) > 1,
            "colors": {"right": palette.RIGHT_COLOR, "wrong": palette.WRONG_COLOR},
            "tiles": [
                build_image_tile(
                    predictions,
                    number,
                    names=names,
                    noun=noun,
                    example_name=details.describe_example(int(number)),
                    title=f"{subject[:1].upper()}{subject[1:]} {shown}",
                )
                | (_build_tile_lines(under(int(number))) if under else {})
                | ({} if has_images else {"card": details.describe_tile(int(number))})
                for number, shown in zip(numbers, shown_numbers, strict=True)
            ],
        },
        key=key,
        on_opened_change=lambda: _open_pressed_tile(key, on_open),
        on_columns_change=lambda: _update_grid_columns(key),
    )


def compute_tile_layout(shape: Sequence[int]) -> dict[str, Any]:
    """Where an image (H, W, …) stands in its square of 84 pixels: in the middle, for the scripts.

    `step` is how far one image of the strip is from the next, in pixels of the screen.
    """
    wide, high = thumbnails.compute_display_size(shape, thumbnails.THUMBNAIL_SIZE)
    beside, above = thumbnails.THUMBNAIL_SIZE - wide, thumbnails.THUMBNAIL_SIZE - high
    left, top = beside // 2, above // 2
    padding = f"{top}px {beside - left}px {above - top}px {left}px"
    style = {"width": f"{wide}px", "height": f"{high}px", "padding": padding, "backgroundSize": f"auto {high}px"}
    return {"step": wide, "style": style}


def build_image_tile(
    predictions: EnsemblePredictions,
    number: int,
    names: Sequence[str],
    noun: str,
    example_name: str = "",
    title: str = "",
) -> dict[str, Any]:
    """One image's words for the component.

    Args:
      title: "Training digit 12", where it is not the test image of that number.
    """
    called = f", {example_name}" if example_name else ""
    sure = formats.format_probability(predictions.confidence[number])
    return {
        "number": int(number),
        "right": bool(predictions.right[number]),
        "verdict": images_words.format_image_verdict(predictions, number, names),
        "sure": sure,
        "listed": images_words.can_list_votes(predictions, names),
        "votes": _list_tile_votes(predictions, number, names),
        "name": _shorten_example_name(example_name),
        "alt": f"{title or f'Test {noun} {number}'}{called}. "
        f"{images_words.describe_image_prediction(predictions, number, names)}",
    }


def _shorten_example_name(name: str) -> str:
    """A name as it fits under a tile: the end of it, which tells files of one folder apart."""
    return name if len(name) <= MAX_TILE_NAME else f"…{name[1 - MAX_TILE_NAME :]}"


def _build_tile_lines(texts: Sequence[str]) -> dict[str, Any]:
    return {"listed": False, "votes": [(text, False) for text in texts]}


def _list_tile_votes(predictions: EnsemblePredictions, number: int, names: Sequence[str]) -> list[tuple[str, bool]]:
    """The votes under an image, each with whether it is against the ensemble; one has none."""
    if predictions.members == 1:
        return []
    if not images_words.can_list_votes(predictions, names):
        return [(text, False) for text in images_words.format_vote_lines(predictions, number, names)]
    answer = int(predictions.said[number])
    return [(text, vote != answer) for vote, text in images_words.list_vote_texts(predictions, number, names)]


def _open_pressed_tile(key: str, on_open: Callable[[int], None] | None) -> None:
    if on_open is None:
        return
    number = widget_state.get_widget_value(key).get("opened")
    if number is not None:
        on_open(int(number))


def _update_grid_columns(key: str) -> None:
    fit = widget_state.get_widget_value(key).get("columns")
    if fit:
        tab.grid_columns[key] = max(1, min(_MAX_PAGE_IMAGES, int(fit)))


@functools.cache
def register_image_grid() -> Any:
    folder = Path(__file__).parent / "js"
    return st.components.v2.component(
        "ensemble_digits_grid",
        html='<div class="digits" role="group"></div>',
        css=(folder / "grid.css").read_text(),
        js=f"{read_shared_script('rest.js')}\n{(folder / 'grid.js').read_text('utf-8')}",
    )
