"""What a .zip says that it holds: every entry harmless, all within bounds, none over another.

Format: PKWARE, "APPNOTE.TXT - .ZIP File Format Specification". Entries that overlap: D. Fifield,
"A better zip bomb", WOOT 2019.
"""

import stat
import zipfile
from dataclasses import dataclass

from ensemble.errors import DataError
from ensemble.storage.archives import entry_names

_ZIP_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_ENCRYPTED = 0x1 | 0x40 | 0x2000  # flags: by password, strongly, with its list of contents
_LOCAL_HEADER_BYTES = 30  # bytes before an entry's name
# Archives within it: they stay closed, for each could hold another.
_NESTED_SUFFIXES = (".zip", ".7z", ".rar", ".tar", ".tgz", ".tbz2", ".txz", ".jar", ".iso", ".dmg")
REPACK_ADVICE = "pack the folder again with your system's own tool"


@dataclass(frozen=True)
class ArchiveLimits:
    """What an archive may ask for.

    Attributes:
      files: entries, folders among them.
      unpacked: bytes of all files together.
      file: bytes of any one file.
      contents: bytes of the archive's own list of what it holds.
    """

    files: int = 300_000
    unpacked: int = 8 * 2**30
    file: int = 2 * 2**30
    contents: int = 64 * 2**20


DEFAULT_LIMITS = ArchiveLimits()


@dataclass(frozen=True)
class PlannedFile:
    """An entry that is a file, and the parts of the path it goes to."""

    info: zipfile.ZipInfo
    parts: tuple[str, ...]
    quoted_name: str


@dataclass(frozen=True)
class UnpackPlan:
    """What is to be written, and what of the archive is not.

    Attributes:
      files: in the archive's order.
      skipped, nested: as of `Unpacked`.
    """

    files: tuple[PlannedFile, ...]
    skipped: int
    nested: tuple[str, ...]

    @property
    def nbytes(self) -> int:
        """Bytes that the files will take, as the archive says."""
        return sum(file.info.file_size for file in self.files)


def too_many_files_error(limits: ArchiveLimits) -> DataError:
    return DataError(
        f"The archive holds more than {limits.files:,} files: add the unpacked folder with "
        "`ensemble data add` instead, or take fewer images."
    )


def plan_unpacking(archive: zipfile.ZipFile, limits: ArchiveLimits, *, ignores_case: bool) -> UnpackPlan:
    """The files to write, in the archive's order, once every entry is harmless.

    Raises:
      DataError: one is not; it is named.
    """
    infos = archive.infolist()
    if len(infos) > limits.files:
        raise too_many_files_error(limits)
    tree, plan, nested, skipped, total = (entry_names.EntryTree(ignores_case=ignores_case), [], [], 0, 0)
    for info in infos:
        name = entry_names.decode_entry_name(info)
        quoted_name = entry_names.quote_entry_name(name)
        parts = entry_names.parse_entry_path(name)
        _check_entry_kind(info, quoted_name)
        if info.is_dir() or not parts:
            tree.add_folder(parts)
            continue
        tree.add_file(parts)
        total += info.file_size
        if info.file_size > limits.file:
            raise DataError(
                f"{quoted_name} in the archive would take {info.file_size / 1e9:,.1f} GB unpacked, "
                f"more than the {limits.file / 1e9:,.1f} GB allowed for one file: leave it out."
            )
        if total > limits.unpacked:
            raise DataError(
                f"The archive would take more than {limits.unpacked / 1e9:,.1f} GB unpacked "
                f"({quoted_name} is beyond that): take fewer or smaller images."
            )
        if entry_names.is_system_entry(parts):
            skipped += 1
        elif parts[-1].lower().endswith(_NESTED_SUFFIXES):
            nested.append(name)
        else:
            plan.append(PlannedFile(info, parts, quoted_name))
    if not plan:
        raise DataError("The archive holds no files to read: pack the folder with your images.")
    _check_entry_overlap(archive)
    return UnpackPlan(tuple(plan), skipped, tuple(nested))


def _check_entry_kind(info: zipfile.ZipInfo, quoted_name: str) -> None:
    """DataError unless the entry is a plain file or folder, packed in an ordinary way."""
    kind = stat.S_IFMT(info.external_attr >> 16)
    if kind == stat.S_IFLNK:
        raise DataError(
            f"{quoted_name} in the archive is a link, and links are not followed: pack the file "
            "that it points to, or leave it out."
        )
    if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
        raise DataError(f"{quoted_name} in the archive is a device or a pipe, not a file: leave it out.")
    if info.flag_bits & _ENCRYPTED:
        raise DataError(f"{quoted_name} in the archive is encrypted: pack the folder without a password.")
    if info.compress_type not in _ZIP_METHODS:
        raise DataError(
            f"{quoted_name} in the archive is packed by an unsupported method "
            f"({info.compress_type}): {REPACK_ADVICE}, as an ordinary .zip."
        )


def _check_entry_overlap(archive: zipfile.ZipFile) -> None:
    """DataError where two entries share bytes, or one lies outside the archive."""
    end, before = 0, ""
    for info in sorted(archive.infolist(), key=lambda entry: entry.header_offset):
        quoted_name = entry_names.quote_entry_name(entry_names.decode_entry_name(info))
        if info.header_offset < end:
            shared = f" with {before}" if before else ""
            raise DataError(
                f"{quoted_name} in the archive shares its bytes{shared}, which no ordinary tool does: {REPACK_ADVICE}."
            )
        # At least: what else the entry's own header holds is not known before it is read.
        least = _LOCAL_HEADER_BYTES + len(info.orig_filename) + info.compress_size
        end, before = info.header_offset + least, quoted_name
    if end > archive.start_dir:
        raise DataError(f"{before} in the archive is longer than the archive itself: {REPACK_ADVICE}.")
