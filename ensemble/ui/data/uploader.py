"""The way in for a person's own images: a file, and what it may hold."""

import streamlit as st
from streamlit.typing import UploadedFile

from ensemble.access import Action
from ensemble.errors import EnsembleError
from ensemble.jobs.uploads import dataset_upload
from ensemble.jobs.uploads.upload_request import SUFFIXES, UploadRequest
from ensemble.ui.classify.input.input_methods import MAX_TAB_UPLOAD_BYTES
from ensemble.ui.shared import address, guard, widget_state
from ensemble.ui.shared.tab import tab
from ensemble.ui.sign_in import rights

_FOLDER_EXAMPLE = """\
leaves.zip
├── train
│   ├── maple   1.png  2.jpg  …
│   └── oak     1.png  2.jpg  …
└── test
    ├── maple   …
    └── oak     …"""
_ACCEPTED_FORMATS = """\
- A **.zip** with one folder of pictures for each class (maple, oak, …). These may lie in folders of
  splits (`train` and `test`, `training_set`, `val`, …); if they do not, a part of each class is
  held out to test with. How the folders were understood is drawn as a tree.
- Or pictures with a table beside them (`labels.csv`, with the columns `file` and `label`), Parquet
  shards of Hugging Face, or WebDataset tars, packed as a **.zip**.
- Pictures that belong together (one writer, patient, video): a `groups.csv` beside the folders,
  with the columns `file` and `group`. Whole groups are tested on, and each counts once.
- From a program: an **.npz** of `train_images` (N, H, W) or (N, H, W, 3) and `train_labels` (N,),
  and the same of `test`; `class_names` if you like. Or a .zip of a folder of `.npy` files with
  these names.
- A data set as it was published: a **.csv** with a label and the pixels of an image in each row,
  SVHN's **.mat**, an HDF5 file (**.h5**) with images and labels, or a .zip of the files of CIFAR's
  binary version, of MNIST's (IDX), or of such tables.
- Grey or colour, of any size; 2 to 1,000 classes. You see what was found before it is added."""


def show_dataset_uploader() -> None:
    """The uploader; below it, folded, what it takes."""
    st.subheader("Add your own images", anchor=False)
    with st.container(width=720):
        key, full = (f"data_upload_{tab.data_uploader_count}", tab.uploaded_bytes >= MAX_TAB_UPLOAD_BYTES)
        st.file_uploader(
            "A .zip, .npz, .mat, .h5 or .csv with your images",
            type=[suffix.removeprefix(".") for suffix in SUFFIXES],
            key=key,
            on_change=_receive_uploaded_dataset,
            args=(key,),
            **rights.build_control_arguments(
                Action.ADD_DATA,
                disabled=full,
                help="It is opened by a process of its own, and kept on this server for a day at most "
                "unless you add it. Larger ones: `ensemble data add` on its machine.",
            ),
        )
        if full:
            st.warning(
                "This tab has uploaded as much as the server holds for it. Reload the page to upload more.",
                icon=":material/memory:",
            )
        with st.expander("What the file has to hold"):
            st.markdown(_ACCEPTED_FORMATS)
            st.code(_FOLDER_EXAMPLE, language=None)
            st.caption("The names of the folders become the classes.")


def _receive_uploaded_dataset(key: str) -> None:
    """Callback: hands the file to a process that reads it."""
    file = widget_state.get_widget_value(key, None)
    if not isinstance(file, UploadedFile):
        return
    try:
        job = dataset_upload.receive_upload(file, UploadRequest(file.name[:200]))
    except EnsembleError as error:
        tab.data_message = "error", str(error)
    else:
        address.DATASET.set_value(None)
        address.UPLOAD.set_value(job.id)
    finally:
        tab.uploaded_bytes += file.size
        # A new uploader takes the place of this one, empty.
        tab.data_uploader_count += 1


def show_upload_again_button() -> None:
    st.button("Upload another file", icon=":material/upload:", key="data_again", on_click=leave_upload)


def leave_upload(ident: str = "") -> None:
    """Callback: back to the list, and let an upload go where one is named."""
    address.UPLOAD.set_value(None)
    if ident:
        try:
            dataset_upload.discard_upload(ident)
        except EnsembleError as error:
            tab.data_message = "error", str(error)


def show_upload_problem(error: EnsembleError) -> None:
    guard.show_error_message(error)
    show_upload_again_button()
