"""audit.jsonl beside the runs: who launched, stopped, changed or deleted what, a line each.

On a machine of one's own there is none. It grows to `MOST_BYTES`; the one before it is kept.
"""

import contextlib
import json
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ensemble.access.actions import OPENED, REFUSED, SIGNED_OUT, Action
from ensemble.access.people import LOCAL, Person, acting
from ensemble.access.per_minute import PerMinute
from ensemble.storage.folders import runs_folder
from ensemble.storage.lock import lock_soon
from ensemble.storage.reading import opened, parse_json
from ensemble.storage.records.fields import Time, read_as

FILE, OLDER, LOCK = "audit.jsonl", "audit-older.jsonl", ".audit.lock"
MOST_BYTES = 10_000_000
MOST_LETTERS = 200  # of what is written of a subject
# What costs nothing to do again and again does not push what was done out of the log: of each of
# these so many a minute and person, and of the same change one.
OFTEN, MOST_REFUSALS = (REFUSED, OPENED, SIGNED_OUT), 20
_often = PerMinute()


@dataclass(frozen=True)
class Entry:
    """A line of the log.

    Attributes:
      time: unix seconds.
      who: an address; "" of a visitor who had not signed in.
      role: theirs, then.
      action: the value of an `Action`, or one of the others in `actions`.
      subject: to what: a run's id, a dataset's name; of what was refused, the action.
    """

    time: Time
    who: str
    role: str
    action: str
    subject: str


def write(action: Action | str, subject: str, person: Person | None = None) -> None:
    """Add a line; on a machine of one's own there is none.

    What the disk refuses is not said to whoever asked: what they did is done.

    Args:
      action: what was done, or the name of an event.
      subject: to what: a run's id, a dataset's name.
      person: who did it; by default who asks now.
    """
    person = acting() if person is None else person
    if person == LOCAL:
        return
    said = action.value if isinstance(action, Action) else action
    if _is_flood(said, subject, person):
        return
    line = {
        "time": round(time.time(), 3),
        "who": person.name,
        "role": person.role.name.lower(),
        "action": said,
        "subject": subject[:MOST_LETTERS],
    }
    with contextlib.suppress(OSError):
        _append(runs_folder(), (json.dumps(line) + "\n").encode())


def read(since: float = 0.0, who: str = "") -> Iterator[Entry]:
    """The lines there are, oldest first, without those that are torn or odd.

    Args:
      since: unix seconds; what was before is left out.
      who: an address; "" for everybody's.

    Raises:
      OSError: the log is there and cannot be read.
    """
    for name in (OLDER, FILE):
        for row in _rows(runs_folder() / name):
            with contextlib.suppress(ValueError):
                entry = read_as(Entry, parse_json(row))
                if entry.time >= since and (not who or entry.who == who.strip().lower()):
                    yield entry


def _is_flood(said: str, subject: str, person: Person) -> bool:
    of = "\n".join((str(runs_folder()), said, person.name))
    if said in OFTEN:
        return not _often.take(of, MOST_REFUSALS)
    return said == Action.CHANGE.value and not _often.take(f"{of}\n{subject}", 1)


def _rows(path: Path) -> list[bytes]:
    try:
        with opened(path) as file:
            return file.read(2 * MOST_BYTES).split(b"\n")
    except FileNotFoundError:
        return []


def _append(folder: Path, line: bytes) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    # One write of one line: lines of several processes do not mix.
    file = os.open(folder / FILE, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        os.write(file, line)
        size = os.fstat(file).st_size
    finally:
        os.close(file)
    if size > MOST_BYTES and (held := lock_soon(folder / LOCK)):
        with held:
            if (folder / FILE).stat().st_size > MOST_BYTES:  # Nobody else has just done so.
                os.replace(folder / FILE, folder / OLDER)
