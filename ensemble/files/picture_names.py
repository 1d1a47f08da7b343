"""Which picture a cell of a table, a line of a list or a person means by a path or a name."""

import posixpath
import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence

from ensemble.errors import DataError

_NUMBER = re.compile(r"0*(\d+?)(\.0+)?")
_ABSOLUTE = re.compile(r"/|~|[a-z]:/|[a-z0-9]+://", re.IGNORECASE)


class AmbiguousNameError(DataError):
    """A name is that of several pictures.

    Attributes:
      places: of the pictures.
    """

    def __init__(self, name: str, paths: Sequence[str], places: Sequence[int]) -> None:
        self.places = places
        names = {posixpath.splitext(path)[0] for path in paths}
        hint = "their endings" if len(names) == 1 else f"paths, such as {min(paths)!r:.120}"
        super().__init__(f"{len(places)} pictures are called {name!r:.120}: give {hint}")


class PictureNames:
    """Finds pictures by what they are called.

    A path with folders means that path, never another picture of the same name. A name without folders may be in
    any folder, and without its ending; 7 finds 007.png where no other can be meant.

    Args:
      paths: of the pictures from their folder on, with slashes.
      root: the name of their folder, with which paths may begin.
    """

    def __init__(self, paths: Sequence[str], root: str = "") -> None:
        self._paths = list(map(_normalize_file_path, paths))
        self._root = _normalize_file_path(root)
        self._elsewhere = ""
        self._by_path = dict[str, list[int]]()
        self._by_name = dict[str, list[int]]()
        for place, path in enumerate(self._paths):
            stem = posixpath.splitext(path)[0]
            folder, _, last = stem.rpartition("/")
            keys = [path, stem]
            names = [path.rpartition("/")[2], last]
            if number := _write_number(last):
                keys.append(f"{folder}/{number}" if folder else number)
                names.append(number)
            for index, each in ((self._by_path, keys), (self._by_name, names)):
                for key in dict.fromkeys(each):
                    index.setdefault(key, []).append(place)

    def read_paths_from(self, names: Iterable[str]) -> list[str]:
        """Learn with which folder of another computer all names begin; return a note if they do."""
        cleaned = [_normalize_file_path(name) for name in names if name.strip()]
        if not cleaned or not all(map(_ABSOLUTE.match, cleaned)):
            return []
        common = posixpath.commonpath([posixpath.dirname(name).replace("//", "/") for name in cleaned]).split("/")
        for end in range(len(common) + 1):
            prefix = "/".join(common[:end]).rstrip("/") + "/"
            if any(name.replace("//", "/").removeprefix(prefix) in self._by_path for name in cleaned):
                self._elsewhere = prefix
                return [f"Paths that begin with {prefix} are read from the folder on."]
        return []

    def find_picture(self, name: str, base: str = "", is_meant: Callable[[int], bool] | None = None) -> int | None:
        """The place of the picture that a name means; None if there is none.

        Args:
          name: a path or name, with or without its ending.
          base: the folder from which paths may go on.
          is_meant: which of several pictures of one name are meant; None if this is not known.

        Raises:
          AmbiguousNameError: several have that name.
        """
        name = _normalize_file_path(name)
        if not name:
            return None
        if self._elsewhere:
            name = name.replace("//", "/").removeprefix(self._elsewhere)
        paths = [posixpath.normpath(posixpath.join(base, name))] if base else []
        if "/" in name:
            paths.append(posixpath.normpath(name))
            if self._root and f"/{self._root}/" in f"/{name}":
                paths.append(f"/{name}".rpartition(f"/{self._root}/")[2])
        names = [] if "/" in name else [name]
        for write in (str, _write_number):
            for index, keys in (self._by_path, paths), (self._by_name, names):
                for key in map(write, keys):
                    if found := index.get(key):
                        return self._choose_place(name, found, is_meant)
        return None

    def _choose_place(self, name: str, found: list[int], is_meant: Callable[[int], bool] | None) -> int:
        if len(found) > 1 and is_meant:
            found = list(filter(is_meant, found)) or found
        if len(found) > 1:
            raise AmbiguousNameError(name, [self._paths[place] for place in found], found)
        return found[0]


def _normalize_file_path(text: str) -> str:
    """A path for comparison: with slashes, in one Unicode form, without a leading "./"."""
    return unicodedata.normalize("NFC", text.strip()).replace("\\", "/").removeprefix("./")


def _write_number(path: str) -> str:
    """A path with its last part as a number without zeros before it; "" if that is no number."""
    folder, slash, last = path.rpartition("/")
    match = _NUMBER.fullmatch(last)
    return f"{folder}{slash}#{match[1]}" if match else ""
