"""The curves and figures as TensorBoard reads them: a folder of event files.

The ensemble and each member are a run of TensorBoard's, with the same tags: their curves lie over
each other in one chart. A file is named by no machine, as TensorBoard's own writers name it.
"""

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ensemble.export.csv_table import COLUMNS, ENSEMBLE, iterate_rows
from ensemble.export.export_format import FIGURES, EnsembleContent, ExportFormat
from ensemble.export.folder_replacement import open_atomic_folder
from ensemble.wording.escaping import escape_markdown, sanitize_file_name

FILE_NAME = "events.out.tfevents.0000000000.ensemble"
_FILE_VERSION = "brain.Event:2"  # the first word of every event file
ABOUT = "about"
_LENGTH = struct.Struct("<Q")
_CHECKSUM_BYTES = 4


def _write_tensorboard_events(content: EnsembleContent, path: Path, replace: bool) -> None:
    """Write a folder for the ensemble and one per member, in place of another run's; other files stay."""
    with open_atomic_folder(path, replaced=f"*/{FILE_NAME}") as folder:
        _write_event_files(content, folder)


def _write_event_files(content: EnsembleContent, folder: Path) -> None:
    from tensorboardX import summary
    from tensorboardX.proto.event_pb2 import Event
    from tensorboardX.record_writer import RecordWriter

    began = content.run.status.queued
    writers: dict[str, Any] = {}

    def write_event(who: str, **fields: Any) -> None:
        if who not in writers:
            home = create_free_folder(folder, sanitize_file_name(who))
            writers[who] = RecordWriter(str(home / FILE_NAME))
            write_event(who, wall_time=began, file_version=_FILE_VERSION)
        writers[who].write(Event(**fields).SerializeToString())

    try:
        about = summary.text(ABOUT, _format_about_table(content))
        write_event(ENSEMBLE, wall_time=began, step=content.epoch, summary=about)
        for epoch, who, seconds, *values in iterate_rows(content):
            for column, value in zip(COLUMNS[3:], values, strict=True):
                if value is not None:
                    scalar = summary.scalar(_format_tag(column), value)
                    write_event(who, wall_time=began + (seconds or 0), step=epoch, summary=scalar)
    finally:
        for writer in writers.values():
            writer.close()


def create_free_folder(folder: Path, name: str) -> Path:
    """A folder of this name within another; with a number where two names are spelt alike."""
    home, count = folder / name, 1
    while home.exists():
        count += 1
        home = folder / f"{name}-{count}"
    home.mkdir()
    return home


def _format_tag(column: str) -> str:
    """A column of the table as a tag: `test_nll` is `test/nll`, so that charts stand by split."""
    return column.replace("_", "/", 1)


def _format_about_table(content: EnsembleContent) -> str:
    rows = [f"| {name} | {escape_markdown(value)} |" for name, value in content.describe_as_text().items()]
    return "\n".join(["| | |", "| --- | --- |", *rows])


def _iterate_events(path: Path) -> Iterator[Any]:
    from tensorboardX.proto.event_pb2 import Event

    with path.open("rb") as file:
        while head := file.read(_LENGTH.size + _CHECKSUM_BYTES):
            (length,) = _LENGTH.unpack_from(head)
            yield Event.FromString(file.read(length))
            file.read(_CHECKSUM_BYTES)


def _judge_tensorboard_events(content: EnsembleContent, path: Path) -> tuple[dict[str, float], float | None]:
    tags = {_format_tag(f"test_{name}"): name for name in FIGURES}
    figures = {
        tags[value.tag]: float(value.simple_value)
        for event in _iterate_events(path / ENSEMBLE / FILE_NAME)
        for value in event.summary.value
        if event.step == content.epoch and value.tag in tags
    }
    return {name: figures[name] for name in FIGURES if name in figures}, None


FORMAT = ExportFormat(
    name="tensorboard",
    title="Curves and figures, TensorBoard",
    gloss="For TensorBoard: event files with the curves of the ensemble and of each member.",
    suffix="",
    holds_weights=False,
    write=_write_tensorboard_events,
    judge=_judge_tensorboard_events,
    packages=("tensorboardX",),
)
