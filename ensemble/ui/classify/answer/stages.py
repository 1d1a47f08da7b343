"""What a picture went through before it was read, and every step of it to be overruled."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from ensemble.figures.thumbnails import Pixels
from ensemble.ui.classify.answer import overrule
from ensemble.ui.classify.state import WHOLE, Overrule
from ensemble.ui.shared import widget
from ensemble.ui.shared.address import bound
from ensemble.wording import escaping

if TYPE_CHECKING:
    from ensemble.pictures.prepare import Prepared

WIDE, HIGH = 160, 120  # pixels of the screen
RIM = 205  # grey
FITS = {"crop": "The middle", "whole": "All of it"}
INK = {"auto": "Auto", "dark": "Dark", "light": "Light"}


def show(prepared: Prepared) -> None:
    """The stages side by side, the last of them what the networks see."""
    with st.container(horizontal=True, gap="medium"):
        for stage in prepared.stages:
            one(stage.image, stage.title, stage.says)


def one(image: Pixels, title: str, says: str) -> None:
    """A stage: uint8 (h, w) or (h, w, 3), what it is called and what was done."""
    across = width(image)
    with st.container(width=WIDE, gap="xxsmall"):
        st.image(crisp(image, across), width=across, alt=f"{title}: {says}")
        st.caption(f"**{escaping.markdown(title)}**  \n{escaping.markdown(says)}")


def crisp(image: Pixels, across: int) -> Pixels:
    """A small image in whole squares: a browser would smooth what it enlarges."""
    times = -(-across // image.shape[1])
    large = image.repeat(times, axis=0).repeat(times, axis=1)
    # White paper has no edge on a white page.
    rim = max(1, large.shape[1] // across)
    large[:rim], large[-rim:], large[:, :rim], large[:, -rim:] = (RIM,) * 4
    return large


def width(image: Pixels) -> int:
    """How wide a stage is shown: all are equally high, where that is not too wide."""
    high, wide = image.shape[:2]
    return max(12, min(WIDE, round(wide / high * HIGH)))


def overruling(ident: str, prepared: Prepared) -> None:
    """Controls for what the program has chosen by itself; each answers at once."""
    chosen = overrule.of(ident)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        if prepared.cut is None or prepared.cut.ground:
            ink(ident, chosen, prepared)
        if prepared.cut is None:
            threshold(ident, chosen)
        else:
            fit(ident, chosen)
        with st.popover("Part", icon=":material/crop:", help="Read only a part of the picture."):
            crop(ident, chosen)
        st.button(
            "As it was",
            icon=":material/restart_alt:",
            key="classify_reset",
            type="tertiary",
            disabled=chosen == overrule.NONE,
            on_click=overrule.reset,
            args=(ident,),
            help="Take back everything that you have overruled in this picture.",
        )


def ink(ident: str, chosen: Overrule, prepared: Prepared) -> None:
    """Which is ink: what is darker than its ground, or what is lighter."""
    found, what = "lighter" if prepared.light else "darker", "Ink"
    if prepared.cut:
        found, what = "lighter" if prepared.cut.inverted != prepared.light else "darker", "It"
    bound(
        f"classify_ink_{ident}",
        chosen.ink,
        lambda key: st.segmented_control(
            f"{what} is",
            list(INK),
            key=key,
            required=True,
            format_func=INK.__getitem__,
            on_change=follow,
            args=(key, ident, "ink"),
            help=f"Darker or lighter than the ground around it. Here what is {found} is taken.",
        ),
    )


def fit(ident: str, chosen: Overrule) -> None:
    """Whether all of a picture is taken, or its middle in the networks' proportions."""
    bound(
        f"classify_fit_{ident}",
        chosen.fit,
        lambda key: st.segmented_control(
            "Take",
            list(FITS),
            key=key,
            required=True,
            format_func=FITS.__getitem__,
            on_change=follow,
            args=(key, ident, "fit"),
            help="The middle keeps the picture's proportions; all of it is drawn together to those "
            "of "
            "the images that the networks have learnt.",
        ),
    )


def threshold(ident: str, chosen: Overrule) -> None:
    """How much darker than its ground a place must be."""
    bound(
        f"classify_threshold_{ident}",
        chosen.threshold,
        lambda key: st.slider(
            "Strength of ink",
            -1.0,
            1.0,
            step=0.05,
            key=key,
            width=150,
            format="%+.2f",
            on_change=follow,
            args=(key, ident, "threshold"),
            help="How strong a stroke must be to count as ink. 0 is what the program finds for "
            "this "
            "picture. To the left faint strokes count too; to the right only strong ones do, and "
            "shadows and specks go.",
        ),
    )


def crop(ident: str, chosen: Overrule) -> None:
    """The part that is read, in per cent of the picture; with a mouse it can be dragged over."""
    left, top, right, bottom = (round(100 * side) for side in chosen.crop)
    st.caption("With a mouse, drag over the picture.")
    for name, label, low, high in (
        ("across", "From left to right, in per cent", left, right),
        ("down", "From top to bottom, in per cent", top, bottom),
    ):
        key = f"classify_{name}_{ident}"
        widget.follow(key, (low, high))
        st.slider(label, 0, 100, key=key, on_change=cropped, args=(ident,))
    st.button(
        "Whole picture",
        key="classify_whole",
        disabled=chosen.crop == WHOLE,
        on_click=overrule.put,
        args=(ident,),
        kwargs={"crop": WHOLE},
    )


def follow(key: str, ident: str, field: str) -> None:
    """Callback: overrule what the control says."""
    overrule.put(ident, **{field: widget.value(key)})


def cropped(ident: str) -> None:
    """Callback of both sliders; a part keeps a twentieth of the picture at least."""
    sides = []
    for name in ("across", "down"):
        low, high = widget.value(f"classify_{name}_{ident}")
        low = min(low, 95)
        sides.append((low / 100, max(high, low + 5) / 100))
    (left, right), (top, bottom) = sides
    overrule.put(ident, crop=(left, top, right, bottom))
