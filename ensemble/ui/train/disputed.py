"""The test images that the members dispute most after the newest epoch, each a way to its votes."""

from typing import Any
from urllib.parse import urlencode

import streamlit as st

from ensemble import runs
from ensemble.analysis.predictions import Predictions, chosen, ordered
from ensemble.errors import DataError, RunError
from ensemble.ui.shared import address, loaders
from ensemble.ui.train import history
from ensemble.wording import images as images_words
from ensemble.wording.formats import plural

MOST = 12


def latest(run: runs.Run, rows: list[dict[str, Any]]) -> dict[str, Any] | None:
    """The most disputed images for the component, or a `note` in their place; None for one member.

    Args:
      run: whose they are.
      rows: lines of its history.
    """
    if run.config.members == 1:
        return None
    names = run.data.class_names
    listed = images_words.listed_for(run.config.members, names)
    # The room that votes take: the same from the first look on.
    room = {"lines": 1 if listed else images_words.LINES}
    return room | _newest(run, history.latest(rows), run.data.noun)


def _newest(run: runs.Run, last: dict[str, Any] | None, noun: str) -> dict[str, Any]:
    if last is None:
        return {"note": f"Disputed {plural(noun)} stand here after the first epoch."}
    epoch = last["epoch"]
    seen = loaders.version(run.path / "predictions" / f"epoch-{epoch:04d}.npz")
    if seen == (0, 0):
        return {"note": f"What the members said after epoch {epoch} is not kept."}
    try:
        return _images(run.id, epoch, seen, noun, run)
    except (RunError, DataError) as error:
        return {"note": str(error)}


# Small: a strip of twelve thumbnails and their words, not the predictions that they are made of.
@st.cache_resource(max_entries=8, show_spinner=False)
def _images(
    run_id: str, epoch: int, seen: tuple[int, int], noun: str, _run: runs.Run
) -> dict[str, Any]:
    # Here, for the first curves come before any of it.
    from ensemble.figures import thumbnails
    from ensemble.ui.predictions import grid, loader

    made = loader.judged(_run, epoch)
    numbers = ordered(made, chosen(made, "split"), "split")[:MOST]
    if not len(numbers):
        return {"note": f"After epoch {epoch} the members agree about every test {noun}."}
    images = loaders.test_set(_run)
    return {
        "heading": f"Most disputed after epoch {epoch}: press a {noun} for its votes",
        "strip": thumbnails.strip(images.tiles[numbers]),
        "image": grid.in_its_place(images.tiles.shape[1:]),
        "tiles": [
            tile(run_id, epoch, made, number, images.class_names, noun)
            for number in numbers.tolist()
        ],
    }


def tile(
    run_id: str, epoch: int, made: Predictions, number: int, names: tuple[str, ...], noun: str
) -> dict[str, Any]:
    """One image's words and address for the component."""
    if images_words.listed(made, names):
        said = int(made.said[number])
        lines = [[(text, vote != said) for vote, text in images_words.ballot(made, number, names)]]
    else:
        lines = [[(text, False)] for text in images_words.short_votes(made, number, names)]
    return {
        "pressed": f"{epoch} {number}",
        "href": f"predictions?{urlencode(way(run_id, epoch, number))}",
        "right": bool(made.right[number]),
        "verdict": images_words.verdict(made, number, names),
        "votes": lines,
        "alt": f"Test {noun} {number}. {images_words.sentence(made, number, names)}",
    }


def way(run_id: str, epoch: int, number: int) -> dict[str, str]:
    """The address of an image's votes on Predictions, among all that members dispute."""
    words = (
        (address.RUN, run_id),
        (address.EPOCH, epoch),
        (address.DIGIT, number),
        (address.SHOW, "split"),
        (address.ORDER, "split"),
    )
    return {word.name: word.text(value) for word, value in words}


def open_pressed(run_id: str, pressed: object) -> None:
    """Go to the votes on the image that was pressed, from the component's "epoch number"."""
    epoch, _, number = str(pressed or "").partition(" ")
    found = address.whole(epoch), address.whole(number)
    if found[0] is not None and found[1] is not None:
        st.switch_page("pages/predictions.py", query_params=way(run_id, found[0], found[1]))
