"""notes.md: what a person wrote about a run."""

from ensemble.errors import RunError
from ensemble.jobs.folders import changing, folder_of
from ensemble.runs.store import Run
from ensemble.storage.atomic import write_bytes
from ensemble.storage.reading import read_beginning

FILE = "notes.md"
NOTE_LENGTH = 4000


def read_note(run: Run) -> str:
    """The note, "" when there is none; at most 4,000 characters of it."""
    try:
        return read_beginning(run.path / FILE, 4 * NOTE_LENGTH)[:NOTE_LENGTH].strip()
    except OSError:
        return ""


def write_note(run_id: str, text: str) -> None:
    """Keep a note; an empty one takes it away.

    Raises:
      UnknownRunError: there is no such run.
      RunError: longer than 4,000 characters, or the folder cannot be written.
    """
    folder, text = folder_of(run_id), text.strip()
    if len(text) > NOTE_LENGTH:
        raise RunError(f"A note has at most {NOTE_LENGTH:,} characters; this has {len(text):,}.")
    with changing(folder, "The note could not be kept"):
        if text:
            write_bytes(folder / FILE, (text + "\n").encode())
        else:
            (folder / FILE).unlink(missing_ok=True)
