"""A copy of a checkout, in which one file at a time is broken."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.mutations.places import MissingPlaceError, Place


class WorkingCopy:
    """What git knows of a checkout and has not been told to ignore, in a folder of its own.

    Args:
      root: the checkout, which is left alone.
      folder: an existing folder for the copy. What tests look for beside a checkout, `shared/`, is
        linked there as well.
    """

    def __init__(self, root: Path, folder: Path) -> None:
        self.root, self.tree = root.resolve(), folder / "tree"
        for name in list_files(self.root):
            source, target = self.root / name, self.tree / name
            if source.is_symlink() or source.is_file():  # One may be deleted and not yet committed.
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(source, target, follow_symlinks=False)
        link_folder(self.root / ".venv", self.tree / ".venv")
        link_folder(self.root.parent / "shared", folder / "shared")

    @contextmanager
    def broken_at(self, place: Place) -> Iterator[None]:
        """Within this the place's file has the slip in it.

        Raises:
          MissingPlaceError: the place's text is not there, or not once.
        """
        file = self.tree / place.file
        if not file.is_file():
            raise MissingPlaceError(f"{place.file}: there is no such file")
        broken = place.break_source(file.read_text("utf-8"))
        compile(broken, place.file, "exec")  # A slip that is no Python would always be noticed.
        changed = file.stat().st_mtime
        file.write_text(broken, "utf-8")
        # By the second of its change and its size Python tells what it has compiled of a file.
        os.utime(file, (changed, changed + place.number))
        try:
            yield
        finally:
            shutil.copy2(self.root / place.file, file)


def list_files(root: Path) -> list[str]:
    """The files of a checkout that git knows, or would add."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    output = subprocess.run(command, cwd=root, check=True, capture_output=True).stdout
    return [os.fsdecode(name) for name in output.split(b"\0") if name]


def read_commit(root: Path) -> str:
    """The commit that a checkout stands at."""
    command = ["git", "rev-parse", "HEAD"]
    process = subprocess.run(command, cwd=root, check=True, capture_output=True, text=True)
    return process.stdout.strip()


def link_folder(source: Path, target: Path) -> None:
    """Link a folder where it is there and its place is free."""
    if source.is_dir() and not os.path.lexists(target):
        target.symlink_to(source.resolve())
