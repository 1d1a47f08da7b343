"""A run in forms that other programs take: the buttons, and the files that they save."""

import io
import tempfile
import threading
import zipfile
from pathlib import Path

import streamlit as st

from ensemble import architectures, runs
from ensemble.access import Action
from ensemble.errors import EnsembleError
from ensemble.export import EXPORT_FORMATS
from ensemble.export.export_format import ExportFormat
from ensemble.export.export_process import export_in_process
from ensemble.export.extra_packages import describe_missing_packages
from ensemble.runs.parameters import list_parameter_epochs
from ensemble.ui.sign_in import rights
from ensemble.wording import escaping

LABEL = "Take it away"
HELP = (
    "For programs of your own, and for people who have nothing of this one. What is saved is "
    "judged on the test images first, which takes some seconds."
)
FOLDER_NAMES = {"folder": "predict", "tensorboard": "tensorboard"}
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
            show_format_button(run, export_format, describe_obstacle(export_format, own))


def describe_obstacle(export_format: ExportFormat, own: bool) -> str:
    """Why a run does not fit into a form, or the form is not to be had here; "" where it is.

    Args:
      export_format: the form.
      own: whether the run's network is a person's own.
    """
    if own and not export_format.takes_own_networks:
        return "A network of your own cannot come along: take its weights."
    return escaping.escape_markdown(describe_missing_packages(export_format))


def show_format_button(run: runs.Run, export_format: ExportFormat, obstacle: str) -> None:
    """The button of one form; the file is made when it is pressed, or `obstacle` says why not."""
    arguments = rights.build_control_arguments(
        Action.LAUNCH, disabled=bool(obstacle), help=obstacle or export_format.gloss
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
        path = Path(folder, f"{FOLDER_NAMES.get(format_name, 'export')}{export_format.suffix}")
        try:
            export_in_process(run_id, path, format_name)
        except EnsembleError as error:
            return f"Error: {error}\n".encode()
        return zip_folder(path) if path.is_dir() else path.read_bytes()


def zip_folder(folder: Path) -> bytes:
    """The files of a folder as a ZIP, in a folder of its name."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in sorted(each for each in folder.rglob("*") if each.is_file()):
            archive.writestr(file.relative_to(folder.parent).as_posix(), file.read_bytes())
    return content.getvalue()
