"""audit.jsonl beside the runs: who launched, stopped, changed or deleted what, a line each.

On a machine of one's own there is none. It grows to `MAX_LOG_BYTES`; the one before it is kept.
"""

import contextlib
import json
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ensemble.access.actions import OPEN_EVENT, REFUSAL_EVENT, SIGN_OUT_EVENT, Action
from ensemble.access.people import LOCAL, Person, current_person
from ensemble.access.rate_limiter import RateLimiter
from ensemble.storage.file_lock import lock_within_grace
from ensemble.storage.folders import runs_folder
from ensemble.storage.plain_files import open_plain_file, parse_json
from ensemble.storage.records.field_checks import Time, parse_dataclass

LOG_FILE, _OLDER_LOG_FILE, _LOG_LOCK_FILE = "audit.jsonl", "audit-older.jsonl", ".audit.lock"
MAX_LOG_BYTES = 10_000_000
MAX_SUBJECT_LETTERS = 200  # of what is written of a subject
# What costs nothing to do again and again does not push what was done out of the log: of each of
# these so many a minute and person, and of the same change one.
_LIMITED_EVENTS, MAX_EVENTS_PER_MINUTE = (REFUSAL_EVENT, OPEN_EVENT, SIGN_OUT_EVENT), 20
_event_limiter = RateLimiter()


@dataclass(frozen=True)
class AuditEntry:
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


def write_audit_entry(action: Action | str, subject: str, person: Person | None = None) -> None:
    """Add a line; on a machine of one's own there is none.

    What the disk refuses is not said to whoever asked: what they did is done.

    Args:
      action: what was done, or the name of an event.
      subject: to what: a run's id, a dataset's name.
      person: who did it; by default who asks now.
    """
    person = current_person() if person is None else person
    if person == LOCAL:
        return
    event = action.value if isinstance(action, Action) else action
    if _is_flooding(event, subject, person):
        return
    line = {
        "time": round(time.time(), 3),
        "who": person.name,
        "role": person.role.name.lower(),
        "action": event,
        "subject": subject[:MAX_SUBJECT_LETTERS],
    }
    with contextlib.suppress(OSError):
        _append_audit_row(runs_folder(), (json.dumps(line) + "\n").encode())


def read_audit_log() -> Iterator[AuditEntry]:
    """Yield the entries, oldest first, without lines that are torn or malformed.

    Raises:
      OSError: the log exists but cannot be read.
    """
    for name in (_OLDER_LOG_FILE, LOG_FILE):
        for row in _read_audit_rows(runs_folder() / name):
            with contextlib.suppress(ValueError):
                yield parse_dataclass(AuditEntry, parse_json(row))


def _is_flooding(event: str, subject: str, person: Person) -> bool:
    key = "\n".join((str(runs_folder()), event, person.name))
    if event in _LIMITED_EVENTS:
        return not _event_limiter.try_count(key, MAX_EVENTS_PER_MINUTE)
    return event == Action.CHANGE.value and not _event_limiter.try_count(f"{key}\n{subject}", 1)


def _read_audit_rows(path: Path) -> list[bytes]:
    try:
        with open_plain_file(path) as file:
            return file.read(2 * MAX_LOG_BYTES).split(b"\n")
    except FileNotFoundError:
        return []


def _append_audit_row(folder: Path, line: bytes) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    # One write of one line: lines of several processes do not mix.
    file = os.open(folder / LOG_FILE, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        os.write(file, line)
        size = os.fstat(file).st_size
    finally:
        os.close(file)
    if size > MAX_LOG_BYTES and (held := lock_within_grace(folder / _LOG_LOCK_FILE)):
        with held:
            if (folder / LOG_FILE).stat().st_size > MAX_LOG_BYTES:  # Nobody else has just done so.
                os.replace(folder / LOG_FILE, folder / _OLDER_LOG_FILE)
