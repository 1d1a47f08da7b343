"""tags.json: words by which runs are found and compared together; a sweep tags its trials."""

from collections.abc import Iterable
from pathlib import Path

from ensemble.errors import RunError
from ensemble.jobs.folders import change_job_files, find_run_folder
from ensemble.storage.atomic_files import read_json, write_json

TAGS_FILE = "tags.json"
MAX_TAG_LENGTH, _MAX_TAGS = 40, 20


def read_tags(folder: Path) -> tuple[str, ...]:
    """The tags of the run in `folder`, in the order in which they were given; () for none."""
    try:
        return normalize_tags(read_json(folder / TAGS_FILE)["tags"])
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RunError):
        return ()  # Whatever it is, it is no tags.


def is_sweep_tag(tag: str) -> bool:
    """Return whether a tag is the id of a sweep; all trials of a sweep have it."""
    return tag.startswith("sweep-")


def write_tags(run_id: str, tags: Iterable[str]) -> None:
    """Give a run these tags and no others.

    Raises:
      UnknownRunError: there is no such run.
      RunError: a tag too long, or too many; or the folder cannot be written.
    """
    folder, tags = find_run_folder(run_id), normalize_tags(tags)
    with change_job_files(folder, "The tags could not be saved"):
        write_tags_file(folder, tags)


def write_tags_file(folder: Path, tags: tuple[str, ...]) -> None:
    """Write the tags of the run in `folder`; none takes the file away."""
    if tags:
        write_json(folder / TAGS_FILE, {"tags": list(tags)})
    else:
        (folder / TAGS_FILE).unlink(missing_ok=True)


def normalize_tags(tags: Iterable[str]) -> tuple[str, ...]:
    """Tags on one line each, without empty ones, each once.

    Raises:
      RunError: longer than 40 characters, or more than 20.
    """
    distinct_tags = tuple(dict.fromkeys(filter(None, (" ".join(tag.split()) for tag in tags))))
    if len(distinct_tags) > _MAX_TAGS:
        raise RunError(f"A run has at most {_MAX_TAGS} tags; these are {len(distinct_tags):,}.")
    if long := next((tag for tag in distinct_tags if len(tag) > MAX_TAG_LENGTH), ""):
        raise RunError(f"A tag has at most {MAX_TAG_LENGTH} characters; this has {len(long):,}.")
    return distinct_tags


def change_tags(run_id: str, add: Iterable[str] = (), remove: Iterable[str] = ()) -> None:
    """Give a run some tags and take others away; what it has beside them stays.

    Raises:
      As `write_tags`.
    """
    gone, now = set(normalize_tags(remove)), read_tags(find_run_folder(run_id))
    write_tags(run_id, [*(tag for tag in now if tag not in gone), *add])
