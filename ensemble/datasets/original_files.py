"""A dataset's original files on disk: put there by a person, or fetched earlier."""

import hashlib
from pathlib import Path

from ensemble.datasets.download_manifest import RemoteFile


def manual_download_folder(folder: Path) -> Path:
    """Where people put files they fetched themselves, in the data folder `folder`."""
    return folder / "downloads" / "manual"


def dataset_download_folder(folder: Path, name: str) -> Path:
    """Where files of dataset `name` are fetched to, and kept."""
    return folder / "downloads" / name


def find_original_file(file: RemoteFile, name: str, folder: Path) -> Path | None:
    """Where `file` of dataset `name` lies, if its size and SHA-256 are right there.

    The datasets' files have the same names, so one in `downloads/manual` may be another's: it
    is passed over. `downloads/manual/<name>` keeps them apart.

    Raises:
      OSError: a file is there but cannot be read.
    """
    manual = manual_download_folder(folder)
    for place in (manual / name, manual, dataset_download_folder(folder, name)):
        if _is_expected_file(place / file.name, file):
            return place / file.name
    return None


def _is_expected_file(path: Path, file: RemoteFile) -> bool:
    """Whether `path` holds `file`, byte for byte."""
    if not path.is_file() or path.stat().st_size != file.size:
        return False
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest() == file.sha256


def has_mismatched_file(file: RemoteFile, name: str, folder: Path) -> bool:
    """Whether `downloads/manual` has a file of this name that is not `file`."""
    manual = manual_download_folder(folder)
    paths = [place / file.name for place in (manual / name, manual)]
    return any(path.is_file() for path in paths) and not any(_is_expected_file(p, file) for p in paths)
