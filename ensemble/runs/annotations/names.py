"""name.txt: what a person calls a run."""

from ensemble.errors import RunError
from ensemble.jobs.folders import MAX_NAME_LENGTH, change_job_files, find_run_folder
from ensemble.runs.store import Run, find_run
from ensemble.storage.atomic_files import write_bytes


def rename_run(run_id: str, name: str) -> Run:
    """Give a run a name for people; an empty one takes the name away.

    Raises:
      RunError: longer than 80 characters, or the folder cannot be written.
    """
    write_run_name(run_id, name)
    return find_run(run_id)


def write_run_name(run_id: str, name: str) -> None:
    """Give a run of any kind a name; see `rename_run`."""
    folder, name = find_run_folder(run_id), normalize_run_name(name)
    with change_job_files(folder):
        write_bytes(folder / "name.txt", name.encode())


def normalize_run_name(name: str) -> str:
    """A name for a run, on one line.

    Raises:
      RunError: longer than 80 characters.
    """
    name = " ".join(name.split())
    if len(name) > MAX_NAME_LENGTH:
        raise RunError(f"A name has at most {MAX_NAME_LENGTH} characters; this has {len(name)}.")
    return name
