"""name.txt: what a person calls a run."""

from ensemble.errors import RunError
from ensemble.jobs.folders import NAME_LENGTH, changing, folder_of
from ensemble.runs.store import Run, find
from ensemble.storage.atomic import write_bytes


def rename(run_id: str, name: str) -> Run:
    """Give a run a name for people; an empty one takes the name away.

    Raises:
      RunError: longer than 80 characters, or the folder cannot be written.
    """
    folder, name = folder_of(run_id), checked_name(name)
    with changing(folder):
        write_bytes(folder / "name.txt", name.encode())
    return find(run_id)


def checked_name(name: str) -> str:
    """A name for a run, on one line.

    Raises:
      RunError: longer than 80 characters.
    """
    name = " ".join(name.split())
    if len(name) > NAME_LENGTH:
        raise RunError(f"A name has at most {NAME_LENGTH} characters; this has {len(name)}.")
    return name
