"""The way in for a person's own images: a file, and what it may hold."""

import streamlit as st
from streamlit.typing import UploadedFile

from ensemble.access import Action
from ensemble.errors import EnsembleError
from ensemble.jobs.uploads import dataset_upload
from ensemble.jobs.uploads.handed_in import Request
from ensemble.ui.classify.input.sources import MOST_BYTES
from ensemble.ui.shared import address, guard, widget
from ensemble.ui.shared.tab import tab
from ensemble.ui.sign_in import rights

TREE = """\
leaves.zip
├── train
│   ├── maple   1.png  2.jpg  …
│   └── oak     1.png  2.jpg  …
└── test
    ├── maple   …
    └── oak     …"""
TAKES = """\
- A **.zip** of a folder that holds one folder of images a class, within `train` and `test` or
  without: then a share of each class is held out to test with.
- An **.npz** of `train_images` (N, H, W) or (N, H, W, 3) and `train_labels` (N,), and the same of
  `test`; `class_names` if you like.
- Grey or colour, of any size; 2 to 1,000 classes. You see what was found before it is added."""


def show() -> None:
    """The uploader, beside it what it takes."""
    st.subheader("Add your own images", anchor=False)
    left, right = st.columns([3, 2], gap="large")
    with left:
        key, full = f"data_upload_{tab.data_uploads}", tab.uploaded_bytes >= MOST_BYTES
        st.file_uploader(
            "A .zip or .npz with your images",
            type=["zip", "npz"],
            key=key,
            on_change=uploaded,
            args=(key,),
            **rights.given(
                Action.ADD_DATA,
                disabled=full,
                help="It is opened by a process of its own, and kept on this server for a day at "
                "most unless you add it. Larger ones: `python -m ensemble data add` on its "
                "machine.",
            ),
        )
        if full:
            st.warning(
                "This tab has uploaded as much as the server holds for it. Reload the page "
                "to upload more.",
                icon=":material/memory:",
            )
        st.markdown(TAKES)
    with right:
        st.code(TREE, language=None)
        st.caption("The names of the folders become the classes.")


def uploaded(key: str) -> None:
    """Callback: hands the file to a process that reads it."""
    file = widget.value(key, None)
    if not isinstance(file, UploadedFile):
        return
    try:
        job = dataset_upload.receive(file, Request(file.name[:200]))
    except EnsembleError as error:
        tab.data_said = "error", str(error)
    else:
        address.DATASET.put(None)
        address.UPLOAD.put(job.id)
    finally:
        tab.uploaded_bytes += file.size
        # A new uploader takes the place of this one, empty.
        tab.data_uploads += 1


def again() -> None:
    """A button back to the uploader."""
    st.button("Upload another file", icon=":material/upload:", key="data_again", on_click=leave)


def leave(ident: str = "") -> None:
    """Callback: back to the list, and let an upload go where one is named."""
    address.UPLOAD.put(None)
    if ident:
        try:
            dataset_upload.forget(ident)
        except EnsembleError as error:
            tab.data_said = "error", str(error)


def problem(error: EnsembleError) -> None:
    """Why an upload cannot be gone on with, and the way back."""
    guard.problem(error)
    again()
