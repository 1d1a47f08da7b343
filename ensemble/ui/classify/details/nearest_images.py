"""The test digits nearest to a mark, as the members see it, and which of them they confuse."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from ensemble.analysis.predictions import evaluate_predictions
from ensemble.analysis.quality.averaging import Ints
from ensemble.errors import EnsembleError
from ensemble.figures import palette, thumbnails
from ensemble.recognition.nearest_neighbors import NearestNeighbors
from ensemble.ui.classify.answer.classified_mark import ClassifiedMark
from ensemble.ui.predictions import downloads, image_grid, loader, predictions_view, validation_source
from ensemble.ui.predictions import image_dialog as predictions_detail
from ensemble.ui.shared import guard, loaders, widget_state
from ensemble.wording import escaping
from ensemble.wording import images as images_words
from ensemble.wording.formats import pluralize_noun
from ensemble.wording.run_names import format_run_name
from ensemble.wording.verdicts import ensemble_gain as inspect_words

_NEIGHBOR_COUNT = 12
_DISTANCE_HELP = (
    "Near means alike in the members' features, the output of their last layer but one; the "
    "distances are averaged over the members."
)


def show_nearest_images(mark: ClassifiedMark) -> None:
    """What the nearest test digits are, and they themselves; each opens at a press."""
    nearest_images = _load_nearest_images(mark)
    noun = mark.noun
    st.markdown(
        escaping.escape_markdown(describe_nearest_images(nearest_images, mark.names, noun)), help=_DISTANCE_HELP
    )
    image_grid.register_image_grid()(
        data={
            "strip": thumbnails.encode_image_strip(nearest_images.images),
            "image": image_grid.compute_tile_layout(nearest_images.images.shape[1:]),
            "label": f"{len(nearest_images.numbers)} nearest test {pluralize_noun(noun)}: arrow keys move, Enter opens",
            "wide": max(map(len, mark.names)) > 1,
            "colors": {"right": palette.RIGHT_COLOR, "wrong": palette.WRONG_COLOR},
            "tiles": [
                build_neighbor_tile(nearest_images, place, mark.names, noun)
                for place in range(len(nearest_images.numbers))
            ],
        },
        key="classify_neighbours",
        on_opened_change=_open_pressed_neighbor,
        on_columns_change=lambda: None,
    )
    st.download_button(
        "Figures (CSV)",
        lambda: downloads.encode_table_csv(tabulate_nearest_images(nearest_images, mark.names)),
        f"{mark.file_stem}-nearest.csv",
        "text/csv",
        icon=":material/table:",
        key="classify_neighbours_csv",
        on_click="ignore",
        help="Number in the test set, label, distance and each member's vote.",
    )
    _show_neighbor_detail(mark, nearest_images.numbers, noun)


def _load_nearest_images(mark: ClassifiedMark) -> NearestNeighbors:
    image = mark.image
    return _find_nearest_images(mark.run.id, mark.epoch, image.tobytes(), image.shape, mark.classifier)


# Twelve images of 784 bytes each; of 150 kB where they are large and in colour.
@st.cache_resource(max_entries=64, show_spinner="Looking for similar ones")
def _find_nearest_images(
    run_id: str, epoch: int, image: bytes, shape: tuple[int, ...], _classifier: Any
) -> NearestNeighbors:
    pixels = np.frombuffer(image, np.uint8).reshape(shape)
    nearest_neighbors: NearestNeighbors = _classifier.find_nearest_neighbors(pixels, _NEIGHBOR_COUNT)
    return nearest_neighbors


def _compute_confusion_mask(neighbors: NearestNeighbors) -> np.ndarray:
    """(K,), where not all members say what it is."""
    return np.asarray((neighbors.votes != neighbors.labels).any(axis=0))


def describe_nearest_images(neighbors: NearestNeighbors, names: Sequence[str], noun: str) -> str:
    counts = np.bincount(neighbors.labels, minlength=len(names))
    order = [int(c) for c in np.argsort(-counts, kind="stable") if counts[c]]
    K, wrong = len(neighbors.labels), int(_compute_confusion_mask(neighbors).sum())
    if len(order) == 1:
        sentence = f"All {K} test {pluralize_noun(noun)} nearest to it are {names[order[0]]}"
    else:
        each = [f"{names[c]} {_format_occurrences(int(counts[c]))}" for c in order]
        sentence = f"The {K} test {pluralize_noun(noun)} nearest to it are {', '.join(each[:-1])} and {each[-1]}"
    if len(neighbors.votes) == 1:
        return f"{sentence}; the one member gets {f'{wrong} of them wrong' if wrong else 'all right'}."
    return f"{sentence}; members confuse {f'{wrong} of them' if wrong else 'none of them'}."


def _format_occurrences(count: int) -> str:
    """How often, in words: beside a digit a figure would be taken for one."""
    return {1: "once", 2: "twice"}.get(count, f"{inspect_words.spell_number(count)} times")


def build_neighbor_tile(neighbors: NearestNeighbors, place: int, names: Sequence[str], noun: str) -> dict[str, Any]:
    """One of them for the grid, as on other screens: what is said of it, and who disagrees."""
    number = int(neighbors.numbers[place])
    # Only votes are known of it: whoever votes for a class is taken for sure of it.
    predictions = evaluate_predictions(np.eye(len(names))[neighbors.votes], neighbors.labels)
    votes = images_words.format_votes(predictions, place, names)
    return image_grid.build_image_tile(predictions, place, names, noun) | {
        "number": number,
        "sure": "confused" if _compute_confusion_mask(neighbors)[place] else "",
        "alt": f"Test {noun} {number}, which is {names[neighbors.labels[place]]}; votes: {votes}",
    }


def _open_pressed_neighbor() -> None:
    """Callback: the address names the test digit that was pressed."""
    number = widget_state.get_widget_value("classify_neighbours").get("opened")
    if number is not None:
        predictions_view.update_predictions_view(digit=int(number))


def _show_neighbor_detail(mark: ClassifiedMark, numbers: Ints, noun: str) -> None:
    number = predictions_view.read_predictions_view().digit
    if number is None or number not in numbers:
        return
    try:
        test_predictions = loader.load_test_predictions(mark.run, mark.epoch)
    except EnsembleError as error:
        guard.show_error_message(error)
        return
    dataset = loaders.load_run_test_set(mark.run)
    source, place = (f"{name} · epoch {mark.epoch}" for name in (format_run_name(mark.run), mark.run.id))
    predictions_detail.show_image_dialog(
        predictions_detail.ImageDialogContext(
            predictions=test_predictions,
            dataset=dataset,
            numbers=numbers,
            noun=noun,
            source=source,
            file_stem=place,
            validation_source=validation_source.find_validation_source(mark.run, mark.epoch),
        )
    )


def tabulate_nearest_images(neighbors: NearestNeighbors, names: Sequence[str]) -> pd.DataFrame:
    """A row for each: its number, label, distance and the members' votes."""
    named = np.asarray(names, object)
    frame = pd.DataFrame(
        {"number": neighbors.numbers, "label": named[neighbors.labels], "distance": neighbors.distances}
    )
    for m, votes in enumerate(neighbors.votes):
        frame[f"member_{m + 1}"] = named[votes]
    return frame
