"""The test images that the members dispute most after the newest epoch, each a way to its votes."""

from typing import Any
from urllib.parse import urlencode

import streamlit as st

from ensemble import runs
from ensemble.analysis.predictions import EnsemblePredictions, filter_examples, sort_examples
from ensemble.errors import DataError, RunError
from ensemble.ui.shared import address, loaders
from ensemble.ui.train import history
from ensemble.wording import images as images_words
from ensemble.wording.formats import pluralize_noun

_MAX_DISPUTED_IMAGES = 12


def load_disputed_images(run: runs.Run, rows: list[dict[str, Any]]) -> dict[str, Any] | None:
    """The most disputed images for the component, or a `note` in their place; None for one member."""
    if run.config.members == 1:
        return None
    names = run.data.class_names
    listed = images_words.can_list_member_count(run.config.members, names)
    # The room that votes take: the same from the first look on.
    room = {"lines": 1 if listed else images_words.MAX_VOTE_LINES}
    return room | _load_latest_disputed(run, history.find_reported_epoch_row(run, rows), run.data.noun)


def _load_latest_disputed(run: runs.Run, last: dict[str, Any] | None, noun: str) -> dict[str, Any]:
    if last is None:
        return {"note": f"Disputed {pluralize_noun(noun)} appear here after the first epoch."}
    epoch = last["epoch"]
    file_version = loaders.get_file_version(run.path / "predictions" / f"epoch-{epoch:04d}.npz")
    if file_version == (0, 0):
        return {"note": f"The members' answers after epoch {epoch} is not kept."}
    try:
        return _build_disputed_strip(run.id, epoch, file_version, noun, run)
    except (RunError, DataError) as error:
        return {"note": str(error)}


# Small: a strip of twelve thumbnails and their words, not the predictions that they are made of.
@st.cache_resource(max_entries=8, show_spinner=False)
def _build_disputed_strip(
    run_id: str, epoch: int, version: tuple[int, int], noun: str, _run: runs.Run
) -> dict[str, Any]:
    # Here, for the first curves come before any of it.
    from ensemble.figures import thumbnails
    from ensemble.ui.predictions import image_grid, loader

    predictions = loader.load_uncached_predictions(_run, epoch)
    numbers = sort_examples(predictions, filter_examples(predictions, "split"), "split")[:_MAX_DISPUTED_IMAGES]
    if not len(numbers):
        return {"note": f"After epoch {epoch} the members agree about every test {noun}."}
    images = loaders.load_run_test_set(_run)
    return {
        "heading": f"Most disputed after epoch {epoch}: press a {noun} for its votes",
        "strip": thumbnails.encode_image_strip(images.tiles[numbers]),
        "image": image_grid.compute_tile_layout(images.tiles.shape[1:]),
        "tiles": [
            _build_votes_tile(
                run_id, epoch, predictions=predictions, number=number, names=images.class_names, noun=noun
            )
            for number in numbers.tolist()
        ],
    }


def _build_votes_tile(
    run_id: str, epoch: int, predictions: EnsemblePredictions, number: int, names: tuple[str, ...], noun: str
) -> dict[str, Any]:
    if images_words.can_list_votes(predictions, names):
        answer = int(predictions.said[number])
        lines = [[(text, vote != answer) for vote, text in images_words.list_vote_texts(predictions, number, names)]]
    else:
        lines = [[(text, False)] for text in images_words.format_vote_lines(predictions, number, names)]
    return {
        "pressed": f"{epoch} {number}",
        "href": f"predictions?{urlencode(_build_votes_query(run_id, epoch, number))}",
        "right": bool(predictions.right[number]),
        "verdict": images_words.format_image_verdict(predictions, number, names),
        "votes": lines,
        "alt": f"Test {noun} {number}. {images_words.describe_image_prediction(predictions, number, names)}",
    }


def _build_votes_query(run_id: str, epoch: int, number: int) -> dict[str, str]:
    words = (
        (address.RUN, run_id),
        (address.EPOCH, epoch),
        (address.DIGIT, number),
        (address.SHOW, "split"),
        (address.ORDER, "split"),
    )
    return {word.name: word.format(value) for word, value in words}


def open_disputed_votes(run_id: str, pressed: object) -> None:
    """Go to the votes on the image that was pressed, from the component's "epoch number"."""
    epoch, _, number = str(pressed or "").partition(" ")
    numbers = address.parse_whole_number(epoch), address.parse_whole_number(number)
    if numbers[0] is not None and numbers[1] is not None:
        st.switch_page("pages/predictions.py", query_params=_build_votes_query(run_id, numbers[0], numbers[1]))
