"""SHA-256 of all files in a folder, in a file beside them that `sha256sum -c` checks as well.

A disk can hand back other bytes than were written without a word. Nothing else notices: most
formats hold numbers that any bits are a value of.
"""

import hashlib
import os
from pathlib import Path

from ensemble.storage.atomic_files import write_bytes
from ensemble.storage.plain_files import open_plain_file

CHECKSUM_FILE = "SHA256SUMS"


def write_checksums(folder: Path) -> None:
    """Write the checksums of every file below `folder`.

    Raises:
      OSError: a file that cannot be read, or a full disk.
    """
    rows = [f"{_hash_file(folder / name)}  {name}\n" for name in _list_checked_files(folder)]
    write_bytes(folder / CHECKSUM_FILE, "".join(rows).encode())


def find_checksum_damage(folder: Path) -> str | None:
    """What of the files below `folder` is not what was written, in a few words; None if all is.

    Every file is read, so that what cannot be read shows here. A folder without checksums, of an
    earlier version, has no damage that this could see.

    Raises:
      OSError: a file is there and cannot be read. That says nothing about what is in it.
    """
    digests = {name: _hash_file(folder / name) for name in _list_checked_files(folder)}
    try:
        wanted = (folder / CHECKSUM_FILE).read_text(encoding="ascii", errors="replace")
    except FileNotFoundError:
        return None
    for row in wanted.splitlines():
        digest, _, name = row.partition("  ")
        if name not in digests:
            return f"{name[:100] or CHECKSUM_FILE} is missing"
        if digests.pop(name) != digest:
            return f"{name} does not match its SHA-256"
    # What a file manager leaves has a dot before its name, and is no part of it.
    unlisted = [name for name in digests if not Path(name).name.startswith(".")]
    return f"{unlisted[0]} is not in {CHECKSUM_FILE}" if unlisted else None


def has_checksums(folder: Path) -> bool:
    """Whether the folder's files can be checked."""
    return (folder / CHECKSUM_FILE).is_file()


def _list_checked_files(folder: Path) -> list[str]:
    def raise_error(error: OSError) -> None:
        raise error

    # Not `rglob`, for which a folder that cannot be read is an empty one.
    every = os.walk(folder, onerror=raise_error)
    paths = (Path(at) / name for at, _, names in every for name in names if name != CHECKSUM_FILE)
    return sorted(path.relative_to(folder).as_posix() for path in paths)


def _hash_file(path: Path) -> str:
    with open_plain_file(path) as file:  # A pipe would be waited for.
        return hashlib.file_digest(file, "sha256").hexdigest()
