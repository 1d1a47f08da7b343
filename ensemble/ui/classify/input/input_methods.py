"""The three ways in, Upload, Draw and Camera: each gives a picture, or none yet."""

import streamlit as st
from streamlit.typing import UploadedFile

from ensemble import runs
from ensemble.pictures.files.formats import FORMAT_LIST
from ensemble.ui.classify import state
from ensemble.ui.classify.input import drawing_sheet, paste, samples, tab_pictures
from ensemble.ui.classify.input import picture_list as input_files
from ensemble.ui.classify.state import InputPicture
from ensemble.ui.shared import address, widget_state
from ensemble.ui.shared.tab import tab
from ensemble.wording.marks import select_article

INPUTS = {"upload": "Upload", "draw": "Draw", "camera": "Camera"}
# What one tab uploads at most: Streamlit lets go of it only with the tab, and says no earlier.
MAX_TAB_UPLOAD_BYTES = 2**30
_MAX_PICTURE_MB = 20  # of one picture's file; see pictures.files.decoding
_MAX_REMEMBERED_UPLOADS = 1000  # uploaded files whose ids are known
_DRAWING_ID = "drawing"  # the drawing's id: what is overruled stays with it, whatever is drawn


def select_input_method(run: runs.Run) -> str:
    """Which way in is open; it stands in the address. What no pen wrote cannot be drawn."""
    info = run.data
    ways = INPUTS if info.is_mnist_like else {w: s for w, s in INPUTS.items() if w != "draw"}
    return address.select_address_option(
        address.INPUT,
        f"How to give it {select_article(info.noun)} {info.noun}",
        ways,
        "draw" if "draw" in ways and is_phone() else "upload",
        label_visibility="collapsed",
    )


def is_phone() -> bool:
    """Whether the browser says that it is a phone's: there a finger draws, and few have files."""
    return "Mobi" in (st.context.headers.get("User-Agent") or "")


def show_input_method(way: str, run: runs.Run) -> InputPicture | None:
    """Draws the way in; returns its picture. The sheet, which shows its own answer, comes later."""
    if way == "upload":
        show_picture_uploader(run)
    elif way == "camera":
        _show_camera_input(run.data.noun)
    return _find_input_picture(way)


def _find_input_picture(way: str) -> InputPicture | None:
    """The picture that this way in has now: what the last press or stroke left."""
    if way == "upload":
        return tab_pictures.find_open_picture()
    if way == "camera":
        return tab.photograph
    drawn = drawing_sheet.read_sheet_drawing()
    if not drawn.get("strokes"):
        return None
    return state.create_input_picture("Your drawing", drawing_sheet.encode_drawing_png(drawn), _DRAWING_ID)


def show_picture_uploader(run: runs.Run) -> None:
    """Files, dropped, pasted or browsed to; or test images."""
    noun = run.data.noun
    many = " or many" if run.data.is_mnist_like else ""
    key, full = (f"classify_upload_{tab.classify_uploader_count}", tab.uploaded_bytes >= MAX_TAB_UPLOAD_BYTES)
    st.file_uploader(
        "Drop or paste pictures here",
        accept_multiple_files=True,
        key=key,
        on_change=add_uploaded_pictures,
        args=(key,),
        disabled=full,
        max_upload_size=_MAX_PICTURE_MB,
        help=f"{FORMAT_LIST}, with one {noun}{many} on each. "
        "They stay in this server's memory until you close the tab.",
    )
    if full:
        st.warning(
            "This tab has uploaded as much as the server holds for it. Reload the page to upload more.",
            icon=":material/memory:",
        )
    here = tab_pictures.find_open_picture()
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        paste.show_paste_button(_add_pasted_pictures)
        samples.show_sample_buttons(run, first=here is None)
    if cut := tab.dropped_picture_count:
        st.warning(
            f"{tab_pictures.MAX_PICTURES} pictures are kept at once: the last {cut} of these were "
            "left out. Add them after these.",
            icon=":material/filter_none:",
        )
    if here:
        input_files.show_picture_navigation(here)


def add_uploaded_pictures(key: str) -> None:
    """Callback: takes the files out of the uploader, which would show all of them for good."""
    # A browser may send once more what has been taken, before its uploader is gone.
    sent = [upload for upload in widget_state.get_widget_value(key) or [] if isinstance(upload, UploadedFile)]
    files = [upload for upload in sent if upload.file_id not in tab.consumed_upload_ids]
    if not files:
        return
    tab.consumed_upload_ids = (*tab.consumed_upload_ids, *(file.file_id for file in files))[-_MAX_REMEMBERED_UPLOADS:]
    tab.uploaded_bytes += sum(file.size for file in files)
    tab.dropped_picture_count = max(0, len(files) - tab_pictures.MAX_PICTURES)
    few = files[: tab_pictures.MAX_PICTURES]
    tab_pictures.add_tab_pictures([state.create_input_picture(upload.name, upload.getvalue()) for upload in few])
    # A new uploader takes the place of this one, empty.
    tab.classify_uploader_count += 1


def _add_pasted_pictures(pictures: paste.PastedPictures) -> None:
    """Callback: pictures from the clipboard."""
    tab.dropped_picture_count = 0
    tab_pictures.add_tab_pictures(
        [
            state.create_input_picture(f"Pasted: {name}" if name else "Pasted picture", content)
            for name, content in pictures
        ]
    )


def _show_camera_input(noun: str) -> None:
    st.camera_input(f"Hold the {noun} up, large and in good light", key="classify_camera", on_change=_keep_photograph)
    if not tab.photograph:
        st.caption(
            "No picture here? Allow the camera in the browser's address bar. Browsers give it to "
            "pages on localhost or https alone; elsewhere, upload a photograph instead."
        )
    elif not widget_state.get_widget_value("classify_camera", None):
        st.caption("Your last photograph stands below until you take another.")


def _keep_photograph() -> None:
    """Callback: keeps the photograph for when another way in has been looked at."""
    photograph = widget_state.get_widget_value("classify_camera")
    if photograph is None:
        del tab.photograph
    else:
        tab.photograph = state.create_input_picture("Your photograph", photograph.getvalue())
