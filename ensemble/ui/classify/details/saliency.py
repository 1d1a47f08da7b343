"""What would change the members' minds: each place of a mark covered in turn."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import streamlit as st

from ensemble.figures import thumbnails
from ensemble.recognition.occlusion import Occlusion
from ensemble.ui.classify.answer.classified_mark import ClassifiedMark
from ensemble.ui.classify.details import saliency_maps as painting
from ensemble.ui.predictions import downloads
from ensemble.wording import escaping
from ensemble.wording import marks as marks_words
from ensemble.wording.formats import pluralize_noun

if TYPE_CHECKING:
    from ensemble.recognition.classifier import Digit

_MAX_NAMED_MEMBERS = 8  # members that are listed by their numbers
MAX_MEMBER_MAPS = 12  # members whose maps are drawn one by one: those whose minds change first

_OCCLUSION_HELP = (
    "A patch of ground is laid over each place in turn (occlusion: Zeiler and Fergus 2014). Blue: "
    "covering this place lowers the probability of what the member says; orange: it raises it. "
    "The colours mean the same in every map. White frame: the smallest patch that changes a mind."
)


def show_saliency_maps(mark: ClassifiedMark) -> None:
    mark_occlusion = compute_mark_occlusion(mark)
    members = select_mapped_members(mark_occlusion)
    pictures = painting.draw_saliency_maps(mark.image, mark_occlusion, members)
    captions = [
        *(["all, averaged"] if mark.members > 1 else []),
        *(_format_map_caption(mark_occlusion, m, mark) for m in members),
    ]
    st.markdown(describe_prediction_flips(mark_occlusion), help=_OCCLUSION_HELP)
    with st.container(horizontal=True, gap="small"):
        for picture, text in zip(pictures, captions, strict=True):
            st.image(
                thumbnails.encode_picture_png(picture),
                escaping.escape_markdown(text),
                width=picture.width,
                alt=f"What covering a place does, {text}",
            )
    if len(members) < mark.members:
        st.caption(f"The {len(members)} of {mark.members} members whose minds change first.")
    st.markdown(
        "\n".join(
            f"- {escaping.escape_markdown(flip_sentence)}"
            for flip_sentence in list_flip_sentences(mark_occlusion, mark.digit, mark.names)
        )
    )
    _show_saliency_downloads(mark, mark_occlusion, pictures, captions)


def compute_mark_occlusion(mark: ClassifiedMark) -> Occlusion:
    image = mark.image
    return _compute_mark_occlusion(mark.run.id, mark.epoch, image.tobytes(), image.shape, mark.classifier)


# A member's map takes 3 kB; of an image of 224 by 224 it takes 200 kB.
@st.cache_resource(max_entries=32, show_spinner="Covering one place after another")
def _compute_mark_occlusion(
    run_id: str, epoch: int, image: bytes, shape: tuple[int, ...], _classifier: Any
) -> Occlusion:
    occlusion: Occlusion = _classifier.compute_occlusion(np.frombuffer(image, np.uint8).reshape(shape))
    return occlusion


def _compute_flip_patch_side(occlusion: Occlusion, m: int) -> float:
    """How large the patch is that changes a member's mind, in pixels; infinite where none does."""
    box = painting.find_flip_box(occlusion, m)
    return math.inf if box is None else max(box[2] - box[0], box[3] - box[1])


def select_mapped_members(occlusion: Occlusion) -> list[int]:
    """The members that have a map: all of a few, else those whose minds change first."""
    M = len(occlusion.member_changes)
    if M <= MAX_MEMBER_MAPS:
        return list(range(M))
    return sorted(sorted(range(M), key=lambda m: _compute_flip_patch_side(occlusion, m))[:MAX_MEMBER_MAPS])


def _format_map_caption(occlusion: Occlusion, m: int, mark: ClassifiedMark) -> str:
    """What stands under a member's map: "member 3: 9 → 4"."""
    who = f"member {m + 1}: " if mark.members > 1 else ""
    class_name, flip = (mark.names[int(mark.digit.votes[m])], occlusion.flips[m])
    return f"{who}{class_name}" if flip is None else f"{who}{class_name} → {mark.names[flip.label]}"


