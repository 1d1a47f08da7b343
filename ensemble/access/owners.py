"""owner.json: whose a run, a solve or a sweep is, on a server that several people share."""

from pathlib import Path

from ensemble.access.actions import Action
from ensemble.access.people import current_person
from ensemble.access.permissions import check_permission
from ensemble.storage.atomic_files import read_json, write_json
from ensemble.storage.folders import runs_folder

OWNER_FILE = "owner.json"
MAX_ADDRESS_LETTERS = 254  # of an email address (RFC 5321)


def read_owner(folder: Path) -> str:
    """The name of who launched what is in `folder`; "" if nobody is known."""
    try:
        owner = read_json(folder / OWNER_FILE)["owner"]
    except (OSError, ValueError, TypeError, KeyError):
        return ""
    return owner if isinstance(owner, str) and len(owner) <= MAX_ADDRESS_LETTERS else ""


def write_owner(folder: Path) -> None:
    """Write down that what is in `folder` belongs to whoever asks now, if they have a name."""
    if name := current_person().name:
        write_json(folder / OWNER_FILE, {"owner": name})
    else:
        (folder / OWNER_FILE).unlink(missing_ok=True)  # of one before, where a folder is used again


def copy_owner(source: Path, other: Path) -> None:
    """What is in the folder `other` is made for what is in `source`: it is the same person's."""
    if owner := read_owner(source):
        write_json(other / OWNER_FILE, {"owner": owner})


def find_owner(folder: Path) -> str:
    """Whose it is that lies in `folder`: what is within a run is that of the run's owner."""
    runs = runs_folder()
    if runs in folder.parents:
        folder = runs / folder.relative_to(runs).parts[0]
    return read_owner(folder)


def check_folder_access(action: Action, folder: Path) -> None:
    """Refuse what whoever asks now may not do to what lies in `folder`.

    Raises:
      AccessError: they may not; it says what it takes.
    """
    check_permission(action, find_owner(folder))
