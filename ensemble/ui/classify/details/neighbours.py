"""The test digits nearest to a mark, as the members see it, and which of them they confuse."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from ensemble.analysis.predictions import judge
from ensemble.analysis.quality.averaging import Ints
from ensemble.errors import EnsembleError
from ensemble.figures import palette, thumbnails
from ensemble.recognition.neighbours import Neighbours
from ensemble.ui.classify.answer.shown import Shown
from ensemble.ui.predictions import address, downloads, fitting, grid, loader
from ensemble.ui.predictions import detail as predictions_detail
from ensemble.ui.shared import guard, loaders, widget
from ensemble.wording import escaping
from ensemble.wording import images as images_words
from ensemble.wording.formats import plural
from ensemble.wording.run_names import called
from ensemble.wording.verdicts import inspect as inspect_words

COUNT = 12
FEATURES = (
    "Near means: alike in the members' own features, what their last layer but one makes of an "
    "image; the distances are averaged over the members."
)


def show(shown: Shown) -> None:
    """What the nearest test digits are, and they themselves; each opens at a press."""
    found = nearest(shown)
    noun = shown.noun
    st.markdown(escaping.markdown(sentence(found, shown.names, noun)), help=FEATURES)
    grid.component()(
        data={
            "strip": thumbnails.strip(found.images),
            "image": grid.in_its_place(found.images.shape[1:]),
            "label": f"{len(found.numbers)} nearest test {plural(noun)}: arrow keys move, Enter "
            "opens",
            "wide": max(map(len, shown.names)) > 1,
            "colors": {"right": palette.RIGHT, "wrong": palette.WRONG},
            "tiles": [tile(found, place, shown.names, noun) for place in range(len(found.numbers))],
        },
        key="classify_neighbours",
        on_opened_change=opened,
        on_columns_change=lambda: None,
    )
    st.download_button(
        "Figures (CSV)",
        lambda: downloads.csv(table(found, shown.names)),
        f"{shown.stem}-nearest.csv",
        "text/csv",
        icon=":material/table:",
        key="classify_neighbours_csv",
        on_click="ignore",
        help="Number in the test set, label, distance and each member's vote.",
    )
    detail(shown, found.numbers, noun)


def nearest(shown: Shown) -> Neighbours:
    """The nearest test digits, found once for each mark, run and epoch."""
    image = shown.image
    return _nearest(shown.run.id, shown.epoch, image.tobytes(), image.shape, shown.classifier)


# Twelve images of 784 bytes each; of 150 kB where they are large and in colour.
@st.cache_resource(max_entries=64, show_spinner="Looking for similar ones")
def _nearest(
    run_id: str, epoch: int, image: bytes, shape: tuple[int, ...], _classifier: Any
) -> Neighbours:
    pixels = np.frombuffer(image, np.uint8).reshape(shape)
    found: Neighbours = _classifier.neighbours(pixels, COUNT)
    return found


def confused(found: Neighbours) -> np.ndarray:
    """(K,), where not all members say what it is."""
    return np.asarray((found.votes != found.labels).any(axis=0))


def sentence(found: Neighbours, names: Sequence[str], noun: str) -> str:
    """What the nearest are, the most first, and how many of them members get wrong."""
    counts = np.bincount(found.labels, minlength=len(names))
    order = [int(c) for c in np.argsort(-counts, kind="stable") if counts[c]]
    K, wrong = len(found.labels), int(confused(found).sum())
    if len(order) == 1:
        said = f"All {K} test {plural(noun)} nearest to it are {names[order[0]]}"
    else:
        each = [f"{names[c]} {times(int(counts[c]))}" for c in order]
        said = (
            f"The {K} test {plural(noun)} nearest to it are {', '.join(each[:-1])} and {each[-1]}"
        )
    if len(found.votes) == 1:
        return f"{said}; the one member gets {f'{wrong} of them wrong' if wrong else 'all right'}."
    return f"{said}; members confuse {f'{wrong} of them' if wrong else 'none of them'}."


def times(count: int) -> str:
    """How often, in words: beside a digit a figure would be taken for one."""
    return {1: "once", 2: "twice"}.get(count, f"{inspect_words.number(count)} times")


def tile(found: Neighbours, place: int, names: Sequence[str], noun: str) -> dict[str, Any]:
    """One of them for the grid, as on other screens: what is said of it, and who disagrees."""
    number = int(found.numbers[place])
    # Only votes are known of it: whoever votes for a class is taken for sure of it.
    made = judge(np.eye(len(names))[found.votes], found.labels)
    votes = images_words.spoken_votes(made, place, names)
    return grid.tile(made, place, names, noun) | {
        "number": number,
        "sure": "confused" if confused(found)[place] else "",
        "alt": f"Test {noun} {number}, which is {names[found.labels[place]]}; votes: {votes}",
    }


def opened() -> None:
    """Callback: the address names the test digit that was pressed."""
    number = widget.value("classify_neighbours").get("opened")
    if number is not None:
        address.put(digit=int(number))


def detail(shown: Shown, numbers: Ints, noun: str) -> None:
    """The test digit that the address names, open over the page."""
    number = address.read().digit
    if number is None or number not in numbers:
        return
    try:
        made = loader.predictions(shown.run, shown.epoch)
    except EnsembleError as error:
        guard.problem(error)
        return
    dataset = loaders.test_set(shown.run)
    source, place = (f"{one} · epoch {shown.epoch}" for one in (called(shown.run), shown.run.id))
    predictions_detail.show(
        predictions_detail.Shown(
            made, dataset, numbers, noun, source, place, fitting.of(shown.run, shown.epoch)
        )
    )


def table(found: Neighbours, names: Sequence[str]) -> pd.DataFrame:
    """A row for each: its number, label, distance and the members' votes."""
    named = np.asarray(names, object)
    frame = pd.DataFrame(
        {"number": found.numbers, "label": named[found.labels], "distance": found.distances}
    )
    for m, votes in enumerate(found.votes):
        frame[f"member_{m + 1}"] = named[votes]
    return frame
