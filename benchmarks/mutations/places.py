"""The places that are broken: what stands there, what is put in its stead, and why that matters."""

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import NamedTuple

PLACES_FILE = Path(__file__).with_name("places.toml")


class MissingPlaceError(Exception):
    """A place's text is not in its file, or there more than once."""


class Place(NamedTuple):
    """One line of the program, and a plausible slip in it.

    Attributes:
      number: its place in the list, from 1.
      file: from the repository's root on.
      old: what stands there; a blank stands for any white space.
      new: the slip.
      why: what kind of slip it is, and what comes of it.
    """

    number: int
    file: str
    old: str
    new: str
    why: str

    @property
    def package(self) -> str:
        """The folder below `tests/` of this place's package: "storage", "pages"."""
        first, *rest = PurePosixPath(self.file).parts
        return rest[0].removesuffix(".py") if first == "ensemble" else first

    def count_matches(self, source: str) -> int:
        """How often the text is there."""
        return sum(1 for _ in self._find_matches(source))

    def break_source(self, source: str) -> str:
        """The source of the file with the slip in it.

        Raises:
          MissingPlaceError: the text is not there exactly once.
        """
        matches = list(self._find_matches(source))
        if len(matches) != 1:
            times = f"there {len(matches)} times" if matches else "no longer there"
            raise MissingPlaceError(f"{self.file}: {self.old!r} is {times}")
        begin, end = matches[0].span()
        return source[:begin] + self.new + source[end:]

    def _find_matches(self, source: str) -> Iterator[re.Match[str]]:
        return re.finditer(r"\s+".join(map(re.escape, self.old.split())), source)


def load_places(file: Path = PLACES_FILE) -> list[Place]:
    """The places of a list, in its order."""
    rows = tomllib.loads(file.read_text("utf-8"))["place"]
    return [Place(number, **row) for number, row in enumerate(rows, 1)]
