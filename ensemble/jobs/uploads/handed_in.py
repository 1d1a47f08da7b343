"""A file that was handed in, and how it is to be prepared; opened where it lies."""

import os
import re
import shutil
from dataclasses import dataclass
from pathlib import Path

from ensemble.datasets.own.request import Preparation
from ensemble.datasets.progress import Progress
from ensemble.errors import DataError
from ensemble.storage.archives.unpacking import unpack

SUFFIXES = (".zip", ".npz")
SOURCE, UNPACKED = "source", "unpacked"  # folders within an upload's
# Options that sentences name, as the page calls them.
ON_THE_PAGE = {"--size": "Size", "--test-share": "Test share", "--max-unreadable": "Unreadable"}


@dataclass(frozen=True)
class Request:
    """What was handed in, and how it is to be prepared.

    Attributes:
      file: its name, as the browser said it; only to be shown.
      size, test_share, max_unreadable: as of `Preparation`.
    """

    file: str
    size: int = 0
    test_share: float = 0.2
    max_unreadable: float = 0.01

    @property
    def how(self) -> Preparation:
        """How it is to be prepared; ConfigError where that cannot be."""
        return Preparation(
            size=self.size, test_share=self.test_share, max_unreadable=self.max_unreadable
        )

    @property
    def suffix(self) -> str:
        """ ".zip" or ".npz", else DataError."""
        found = Path(self.file).suffix.lower()
        if found not in SUFFIXES:
            raise DataError(
                f"“{self.file:.60}” is neither a .zip nor an .npz: pack the folder of your images "
                "as a .zip, or save your arrays with numpy.savez."
            )
        return found

    @property
    def stem(self) -> str:
        """The file's name without its ending, as any disk takes it: sentences quote it."""
        plain = re.sub(r"[^\w -]+", " ", Path(self.file).stem)
        return " ".join(plain.split())[:60] or "upload"


def opened(folder: Path, request: Request, progress: Progress) -> Path:
    """What is to be read: the file, or the folder that was packed in it, unpacked once."""
    stem, suffix = request.stem, request.suffix
    file = folder / SOURCE / (stem + suffix)
    if suffix != ".zip":
        return file
    inner, half = folder / UNPACKED / stem, folder / UNPACKED / ".part"
    if not inner.is_dir():
        inner.parent.mkdir(exist_ok=True)
        shutil.rmtree(half, ignore_errors=True)  # a killed process left it
        with file.open("rb") as content:
            unpack(content, half, progress=progress)
        half.rename(inner)
    return inner


def on_the_page(said: str, folder: Path) -> str:
    """A sentence for people who see no folders of the server, nor options of the command line."""
    for one in (folder / UNPACKED, folder / SOURCE):
        said = said.replace(f"{one}{os.sep}", "")
    for option, field in ON_THE_PAGE.items():
        said = re.sub(rf"(a (larger|smaller) )?{option}\b( \d+)?", rf"\1“{field}” below", said)
    return said
