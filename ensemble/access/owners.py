"""owner.json: whose a run, a solve or a sweep is, on a server that several people share."""

from pathlib import Path

from ensemble.access.actions import Action
from ensemble.access.people import acting
from ensemble.access.permissions import check
from ensemble.storage.atomic import read_json, write_json
from ensemble.storage.folders import runs_folder

FILE = "owner.json"
MOST_LETTERS = 254  # of an email address (RFC 5321)


def read_owner(folder: Path) -> str:
    """The name of who launched what is in `folder`; "" where nobody is known."""
    try:
        owner = read_json(folder / FILE)["owner"]
    except (OSError, ValueError, TypeError, KeyError):
        return ""
    return owner if isinstance(owner, str) and len(owner) <= MOST_LETTERS else ""


def keep_owner(folder: Path) -> None:
    """Write down that what is in `folder` belongs to whoever asks now, if they have a name."""
    if name := acting().name:
        write_json(folder / FILE, {"owner": name})
    else:
        (folder / FILE).unlink(missing_ok=True)  # of one before, where a folder is used again


def hand_on(one: Path, other: Path) -> None:
    """What is in the folder `other` is made for what is in `one`: it is the same person's."""
    if owner := read_owner(one):
        write_json(other / FILE, {"owner": owner})


def owner_of(folder: Path) -> str:
    """Whose it is that lies in `folder`: what is within a run is that of the run's owner."""
    runs = runs_folder()
    if runs in folder.parents:
        folder = runs / folder.relative_to(runs).parts[0]
    return read_owner(folder)


def check_own(action: Action, folder: Path) -> None:
    """Refuse what whoever asks now may not do to what lies in `folder`.

    Raises:
      AccessError: they may not; it says what it takes.
    """
    check(action, owner_of(folder))
