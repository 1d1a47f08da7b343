"""The folder of a dataset whose files are known by their names: listed once for all formats."""

import os
from dataclasses import dataclass
from pathlib import Path

from ensemble.datasets.own.sources.encoded.picture_decoding import SUFFIXES
from ensemble.errors import DataError
from ensemble.storage.archives.entry_names import is_system_name
from ensemble.storage.disk_errors import describe_error_with_path

_MAX_DEPTH = 4  # folders that hold nothing but another


@dataclass(frozen=True)
class SourceFolder:
    """What is in a folder, without hidden files and what file managers leave.

    Attributes:
      path: the folder.
      files: plain files by name; links to files out of the folder are none.
      folders: folders by name, no links.
    """

    path: Path
    files: tuple[Path, ...]
    folders: tuple[Path, ...]

    @property
    def holds_pictures(self) -> bool:
        """Whether there are pictures, or folders in which some may lie."""
        return bool(self.folders or self.select_files(*SUFFIXES))

    def select_files(self, *suffixes: str) -> list[Path]:
        """The files whose names end so, in whatever case."""
        return [path for path in self.files if path.name.lower().endswith(suffixes)]


def list_source_folder(path: Path) -> SourceFolder:
    """What is in a folder, or in the only one within it, as an archive's folder often is.

    Raises:
      DataError: one cannot be read.
    """
    folder = _list_folder(path)
    for _ in range(_MAX_DEPTH):
        if folder.files or len(folder.folders) != 1:
            break
        folder = _list_folder(folder.folders[0])
    return folder


def _list_folder(path: Path) -> SourceFolder:
    files, folders = [], []
    try:
        with os.scandir(path) as inside:
            for entry in sorted(inside, key=lambda entry: entry.name):
                if is_system_name(entry.name):
                    continue
                if entry.is_dir(follow_symlinks=False):
                    folders.append(path / entry.name)
                elif entry.is_file() and (not entry.is_symlink() or _leads_within(path / entry.name, path)):
                    files.append(path / entry.name)
    except OSError as error:
        raise DataError(f"The folder cannot be read ({describe_error_with_path(error)}): give another.") from error
    return SourceFolder(path, tuple(files), tuple(folders))


def _leads_within(link: Path, folder: Path) -> bool:
    return Path(os.path.realpath(link)).is_relative_to(os.path.realpath(folder))
