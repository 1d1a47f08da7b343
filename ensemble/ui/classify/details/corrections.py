"""What a mark really was, said by whoever wrote it: kept where the person chose, or not at all."""

import zlib
from typing import Any

import streamlit as st

from ensemble.errors import EnsembleError
from ensemble.pictures import corrections
from ensemble.ui.classify.answer.classified_mark import ClassifiedMark
from ensemble.ui.shared import address, guard, widget_state
from ensemble.ui.shared.tab import Tab, tab
from ensemble.wording import escaping, formats
from ensemble.wording import images as images_words

_CORRECTIONS_OFF_HELP = (
    "Nothing you bring is written to disk. Start the app with the environment variable "
    "ENSEMBLE_CORRECTIONS naming a folder, and you can say what a mark was; the pixels that the "
    "networks saw and your label are kept there, and all can be downloaded as a labelled set."
)
_CORRECTIONS_ON_HELP = (
    "Keeps the pixels that the networks saw, your label and the ensemble's answer, and nothing "
    "else of the picture, in the folder that ENSEMBLE_CORRECTIONS names."
)
_MAX_CLASS_PILLS = 20  # classes that stand beside each other


def show_corrections(mark: ClassifiedMark) -> None:
    folder = corrections.find_corrections_folder()
    if not folder:
        st.caption("Corrections are not kept.", help=_CORRECTIONS_OFF_HELP)
        return
    kept = _find_correction_label(mark)
    key = f"classify_correction_{zlib.crc32(mark.image.tobytes()):08x}"
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        _show_correction_control(mark, key, kept)
        if kept is not None:
            st.button(
                "Undo",
                key="classify_correction_undo",
                icon=":material/undo:",
                on_click=_save_mark_correction,
                args=(mark, None),
            )
        _show_corrections_download(str(folder))
    if problem := Tab.correction_problem.pop():
        guard.show_error_message(problem)
    elif kept is not None:
        st.caption(escaping.escape_markdown(_describe_correction(mark, kept)))


def _show_correction_control(mark: ClassifiedMark, key: str, kept: int | None) -> None:
    """The classes: beside each other, or of many a list that can be searched."""
    each = range(len(mark.names))
    more: dict[str, Any] = {"on_change": _save_chosen_correction, "args": (mark, key), "help": _CORRECTIONS_ON_HELP}
    if len(each) <= _MAX_CLASS_PILLS:
        address.show_address_widget(
            key,
            kept,
            lambda key: widget_state.draw_widget(
                st.pills,
                "What it was",
                each,
                key=key,
                width="content",
                format_func=lambda label: escaping.escape_markdown(mark.names[label]),
                **more,
            ),
        )
    else:
        address.show_address_widget(
            key,
            kept,
            lambda key: widget_state.draw_widget(
                st.selectbox,
                "What it was",
                each,
                index=None,
                key=key,
                width=320,
                placeholder="Choose a class",
                format_func=mark.names.__getitem__,
                **more,
            ),
        )


def _find_correction_label(mark: ClassifiedMark) -> int | None:
    """What this mark is kept as; None where it is not."""
    for label in range(len(mark.names)):
        if corrections.is_correction_intact(corrections.correction_path(mark.image, label)):
            return label
    return None


def _describe_correction(mark: ClassifiedMark, label: int) -> str:
    right = label == mark.digit.label
    about = "rejected it" if mark.digit.rejected else f"said {mark.names[mark.digit.label]}"
    if right and not mark.digit.rejected:
        about = "is right"
    what = images_words.format_true_class(mark.names[label], mark.names).removeprefix("labelled ")
    return f"Kept as {what}; the ensemble {about}."


def _save_chosen_correction(mark: ClassifiedMark, key: str) -> None:
    """Callback: a class was chosen, or chosen again to take it back."""
    _save_mark_correction(mark, widget_state.get_widget_value(key))


def _save_mark_correction(mark: ClassifiedMark, label: int | None) -> None:
    """Keep the mark as `label` and as nothing else; None forgets it."""
    answer = "?" if mark.digit.rejected else mark.names[mark.digit.label]
    try:
        if label is not None:
            corrections.save_correction(mark.image, label, answer, mark.run.id, mark.epoch)
        # Only now: on a full disk the word of before stays.
        for other in range(len(mark.names)):
            if other != label:
                corrections.delete_correction(mark.image, other)
    except EnsembleError as error:
        tab.correction_problem = str(error)
    _count_folder_corrections.clear()


def _show_corrections_download(folder: str) -> None:
    total = _count_folder_corrections(folder)
    if total:
        st.download_button(
            f"{formats.format_count(total, 'correction')} (ZIP)",
            corrections.export_corrections,
            "corrections.zip",
            "application/zip",
            icon=":material/download:",
            key="classify_corrections_zip",
            on_click="ignore",
            help="images.npz with images (N, H, W, channels) and labels, labels.csv, and the pictures by label.",
        )


# Every file is read to count it: seldom, and after a change of one's own.
@st.cache_data(max_entries=2, ttl=60, show_spinner=False)
def _count_folder_corrections(folder: str) -> int:
    """How many corrections are kept in the folder; at most a minute old."""
    return corrections.count_corrections()
