"""Looking through a folder that somebody else filled: pictures, others, links, in a fixed order."""

import os
from collections.abc import Collection
from pathlib import Path

from ensemble.datasets.own.source import format_name_list
from ensemble.datasets.own.sources.encoded.picture_decoding import SUFFIXES
from ensemble.errors import DataError
from ensemble.storage.archives.entry_names import is_system_name
from ensemble.storage.disk_errors import describe_error_with_path

_MOST_PICTURES = 5_000_000
MAX_DEPTH = 32  # folders within one another


class FolderWalk:
    """Looks into folders below `root`, and remembers what it passed over.

    Attributes:
      skipped_files: files that are no pictures by their names, and pictures beside the classes.
      skipped_links: links that were not followed.
      labelled: pictures of each split and class whose labels are in a table, next to folders that are classes.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self.skipped_files: list[str] = []
        self.skipped_links: list[str] = []
        self.labelled: dict[str, dict[str, list[Path]]] = {}
        self._seen: set[str] = set()
        self._listed: dict[Path, tuple[list[Path], list[Path]]] = {}
        self._found = 0

    def relative_path(self, path: Path | str) -> str:
        """A path for people: from the root on."""
        return os.path.relpath(path, self.root)

    def list_folder(self, folder: Path) -> tuple[list[Path], list[Path]]:
        """The folders and the pictures in a folder, each by name.

        Raises:
          DataError: it cannot be read.
        """
        if folder in self._listed:
            folders, pictures = self._listed[folder]
            return folders.copy(), pictures.copy()
        folders, pictures = [], []
        try:
            with os.scandir(folder) as inside:
                every = sorted(inside, key=lambda dir_entry: dir_entry.name)
        except OSError as error:
            raise DataError(
                f"The folder cannot be read ({describe_error_with_path(error)}): make it "
                "readable for you, or give another."
            ) from error
        for entry in every:
            if is_system_name(entry.name):
                continue
            if entry.is_symlink() and not self._is_within_root(entry):
                self._record_path(self.skipped_links, entry.path)
            elif entry.is_dir(follow_symlinks=False):
                folders.append(Path(entry.path))
            elif entry.is_file() and os.path.splitext(entry.name)[1].lower() in SUFFIXES:
                pictures.append(Path(entry.path))
            else:
                self._record_path(self.skipped_files, entry.path)
        self._found += len(pictures)
        self._listed[folder] = folders, pictures
        return folders.copy(), pictures.copy()

    def claim_pictures(self, paths: Collection[Path]) -> None:
        """Leave pictures out of what is listed from now on."""
        for folder in {path.parent for path in paths}:
            folders, pictures = self.list_folder(folder)
            self._listed[folder] = folders, [path for path in pictures if path not in paths]

    def list_pictures(self, folder: Path, depth: int = 0) -> list[Path]:
        """All pictures in a folder and those within it.

        Raises:
          DataError: one cannot be read, or there are too many.
        """
        folders, pictures = self.list_folder(folder)
        if self._found > _MOST_PICTURES:
            raise DataError(f"There are more than {_MOST_PICTURES:,} pictures: add a part of them.")
        if depth < MAX_DEPTH:
            for inner in folders:
                pictures += self.list_pictures(inner, depth + 1)
        return pictures

    def has_pictures(self, folder: Path, depth: int = 0) -> bool:
        """Whether there is a picture in a folder or within it.

        Raises:
          DataError: one cannot be read.
        """
        folders, pictures = self.list_folder(folder)
        below = depth < MAX_DEPTH and any(self.has_pictures(one, depth + 1) for one in folders)
        return bool(pictures) or below

    def describe_skipped(self) -> list[str]:
        """What was passed over, a sentence each."""
        sentences = []
        if self.skipped_files:
            subject = (
                "1 file is not a picture of a class and is"
                if len(self.skipped_files) == 1
                else (f"{len(self.skipped_files):,} files are not pictures of a class and are")
            )
            sentences.append(f"{subject} left out: {format_name_list(self.skipped_files)}.")
        if self.skipped_links:
            subject = "1 link is" if len(self.skipped_links) == 1 else f"{len(self.skipped_links):,} links are"
            sentences.append(
                f"{subject} not followed, to folders or out of the source: {format_name_list(self.skipped_links)}."
            )
        return sentences

    def format_skipped_hint(self) -> str:
        """Why there may be so little, to follow a refusal."""
        return "".join(f" {sentence}" for sentence in self.describe_skipped())

    def _is_within_root(self, entry: "os.DirEntry[str]") -> bool:
        """Whether a link leads to a file below the root; those to folders may go in circles."""
        target = Path(os.path.realpath(entry.path))
        return target.is_file() and target.is_relative_to(os.path.realpath(self.root))

    def _record_path(self, among: list[str], path: str) -> None:
        if path not in self._seen:  # a folder may be looked into twice
            self._seen.add(path)
            among.append(self.relative_path(path))
