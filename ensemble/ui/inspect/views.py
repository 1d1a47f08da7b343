"""The views of the screen Inspect: those that every face has, and those that only a page can."""

from importlib import import_module
from typing import Any

import streamlit as st

from ensemble.ui.inspect.shared_epoch import SharedEpoch
from ensemble.ui.render import render_view
from ensemble.ui.shared import address, widget
from ensemble.ui.train.example.recording import is_recorded
from ensemble.views.registry import VIEWS as VIEWS_OF_ALL_FACES
from ensemble.views.selective import is_too_small
from ensemble.wording import escaping

# By the question that they answer: the word in the address, and the label on the screen.
GROUPS = {
    "Better?": {
        "agreement": "Agreement",
        "committee": "Committee",
        "combining": "Combining",
        "compare": "Compare runs",
    },
    "Trust?": {
        "uncertainty": "Uncertainty",
        "calibration": "Calibration",
        "selective": "Selective",
    },
    "Robust?": {"shift": "Shift", "digit": "One image"},
}
VIEWS = {word: label for views in GROUPS.values() for word, label in views.items()}
USUAL = next(iter(VIEWS))

# What a page alone can do: modules below this package, each with a `show`.
ON_PAGES = {"shift": "shift.corruptions", "digit": "shift.one_image", "compare": "compare"}
# Two views under one name on the screen: what chooses between them in the address.
UNCERTAINTIES = {"scatter": "Aleatoric and epistemic", "confusion": "Confusion matrix"}
CONFUSION = "What each class is taken for: a row a class, a column an answer."
MODES = {"answers": "Answer or pass on", "sets": "Answer with a set"}

ASK_THE_MEMBERS = ("shift", "digit")


def choose(noun: str) -> str:
    """The controls, a group a question; returns the view that the address names.

    Args:
      noun: what an image of the run is called.
    """
    value = address.VIEW.among(VIEWS, USUAL)
    with st.container(horizontal=True, gap="medium", key="views"):
        for place, (question, views) in enumerate(GROUPS.items()):
            group(place, question, views | titled(noun, views), value)
    return value


def titled(noun: str, views: dict[str, str]) -> dict[str, str]:
    """The titles that name what an image is called."""
    return {"digit": f"One {escaping.markdown(noun)}"} if "digit" in views else {}


def group(place: int, question: str, views: dict[str, str], value: str) -> None:
    """The views of one question: none of them is marked where another question's is shown."""
    chosen = value if value in views else None
    address.bound(
        f"address_view_{place}",
        chosen,
        lambda key: st.segmented_control(
            question,
            list(views),
            key=key,
            format_func=views.__getitem__,
            wrap=True,
            on_change=follow,
            args=(key,),
        ),
    )


def follow(key: str) -> None:
    """Callback: the address follows, and forgets what belonged to the view before.

    A view that is pressed again has nothing chosen to follow, and stays.
    """
    chosen: Any = widget.value(key)
    if chosen:
        address.keep_only(address.RUN, address.EPOCH)
        address.VIEW.put(chosen, USUAL)


def show(key: str, shown: SharedEpoch) -> None:
    """Draw the view of that key; of a run that brought no members, those that ask them say so."""
    if key in (*ASK_THE_MEMBERS, "compare") and is_recorded(shown.run):
        st.info(
            f"{VIEWS[key]} needs runs of your own: of the recorded example only its "
            "predictions are here.",
            icon=":material/history:",
        )
        return
    if key in ASK_THE_MEMBERS and shown.run.trained is None:
        st.info(
            f"{VIEWS[key]} asks the members themselves about changed images: this run was "
            "trained elsewhere and brought their predictions alone.",
            icon=":material/upload_file:",
        )
        return
    if key in ON_PAGES:
        import_module(f"ensemble.ui.inspect.{ON_PAGES[key]}").show(shown)
    elif key == "uncertainty":
        show_uncertainty(shown)
    elif key == "selective":
        show_selective(shown)
    else:
        render_view(VIEWS_OF_ALL_FACES[key].build(shown), shown)


def show_uncertainty(shown: SharedEpoch) -> None:
    """Both uncertainties, or the confusion matrix; of one member a word on the first, and that."""
    if shown.members == 1:
        render_view(VIEWS_OF_ALL_FACES["uncertainty"].build(shown), shown)
        render_view(VIEWS_OF_ALL_FACES["confusion"].build(shown), shown)
        return
    which = address.choose(
        address.PICTURE, "Picture", UNCERTAINTIES, "scatter", label_visibility="collapsed"
    )
    if which == "confusion":
        st.caption(CONFUSION)
    view = "uncertainty" if which == "scatter" else "confusion"
    render_view(VIEWS_OF_ALL_FACES[view].build(shown), shown)


def show_selective(shown: SharedEpoch) -> None:
    """Two ways to be wrong less often: to answer only where it is sure, or with a set."""
    mode = "answers"
    if not is_too_small(shown):
        mode = address.choose(
            address.MODE,
            "What it may do where it is not sure",
            MODES,
            "answers",
            label_visibility="collapsed",
        )
    view = "conformal" if mode == "sets" else "selective"
    render_view(VIEWS_OF_ALL_FACES[view].build(shown), shown)
