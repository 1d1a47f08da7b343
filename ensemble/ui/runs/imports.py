"""Predictions made elsewhere, handed in on the screen: read, looked at, then kept as a run."""

from collections.abc import Sequence
from typing import Any

import streamlit as st

from ensemble import exchange
from ensemble.analysis.quality.averaging import average
from ensemble.errors import EnsembleError
from ensemble.exchange import SNIPPETS, MemberOutputs, Snippet
from ensemble.jobs.folders import NAME_LENGTH
from ensemble.ui.shared import address, guard, loaders, widget
from ensemble.ui.shared.guard import guarded
from ensemble.ui.shared.tab import tab
from ensemble.wording import escaping, formats

FORMS = ["npz", "csv", "parquet"]
TAKES = (
    "One file for all members, or one a member: `.npz` with `probabilities` or `logits` of shape "
    "(members, examples, classes) and `labels` from 0; images, class and member names if you have "
    "them. CSV and Parquet too."
)
SHOWN = 8  # names of classes


def button() -> None:
    """The way in, and the dialog while it is open."""
    st.button(
        "Import predictions…", icon=":material/upload_file:", key="import_open", type="tertiary",
        on_click=open_dialog, help="Of an ensemble that was trained elsewhere: with PyTorch, "
        "Keras, scikit-learn, anything that can save an array.",
    )  # fmt: skip
    if tab.importing:
        st.dialog("Import predictions made elsewhere", width="large", on_dismiss=close)(body)()


def open_dialog() -> None:
    """Callback: the dialog stands over the page until it is closed."""
    tab.importing = True


def close() -> None:
    """Callback: what was read is let go; it may have taken a gigabyte."""
    del tab.importing, tab.import_read


def body() -> None:
    """The inside of the dialog."""
    with guarded():
        st.markdown(TAKES)
        how_to_save()
        limit = exchange.most_upload_bytes()
        files = st.file_uploader(
            "Files of predictions", type=FORMS, accept_multiple_files=True, key="import_files",
            max_upload_size=limit // 10**6, label_visibility="collapsed",
        )  # fmt: skip
        if not files:
            del tab.import_read
            return
        found = read(files)
        if isinstance(found, str):
            st.warning(escaping.markdown(found), icon=":material/error:")
        else:
            preview(found)
            accept(found, [file.name for file in files])


def how_to_save() -> None:
    """Five lines for each library; none of them needs anything of ours."""
    libraries = {one.library: one for one in SNIPPETS}
    chosen = st.segmented_control(
        "How to save them", list(libraries), key="import_library", persist_state="session",
        help="Lines that save what your members predict, with nothing of this program.",
    )  # fmt: skip
    if chosen:
        snippet(libraries[chosen])


def snippet(one: Snippet) -> None:
    """A library's lines, and what they take for given."""
    st.code(one.code, language="python")
    st.caption("; ".join(f"`{name}` is {what}" for name, what in one.names.items()) + ".")


def read(files: Sequence[Any]) -> MemberOutputs | str:
    """What the files hold, or why they cannot be taken; read once."""
    of = tuple(file.file_id for file in files)
    if tab.import_read is None or tab.import_read[0] != of:
        del tab.import_read
        with st.spinner("Reading …"):
            try:
                exchange.check_upload(sum(file.size for file in files))
                most = exchange.UNPACKED * exchange.most_upload_bytes()
                found: MemberOutputs | str = exchange.read(list(files), most)
            except EnsembleError as error:
                found = str(error)
        tab.import_read = of, found
    return tab.import_read[1]


def preview(found: MemberOutputs) -> None:
    """What was understood, before anything is kept."""
    last = average(found.probabilities[-1])
    right = float((last.argmax(axis=1) == found.labels).mean())
    counts = [
        formats.count(found.members, "member"), formats.count(found.examples, "example"),
        f"{found.classes:,} classes",
        *([formats.count(found.epochs, "epoch")] if found.epochs > 1 else []),
        "with images" if found.images is not None else "without images",
    ]  # fmt: skip
    st.markdown(f"##### {' · '.join(counts)}")
    names = ", ".join(found.class_names[:SHOWN])
    more = f" and {found.classes - SHOWN:,} more" if found.classes > SHOWN else ""
    said = f"Averaged, they get {formats.percent(right, found.examples)} right. Classes: "
    st.markdown(f"{said}{escaping.markdown(names)}{more}.")
    for note in found.notes:
        st.caption(escaping.markdown(note))


def accept(found: MemberOutputs, names: Sequence[str]) -> None:
    """Its name, and the button that keeps it."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.text_input(
            "Name", key="import_name", max_chars=NAME_LENGTH, placeholder="What to call it"
        )
        pressed = st.button("Keep it as a run", type="primary", icon=":material/check:",
                            key="import_keep")  # fmt: skip
    if not pressed:
        return
    with st.spinner("Writing it down …"):
        try:
            source = ", ".join(names)[:200]
            run = exchange.import_run(found, widget.value("import_name", ""), source)
        except EnsembleError as error:
            guard.problem(error)
            return
    close()
    loaders.forget_runs()
    st.switch_page("pages/inspect.py", query_params=address.RUN.link(run.id))
