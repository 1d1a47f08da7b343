"""A run in forms that other programs take: the buttons, and the files that they save."""

import io
import subprocess
import tempfile
import threading
import zipfile
from pathlib import Path

import streamlit as st

from ensemble import architectures, runs
from ensemble.access import Action
from ensemble.export import EXPORT_FORMATS
from ensemble.export.export_format import ExportFormat
from ensemble.jobs.launch import build_worker_environment
from ensemble.machine.python_command import build_python_command
from ensemble.runs.parameters import list_parameter_epochs
from ensemble.ui.sign_in import rights
from ensemble.wording import escaping

LABEL = "Take it away"
HELP = (
    "For programs of your own, and for people who have nothing of this one. What is saved is "
    "judged on the test images first, which takes some seconds."
)
TIMEOUT_S = 1800.0
# One at a time: each has a process of its own, which wants the processor and memory.
_turn = threading.Lock()


def show_take_away(run: runs.Run) -> None:
    """The button that opens the forms, each with what it is good for."""
    config = run.training_config
    if config is None or not list_parameter_epochs(run.path):
        return  # it has no members
    own = architectures.is_custom_network(str(config.network))
    with st.popover(LABEL, icon=":material/output:", type="tertiary", key="run_take_away"):
        st.caption(HELP)
        for export_format in EXPORT_FORMATS.values():
            show_format_button(run, export_format, own and not export_format.suffix)


def show_format_button(run: runs.Run, export_format: ExportFormat, lacking: bool) -> None:
    """The button of one form; the file is made when it is pressed.

    Args:
      run: the run.
      export_format: the form.
      lacking: whether the run's network does not fit into it.
    """
    arguments = rights.build_control_arguments(
        Action.LAUNCH,
        disabled=lacking,
        help="A network of your own cannot come along: take its weights."
        if lacking
        else export_format.gloss,
    )
    run_id, name = run.id, export_format.name
    st.download_button(
        export_format.title,
        b"" if arguments["disabled"] else lambda: make_export_bytes(run_id, name),
        f"{escaping.sanitize_file_name(run.id)}{export_format.suffix or '.zip'}",
        "application/octet-stream" if export_format.suffix else "application/zip",
        key=f"run_take_{name}",
        icon=":material/download:",
        type="tertiary",
        on_click="ignore",
        width="content",
        **arguments,
    )


def make_export_bytes(run_id: str, format_name: str) -> bytes:
    """What `ensemble export` writes, a folder as a ZIP; where that fails, a text that says why."""
    export_format = EXPORT_FORMATS[format_name]
    with _turn, tempfile.TemporaryDirectory() as folder:
        path = Path(folder, f"export{export_format.suffix}")
        words = ["export", run_id, str(path), "--format", format_name]
        done = subprocess.run(
            build_python_command(*words, *["--with-members"] * export_format.holds_weights),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            env=build_worker_environment(),
            timeout=TIMEOUT_S,
            check=False,
        )
        if done.returncode:
            return done.stderr.strip().rpartition(b"\n")[2] + b"\n"
        return zip_folder(path) if path.is_dir() else path.read_bytes()


def zip_folder(folder: Path) -> bytes:
    """The files of a folder, in a folder `predict` of a ZIP."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in sorted(folder.iterdir()):
            archive.writestr(f"predict/{file.name}", file.read_bytes())
    return content.getvalue()
