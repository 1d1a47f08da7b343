"""Names of an archive's entries: read, and refused unless they stay in the folder they go to."""

import os
import re
import unicodedata
import zipfile

from ensemble.errors import DataError

_UTF8 = 0x800  # the flag that says a name is in UTF-8; others are in the tool's own encoding
MAX_DEPTH = 12  # folders within folders
_MAX_PATH_BYTES, _MAX_PART_BYTES = (1000, 255)  # bytes of a path and of each of its parts, as disks take them
_MAX_QUOTED_LETTERS = 80  # letters of a name that are said
_DRIVE = re.compile(r"[A-Za-z]:")
# What Windows takes for a device, with any ending.
_DEVICE = re.compile(r"(?i)(con|prn|aux|nul|com\d|lpt\d)(\..*)?")
# Beside the pictures lies what systems put there for themselves.
_SYSTEM_NAMES = {
    "__macosx",
    "thumbs.db",
    "ehthumbs.db",
    "desktop.ini",
    "$recycle.bin",
    "system volume information",
    "lost+found",
    "@eadir",
    "@tmp",
    "#recycle",
    "#snapshot",
    "__pycache__",
}


def decode_entry_name(info: zipfile.ZipInfo) -> str:
    """An entry's name as it was meant.

    Many tools write UTF-8 and do not say so, which then reads as letters of the first PC's.
    """
    name = info.orig_filename
    if info.flag_bits & _UTF8 or name.isascii():
        return name
    try:
        return name.encode("cp437").decode("utf-8")
    except UnicodeError:
        return name


def quote_entry_name(name: str) -> str:
    """The name for a sentence: one line, not too long."""
    excerpt = name if len(name) <= _MAX_QUOTED_LETTERS else name[: _MAX_QUOTED_LETTERS - 1] + "…"
    plain = "".join(letter if letter.isprintable() else "�" for letter in excerpt)
    return f"“{plain}”"


def parse_entry_path(name: str, windows: bool = os.name == "nt") -> tuple[str, ...]:
    """The parts of a path that stays below its folder; () for that folder itself.

    Raises:
      DataError: it leads elsewhere, or no disk would take it.
    """
    quoted_name, mend = quote_entry_name(name), "pack the folder again, from within"
    if any(unicodedata.category(letter) in ("Cc", "Cs") for letter in name):
        raise DataError(
            f"The name {quoted_name} in the archive contains characters that cannot be shown: rename the file."
        )
    if "\\" in name:
        raise DataError(
            f"The name {quoted_name} in the archive has a backslash, which systems read "
            "differently: pack the folder with another tool."
        )
    if name.startswith("/") or _DRIVE.match(name):
        raise DataError(f"{quoted_name} in the archive is an absolute path: {mend}.")
    parts = tuple(part for part in name.split("/") if part not in ("", "."))
    if ".." in parts:
        raise DataError(f"{quoted_name} in the archive points outside it (..): {mend}.")
    if len(parts) > MAX_DEPTH:
        raise DataError(
            f"{quoted_name} in the archive lies more than {MAX_DEPTH} folders deep: use one folder "
            "for each class, with its images in it."
        )
    sizes = [len(part.encode()) for part in parts]
    if sum(sizes) + len(sizes) > _MAX_PATH_BYTES or max(sizes, default=0) > _MAX_PART_BYTES:
        raise DataError(f"The name {quoted_name} in the archive is too long for a disk: shorten it.")
    if windows:
        _check_windows_name(parts, quoted_name)
    return parts


def is_system_entry(parts: tuple[str, ...]) -> bool:
    """Whether it is hidden, or a system's own, as `__MACOSX` and Thumbs.db are."""
    return any(map(is_system_name, parts))


def is_system_name(name: str) -> bool:
    """Whether a file or folder of that name is hidden, or put there by a system for itself."""
    return name.startswith(".") or name.strip().lower() in _SYSTEM_NAMES


class EntryTree:
    """Names that were met so far: each stands once, for the disk that they go to.

    Args:
      ignores_case: whether names are one there that differ in upper and lower case alone, or in
        their form of Unicode.
    """

    def __init__(self, *, ignores_case: bool) -> None:
        self._ignores_case = ignores_case
        self._spelled: dict[tuple[str, ...], tuple[tuple[str, ...], bool]] = {}

    def add_file(self, parts: tuple[str, ...]) -> None:
        """Note a file and its folders; DataError where something else has its name."""
        self.add_folder(parts[:-1])
        key = self._normalize_path(parts)
        if key in self._spelled:
            raise self._build_error(parts, self._spelled[key][0])
        self._spelled[key] = parts, True

    def add_folder(self, parts: tuple[str, ...]) -> None:
        """Note a folder and those that it is in; DataError where one is spelt in two ways."""
        for end in range(len(parts), 0, -1):
            here = parts[:end]
            spelling, is_file = self._spelled.setdefault(self._normalize_path(here), (here, False))
            if spelling != here or is_file:
                raise self._build_error(here, spelling)

    def _normalize_path(self, parts: tuple[str, ...]) -> tuple[str, ...]:
        if not self._ignores_case:
            return parts
        return tuple(unicodedata.normalize("NFC", part).casefold() for part in parts)

    def _build_error(self, parts: tuple[str, ...], other: tuple[str, ...]) -> DataError:
        where = "one on this disk, which ignores upper and lower case" if other != parts else "one"
        return DataError(
            f"{quote_entry_name('/'.join(parts))} and {quote_entry_name('/'.join(other))} in the "
            f"archive would be {where}: rename one of them, and pack the folder again."
        )


def _check_windows_name(parts: tuple[str, ...], quoted_name: str) -> None:
    for part in parts:
        if _DEVICE.fullmatch(part) or part[-1] in ". " or set(part) & set(':*?"<>|'):
            raise DataError(f"The name {quoted_name} in the archive is not allowed on Windows: rename it.")
