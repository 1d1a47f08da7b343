"""A run in forms that other programs take: the buttons, and the files that they save."""

import io
import subprocess
import tempfile
import threading
import zipfile
from collections.abc import Callable
from pathlib import Path

import streamlit as st

from ensemble import architectures, runs
from ensemble.access import Action
from ensemble.errors import EnsembleError
from ensemble.export import EXPORT_FORMATS
from ensemble.export.export_format import ExportFormat
from ensemble.export.export_process import export_in_process
from ensemble.extras import EXPORT, describe_missing_packages
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
PAGE_TITLE = "A page that classifies"
_PAGE_GLOSS = (
    "For somebody with a browser and nothing else: the report as one HTML file that opens offline, "
    "in which they draw, or open a picture, and every member answers."
)
_OWN_NETWORK_OBSTACLE = "A network of your own cannot come along: take its weights."
TIMEOUT_S = 1800.0
_FOLDER_NAMES = {"folder": "predict", "tensorboard": "tensorboard"}
# One at a time: each has a process of its own, which wants the processor and memory.
_turn = threading.Lock()


def show_take_away(run: runs.Run) -> None:
    config = run.training_config
    if config is None or not list_parameter_epochs(run.path):
        return  # it has no members
    own = architectures.is_custom_network(str(config.network))
    with st.popover(LABEL, icon=":material/output:", type="tertiary", key="run_take_away"):
        st.caption(HELP)
        for export_format in EXPORT_FORMATS.values():
            _show_format_button(run, export_format, _describe_obstacle(export_format, own))
        _show_page_export_button(run, _OWN_NETWORK_OBSTACLE if own else "")


def _describe_obstacle(export_format: ExportFormat, own: bool) -> str:
    """Why a run does not fit into a form, or the form is not to be had here; "" where it is."""
    if own and not export_format.takes_own_networks:
        return _OWN_NETWORK_OBSTACLE
    return escaping.escape_markdown(describe_missing_packages(export_format.name, export_format.packages, EXPORT))


def _show_format_button(run: runs.Run, export_format: ExportFormat, obstacle: str) -> None:
    """The button of one form; the file is made when it is pressed, or `obstacle` says why not."""
    run_id, name = run.id, export_format.name
    _show_file_button(
        run,
        export_format.title,
        gloss=export_format.gloss,
        make_bytes=lambda: make_export_bytes(run_id, name),
        suffix=export_format.suffix or ".zip",
        media_type="application/octet-stream" if export_format.suffix else "application/zip",
        name=name,
        obstacle=obstacle,
    )


def _show_page_export_button(run: runs.Run, obstacle: str) -> None:
    run_id = run.id
    _show_file_button(
        run,
        PAGE_TITLE,
        gloss=_PAGE_GLOSS,
        make_bytes=lambda: make_page_bytes(run_id),
        suffix=".html",
        media_type="text/html",
        name="page",
        obstacle=obstacle,
    )


def _show_file_button(
    run: runs.Run,
    title: str,
    gloss: str,
    make_bytes: Callable[[], bytes],
    suffix: str,
    media_type: str,
    name: str,
    obstacle: str,
) -> None:
    """A button that saves what `make_bytes` makes when it is pressed.

    Args:
      obstacle: why it cannot be had; "" where it can.
    """
    arguments = rights.build_control_arguments(Action.LAUNCH, disabled=bool(obstacle), help=obstacle or gloss)
    st.download_button(
        title,
        b"" if arguments["disabled"] else make_bytes,
        f"{escaping.sanitize_file_name(run.id)}{suffix}",
        media_type,
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
        path = Path(folder, f"{_FOLDER_NAMES.get(format_name, 'export')}{export_format.suffix}")
        try:
            export_in_process(run_id, path, format_name)
        except EnsembleError as error:
            return f"Error: {error}\n".encode()
        return _zip_folder(path) if path.is_dir() else path.read_bytes()


def make_page_bytes(run_id: str) -> bytes:
    """What `ensemble report --with-members` writes; where that fails, its last line of stderr."""
    with _turn, tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "page.html")
        done = subprocess.run(
            build_python_command("report", run_id, "--out", str(path), "--with-members"),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            env=build_worker_environment(),
            timeout=TIMEOUT_S,
            check=False,
        )
        if done.returncode:
            return done.stderr.strip().rpartition(b"\n")[2] + b"\n"
        return path.read_bytes()


def _zip_folder(folder: Path) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in sorted(each for each in folder.rglob("*") if each.is_file()):
            archive.writestr(file.relative_to(folder.parent).as_posix(), file.read_bytes())
    return content.getvalue()
