"""notes.md: what a person wrote about a run, of whatever kind."""

from ensemble.errors import RunError
from ensemble.jobs.folders import change_job_files, find_run_folder
from ensemble.jobs.job import Job
from ensemble.runs.run_folder import NOTE_FILE
from ensemble.storage.atomic_files import write_bytes
from ensemble.storage.plain_files import read_text_beginning

MAX_NOTE_LENGTH = 4000


def read_run_note(run: Job) -> str:
    """The note, "" when there is none; at most 4,000 characters of it."""
    try:
        return read_text_beginning(run.path / NOTE_FILE, 4 * MAX_NOTE_LENGTH)[:MAX_NOTE_LENGTH].strip()
    except OSError:
        return ""


def write_run_note(run_id: str, text: str) -> None:
    """Keep a note; an empty one takes it away.

    Raises:
      UnknownRunError: there is no such run.
      RunError: longer than 4,000 characters, or the folder cannot be written.
    """
    folder, text = find_run_folder(run_id), text.strip()
    if len(text) > MAX_NOTE_LENGTH:
        raise RunError(f"A note has at most {MAX_NOTE_LENGTH:,} characters; this has {len(text):,}.")
    with change_job_files(folder, "The note could not be saved"):
        if text:
            write_bytes(folder / NOTE_FILE, (text + "\n").encode())
        else:
            (folder / NOTE_FILE).unlink(missing_ok=True)
