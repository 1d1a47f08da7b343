"""What a picture went through before it was read, and every step of it to be overruled."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from ensemble.figures.thumbnails import Pixels
from ensemble.ui.classify.answer import overrides
from ensemble.ui.classify.state import WHOLE_PICTURE, PreparationOverrides
from ensemble.ui.shared import widget_state
from ensemble.ui.shared.address import show_address_widget
from ensemble.wording import escaping

if TYPE_CHECKING:
    from ensemble.pictures.preparation import SegmentedPicture

_STAGE_WIDTH_PX, _STAGE_HEIGHT_PX = 160, 120  # pixels of the screen
_RIM_GRAY_LEVEL = 205  # grey
_FIT_LABELS = {"crop": "The middle", "whole": "All of it"}
_INK_LABELS = {"auto": "Auto", "dark": "Dark", "light": "Light"}


def show_preparation_stages(prepared: SegmentedPicture) -> None:
    with st.container(horizontal=True, gap="medium"):
        for stage in prepared.stages:
            _show_preparation_stage(stage.image, stage.title, stage.description)


def _show_preparation_stage(image: Pixels, title: str, says: str) -> None:
    """A stage: uint8 (h, w) or (h, w, 3), what it is called and what was done."""
    across = _compute_stage_width(image)
    with st.container(width=_STAGE_WIDTH_PX, gap="xxsmall"):
        st.image(_enlarge_stage_image(image, across), width=across, alt=f"{title}: {says}")
        st.caption(f"**{escaping.escape_markdown(title)}**  \n{escaping.escape_markdown(says)}")


def _enlarge_stage_image(image: Pixels, across: int) -> Pixels:
    """A small image in whole squares: a browser would smooth what it enlarges."""
    times = -(-across // image.shape[1])
    large = image.repeat(times, axis=0).repeat(times, axis=1)
    # White paper has no edge on a white page.
    rim = max(1, large.shape[1] // across)
    large[:rim], large[-rim:], large[:, :rim], large[:, -rim:] = (_RIM_GRAY_LEVEL,) * 4
    return large


def _compute_stage_width(image: Pixels) -> int:
    """How wide a stage is shown: all are equally high, where that is not too wide."""
    high, wide = image.shape[:2]
    return max(12, min(_STAGE_WIDTH_PX, round(wide / high * _STAGE_HEIGHT_PX)))


def show_override_controls(ident: str, prepared: SegmentedPicture) -> None:
    """Controls for what the program has chosen by itself; each answers at once."""
    chosen = overrides.find_overrides(ident)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        if prepared.cut is None or prepared.cut.background:
            _show_ink_control(ident, chosen, prepared)
        if prepared.cut is None:
            _show_ink_strength_control(ident, chosen)
        else:
            _show_fit_control(ident, chosen)
        with st.popover("Part", icon=":material/crop:", help="Read only a part of the picture."):
            _show_crop_control(ident, chosen)
        st.button(
            "As it was",
            icon=":material/restart_alt:",
            key="classify_reset",
            type="tertiary",
            disabled=chosen == overrides.NO_OVERRIDES,
            on_click=overrides.reset_overrides,
            args=(ident,),
            help="Undo all your changes to this picture.",
        )


def _show_ink_control(ident: str, chosen: PreparationOverrides, prepared: SegmentedPicture) -> None:
    """Which is ink: what is darker than its ground, or what is lighter."""
    tone, what = "lighter" if prepared.light else "darker", "Ink"
    if prepared.cut:
        tone, what = "lighter" if prepared.cut.inverted != prepared.light else "darker", "It"
    show_address_widget(
        f"classify_ink_{ident}",
        chosen.ink,
        lambda key: widget_state.draw_widget(
            st.segmented_control,
            f"{what} is",
            list(_INK_LABELS),
            key=key,
            required=True,
            format_func=_INK_LABELS.__getitem__,
            on_change=_apply_override_control,
            args=(key, ident, "ink"),
            help=f"Whether ink is darker or lighter than its background. Here it is {tone}.",
        ),
    )


def _show_fit_control(ident: str, chosen: PreparationOverrides) -> None:
    show_address_widget(
        f"classify_fit_{ident}",
        chosen.fit,
        lambda key: widget_state.draw_widget(
            st.segmented_control,
            "Take",
            list(_FIT_LABELS),
            key=key,
            required=True,
            format_func=_FIT_LABELS.__getitem__,
            on_change=_apply_override_control,
            args=(key, ident, "fit"),
            help="The middle keeps the picture's proportions; all of it is squeezed to those of the training images.",
        ),
    )


def _show_ink_strength_control(ident: str, chosen: PreparationOverrides) -> None:
    show_address_widget(
        f"classify_threshold_{ident}",
        chosen.threshold,
        lambda key: widget_state.draw_widget(
            st.slider,
            "Strength of ink",
            -1.0,
            1.0,
            step=0.05,
            key=key,
            width=150,
            format="%+.2f",
            on_change=_apply_override_control,
            args=(key, ident, "threshold"),
            help="How strong a stroke must be to count as ink. 0 is what the program finds for "
            "this picture. To the left faint strokes count too; to the right only strong ones do, "
            "and shadows and specks go.",
        ),
    )


def _show_crop_control(ident: str, chosen: PreparationOverrides) -> None:
    """The part that is read, in per cent of the picture; with a mouse it can be dragged over."""
    left, top, right, bottom = (round(100 * side) for side in chosen.crop)
    st.caption("With a mouse, drag over the picture.")
    for name, label, low, high in (
        ("across", "From left to right, in per cent", left, right),
        ("down", "From top to bottom, in per cent", top, bottom),
    ):
        key = f"classify_{name}_{ident}"
        widget_state.sync_widget_value(key, (low, high))
        widget_state.draw_widget(st.slider, label, 0, 100, key=key, on_change=apply_crop_sliders, args=(ident,))
    st.button(
        "Whole picture",
        key="classify_whole",
        disabled=chosen.crop == WHOLE_PICTURE,
        on_click=overrides.update_overrides,
        args=(ident,),
        kwargs={"crop": WHOLE_PICTURE},
    )


def _apply_override_control(key: str, ident: str, field: str) -> None:
    """Callback: overrule what the control says; nothing where it was drawn without a choice."""
    if (chosen := widget_state.get_widget_value(key)) is not None:
        overrides.update_overrides(ident, **{field: chosen})


def apply_crop_sliders(ident: str) -> None:
    """Callback of both sliders; a part keeps a twentieth of the picture at least."""
    sides = []
    for name in ("across", "down"):
        low, high = widget_state.get_widget_value(f"classify_{name}_{ident}")
        low = min(low, 95)
        sides.append((low / 100, max(high, low + 5) / 100))
    (left, right), (top, bottom) = sides
    overrides.update_overrides(ident, crop=(left, top, right, bottom))