def describe_prediction_flips(occlusion: Occlusion) -> str:
    M, sides = (
        len(occlusion.member_changes),
        [_compute_flip_patch_side(occlusion, m) for m in range(len(occlusion.member_changes))],
    )
    few = sorted(side for side in sides if side < math.inf)
    if not few:
        return f"**{_describe_stable_predictions(occlusion.largest_patch_side, M)}**"
    patch = (
        _format_patch_size(few[0])
        if few[0] == few[-1]
        else f"{_format_patch_size(few[0])} to {_format_patch_size(few[-1])}"
    )
    if M == 1:
        return f"**Covering {patch} pixels changes its mind.**"
    who = "Both" if len(few) == M == 2 else f"All {M}" if len(few) == M else f"{len(few)} of {M}"
    whose = "its mind" if len(few) == 1 else "their minds"
    return f"**{who} members would change {whose} under a patch of {patch} pixels.**"


def _describe_stable_predictions(largest: int, M: int) -> str:
    whose = "its mind" if M == 1 else "any member's mind"
    return f"No patch up to {_format_patch_size(largest)} pixels changes {whose}."


def list_flip_sentences(occlusion: Occlusion, digit: "Digit", names: Sequence[str]) -> list[str]:
    """What would change each member's mind, members of whom the same is said together.

    Nothing where no mind changes: the answer has said so already.
    """
    if all(flip is None for flip in occlusion.flips):
        return []
    alike: dict[str, list[int]] = {}
    for m in range(len(occlusion.flips)):
        alike.setdefault(_describe_member_flip(occlusion, m, digit, names), []).append(m)
    return [f"{_format_member_group(members, len(occlusion.flips))} {sentence}" for sentence, members in alike.items()]


def _describe_member_flip(occlusion: Occlusion, m: int, digit: "Digit", names: Sequence[str]) -> str:
    flip, class_name = occlusion.flips[m], names[int(digit.votes[m])]
    if flip is None:
        return (
            f"would say {class_name} still: no patch up to "
            f"{_format_patch_size(occlusion.largest_patch_side)} changes that."
        )
    return (
        f"would say {names[flip.label]} if the place marked were covered "
        f"({_format_patch_size(_compute_flip_patch_side(occlusion, m))} pixels)."
    )


def _format_member_group(members: Sequence[int], M: int) -> str:
    """Some of M members by their numbers; many are counted."""
    if M == 1:
        return "It"
    if len(members) == 1:
        return f"Member {members[0] + 1}"
    if len(members) > _MAX_NAMED_MEMBERS:
        return f"{len(members)} members"
    numbers = [str(m + 1) for m in members]
    return f"Members {', '.join(numbers[:-1])} and {numbers[-1]}"


def _format_patch_size(side: float) -> str:
    """A patch by its side: "5×5"."""
    return f"{side}×{side}"


def _show_saliency_downloads(mark: ClassifiedMark, occlusion: Occlusion, pictures: Any, captions: list[str]) -> None:
    title = f"What covering a place does · {marks_words.format_mark_class(mark.digit, mark.names)}"
    with st.container(horizontal=True, gap="small"):
        st.download_button(
            "Maps (PNG)",
            lambda: painting.compose_saliency_sheet(pictures, captions, title),
            f"{mark.file_stem}-covered.png",
            "image/png",
            icon=":material/image:",
            key="classify_saliency_png",
            on_click="ignore",
        )
        st.download_button(
            "Figures (CSV)",
            lambda: downloads.encode_table_csv(painting.tabulate_saliency(occlusion)),
            f"{mark.file_stem}-covered.csv",
            "text/csv",
            icon=":material/table:",
            key="classify_saliency_csv",
            on_click="ignore",
            help=f"A row for each of the {occlusion.ensemble_change.size} places: how far the probabilities "
            f"of {pluralize_noun(mark.noun)} said fall when it is covered.",
        )
