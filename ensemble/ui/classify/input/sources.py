"""The three ways in, Upload, Draw and Camera: each gives a picture, or none yet."""

from typing import Any

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from ensemble import runs
from ensemble.ui.classify.input import files as input_files
from ensemble.ui.classify.input import paste, samples, sheet, tray
from ensemble.ui.classify.input.tray import Source
from ensemble.ui.shared import address

INPUTS = {"upload": "Upload", "draw": "Draw", "camera": "Camera"}
UPLOADS, PHOTO, CUT = "classify_uploads", "classify_photo", "classify_cut"
DRAWN = "drawing"  # the drawing's id: what is overruled stays with it, whatever is drawn


def choose() -> str:
    """Which way in is open; it stands in the address."""
    return address.choose(
        "input", "How to give it a digit", INPUTS, "upload", label_visibility="collapsed"
    )


def show(way: str, run: runs.Run) -> Source | None:
    """Draws the way in; returns its picture. The sheet, which shows its own answer, comes later."""
    if way == "upload":
        upload(run)
    elif way == "camera":
        camera()
    return source(way)


def source(way: str) -> Source | None:
    """The picture that this way in has now: what the last press or stroke left."""
    if way == "upload":
        return tray.opened()
    if way == "camera":
        taken: Source | None = st.session_state.get(PHOTO)
        return taken
    drawn = sheet.drawing()
    if not drawn.get("strokes"):
        return None
    return tray.source("Your drawing", sheet.picture(drawn), DRAWN)


def upload(run: runs.Run) -> None:
    """Files, dropped, pasted or browsed to; or test digits."""
    turn = st.session_state.get(UPLOADS, 0)
    key = f"classify_upload_{turn}"
    st.file_uploader(
        "Drop pictures here, browse to them, or paste with Ctrl+V", accept_multiple_files=True,
        key=key, on_change=uploaded, args=(key,),
        help="PNG, JPEG, WebP, BMP, GIF, TIFF, HEIC or AVIF, with one digit or many on each. "
        "They stay in this server's memory until you remove them or close the tab.",
    )  # fmt: skip
    here = tray.opened()
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        paste.show(pasted)
        samples.buttons(run, first=here is None)
    if cut := st.session_state.get(CUT):
        st.warning(
            f"{tray.MOST} pictures are kept at once: the last {cut} of these were left "
            "out. Hand them in after these.", icon=":material/filter_none:",
        )  # fmt: skip
    if here:
        input_files.stepping(here)


def uploaded(key: str) -> None:
    """Callback: takes the files out of the uploader, which would keep all of them for good."""
    # A browser may send once more what has been let go, before its uploader is gone.
    files = [one for one in st.session_state[key] or [] if hasattr(one, "getvalue")]
    if not files:
        return
    st.session_state[CUT] = max(0, len(files) - tray.MOST)
    few = files[: tray.MOST]
    tray.add([tray.source(one.name, one.getvalue()) for one in few])
    # A new uploader takes the place of this one, empty.
    st.session_state[UPLOADS] = st.session_state.get(UPLOADS, 0) + 1
    let_go(files)


def let_go(files: list[Any]) -> None:
    """Has the server forget uploaded files: it does not when their uploader leaves the page."""
    if context := get_script_run_ctx():
        manager: Any = context.uploaded_file_mgr
        for one in files:
            manager.remove_file(context.session_id, one.file_id)


def pasted(taken: paste.Taken) -> None:
    """Callback: pictures from the clipboard."""
    st.session_state[CUT] = 0
    tray.add([
        tray.source(f"Pasted: {name}" if name else "Pasted picture", content)
        for name, content in taken
    ])  # fmt: skip


def camera() -> None:
    """A photograph taken here and now."""
    st.camera_input("Hold the digit up, large and in good light", key="classify_camera",
                    on_change=photographed)  # fmt: skip
    if not st.session_state.get(PHOTO):
        st.caption(
            "No picture here? Allow the camera in the browser's address bar. Browsers give it to "
            "pages on localhost or https alone; elsewhere, upload a photograph instead."
        )
    elif not st.session_state.get("classify_camera"):
        st.caption("Your last photograph stands below until you take another.")


def photographed() -> None:
    """Callback: keeps the photograph for when another way in has been looked at."""
    taken = st.session_state["classify_camera"]
    if taken is None:
        st.session_state.pop(PHOTO, None)
    else:
        st.session_state[PHOTO] = tray.source("Your photograph", taken.getvalue())
