"""The three ways in, Upload, Draw and Camera: each gives a picture, or none yet."""

import streamlit as st
from streamlit.typing import UploadedFile

from ensemble import runs
from ensemble.ui.classify import state
from ensemble.ui.classify.input import files as input_files
from ensemble.ui.classify.input import paste, samples, sheet, tray
from ensemble.ui.classify.state import Source
from ensemble.ui.shared import address, widget
from ensemble.ui.shared.tab import tab
from ensemble.wording.marks import article

INPUTS = {"upload": "Upload", "draw": "Draw", "camera": "Camera"}
# What one tab uploads at most: Streamlit lets go of it only with the tab, and says no earlier.
MOST_BYTES = 2**30
MOST_MB = 20  # of one picture's file; see pictures.files.decoding
TOLD_APART = 1000  # uploaded files whose ids are known
DRAWN = "drawing"  # the drawing's id: what is overruled stays with it, whatever is drawn


def choose(run: runs.Run) -> str:
    """Which way in is open; it stands in the address. What no pen wrote cannot be drawn."""
    info = run.data
    ways = INPUTS if info.written else {w: s for w, s in INPUTS.items() if w != "draw"}
    return address.choose(
        address.INPUT,
        f"How to give it {article(info.noun)} {info.noun}",
        ways,
        "upload",
        label_visibility="collapsed",
    )


def show(way: str, run: runs.Run) -> Source | None:
    """Draws the way in; returns its picture. The sheet, which shows its own answer, comes later."""
    if way == "upload":
        upload(run)
    elif way == "camera":
        camera(run.data.noun)
    return source(way)


def source(way: str) -> Source | None:
    """The picture that this way in has now: what the last press or stroke left."""
    if way == "upload":
        return tray.opened()
    if way == "camera":
        return tab.photograph
    drawn = sheet.drawing()
    if not drawn.get("strokes"):
        return None
    return state.source("Your drawing", sheet.picture(drawn), DRAWN)


def upload(run: runs.Run) -> None:
    """Files, dropped, pasted or browsed to; or test images."""
    noun = run.data.noun
    many = " or many" if run.data.written else ""
    key, full = f"classify_upload_{tab.uploads}", tab.uploaded_bytes >= MOST_BYTES
    st.file_uploader(
        "Drop pictures here, browse to them, or paste with Ctrl+V",
        accept_multiple_files=True,
        key=key,
        on_change=uploaded,
        args=(key,),
        disabled=full,
        max_upload_size=MOST_MB,
        help=f"PNG, JPEG, WebP, BMP, GIF, TIFF, HEIC or AVIF, with one {noun}{many} on each. "
        "They stay in this server's memory until you close the tab.",
    )
    if full:
        st.warning(
            "This tab has uploaded as much as the server holds for it. Reload the page to "
            "upload more.",
            icon=":material/memory:",
        )
    here = tray.opened()
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        paste.show(pasted)
        samples.buttons(run, first=here is None)
    if cut := tab.pictures_cut:
        st.warning(
            f"{tray.MOST} pictures are kept at once: the last {cut} of these were left "
            "out. Hand them in after these.",
            icon=":material/filter_none:",
        )
    if here:
        input_files.stepping(here)


def uploaded(key: str) -> None:
    """Callback: takes the files out of the uploader, which would show all of them for good."""
    # A browser may send once more what has been taken, before its uploader is gone.
    sent = [one for one in widget.value(key) or [] if isinstance(one, UploadedFile)]
    files = [one for one in sent if one.file_id not in tab.uploaded]
    if not files:
        return
    tab.uploaded = (*tab.uploaded, *(one.file_id for one in files))[-TOLD_APART:]
    tab.uploaded_bytes += sum(one.size for one in files)
    tab.pictures_cut = max(0, len(files) - tray.MOST)
    few = files[: tray.MOST]
    tray.add([state.source(one.name, one.getvalue()) for one in few])
    # A new uploader takes the place of this one, empty.
    tab.uploads += 1


def pasted(taken: paste.Taken) -> None:
    """Callback: pictures from the clipboard."""
    tab.pictures_cut = 0
    tray.add(
        [
            state.source(f"Pasted: {name}" if name else "Pasted picture", content)
            for name, content in taken
        ]
    )


def camera(noun: str) -> None:
    """A photograph taken here and now."""
    st.camera_input(
        f"Hold the {noun} up, large and in good light",
        key="classify_camera",
        on_change=photographed,
    )
    if not tab.photograph:
        st.caption(
            "No picture here? Allow the camera in the browser's address bar. Browsers give it to "
            "pages on localhost or https alone; elsewhere, upload a photograph instead."
        )
    elif not widget.value("classify_camera", None):
        st.caption("Your last photograph stands below until you take another.")


def photographed() -> None:
    """Callback: keeps the photograph for when another way in has been looked at."""
    taken = widget.value("classify_camera")
    if taken is None:
        del tab.photograph
    else:
        tab.photograph = state.source("Your photograph", taken.getvalue())
