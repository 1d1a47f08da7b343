"""A folder of folders, one a class, perhaps within `train/` and `test/`.

Hidden files, `__MACOSX` and what file managers leave are passed over without a word. Links to a
folder, and those that lead out of the source, are not followed; these, files that are no pictures
by their names, and folders without a picture are left out and said.
"""

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ensemble.datasets.own.source import (
    SPLIT_NAMES,
    VAL_LEARNT,
    VAL_TESTS,
    Form,
    Pixels,
    Size,
    Survey,
    Unreadable,
    class_list,
    listing,
    shown_names,
)
from ensemble.datasets.own.sources import decoding, walk
from ensemble.errors import DataError

BATCH = 256  # pictures that are decoded ahead
ORDER = 0x0DE5  # tells this draw from any other by the same seed

ClassFiles = dict[str, list[Path]]  # by the class's folder


class Tree:
    """Pictures in a folder of folders; a `source.Source`.

    Args:
      root: the folder.
      seed: of the order in which the pictures are kept.

    Raises:
      DataError: it cannot be read, or its folders are not those of at least two classes.
    """

    def __init__(self, root: Path, seed: int = 0) -> None:
        self.origin = f"pictures of the folder {Path(os.path.abspath(root)).name}"
        self._walk = walk.Walk(root)
        splits, empty = self._splits(self._top(root))
        names = class_list(name for files in splits.values() for name in files)
        self.class_names = shown_names(names)
        self.said = [*self._said, *self._walk.said()]
        if empty:
            self.said.append(f"Folders without a picture are no class: {listing(empty)}.")
        numbers = {name: number for number, name in enumerate(names)}
        self._files: dict[str, list[Path]] = {}
        self.labels: dict[str, NDArray[np.int32]] = {}
        for split, files in splits.items():
            self._order(split, files, numbers, seed)

    def survey(self) -> Survey:
        """The sizes and colours that the files' headers tell; unreadable ones are passed over."""
        survey = Survey()
        with decoding.quiet(), ThreadPoolExecutor(threads()) as pool:
            for files in self._files.values():
                for start in range(0, len(files), BATCH):
                    for found in pool.map(header, files[start : start + BATCH]):
                        if found:
                            survey.sizes[found[0]] += 1
                            survey.grey &= found[1]
        return survey

    def pictures(self, split: str, form: Form) -> Iterator[Pixels | Unreadable]:
        """Each picture of a split, decoded in several threads a few hundred ahead."""
        files = self._files[split]

        def read(path: Path) -> Pixels | Unreadable:
            try:
                return decoding.read(path, form)
            except decoding.UnreadableError as error:
                return Unreadable(self._walk.named(path), str(error))

        with decoding.quiet(), ThreadPoolExecutor(threads()) as pool:
            for start in range(0, len(files), BATCH):
                yield from pool.map(read, files[start : start + BATCH])

    def _top(self, root: Path) -> Path:
        """The folder that holds the classes or splits: an archive often wraps it in another."""
        top = root
        while True:
            folders, pictures = self._walk.look(top)
            if len(folders) != 1 or pictures or len(top.parts) > len(root.parts) + walk.DEEPEST:
                return top
            inner, _ = self._walk.look(folders[0])
            if not inner:
                return top
            top = folders[0]

    def _splits(self, top: Path) -> tuple[dict[str, ClassFiles], list[str]]:
        """The pictures of each split by class, and the folders without one."""
        self._said: list[str] = []
        folders, beside = self._walk.look(top)
        self._walk.others += [self._walk.named(path) for path in beside]
        parts = {
            SPLIT_NAMES[one.name.lower()]: one for one in folders if one.name.lower() in SPLIT_NAMES
        }
        if "train" not in parts or len(parts) < 2:
            return self._checked({"train": self._classes(folders)}, top)
        if left := [one.name for one in folders if one not in parts.values()]:
            self._said.append(f"Beside train and test these folders are left out: {listing(left)}.")
        found = {}
        for split, folder in parts.items():
            inner, pictures = self._walk.look(folder)
            self._walk.others += [self._walk.named(path) for path in pictures]
            found[split] = self._classes(inner)
        return self._checked(self._with_validation(found), top)

    def _with_validation(self, found: dict[str, ClassFiles]) -> dict[str, ClassFiles]:
        if (held := found.pop("val", None)) is None:
            return found
        if "test" not in found:
            self._said.append(VAL_TESTS)
            return {**found, "test": held}
        self._said.append(VAL_LEARNT)
        for name, files in held.items():
            found["train"].setdefault(name, []).extend(files)
        return found

    def _classes(self, folders: list[Path]) -> ClassFiles:
        return {folder.name: self._walk.pictures_below(folder) for folder in folders}

    def _checked(
        self, splits: dict[str, ClassFiles], top: Path
    ) -> tuple[dict[str, ClassFiles], list[str]]:
        every = {name for files in splits.values() for name in files}
        full = {name for files in splits.values() for name, paths in files.items() if paths}
        if len(full) < 2:
            raise DataError(
                f"{top} holds pictures of {len(full)} class{'' if len(full) == 1 else 'es'}, and "
                "at least 2 are needed: put the pictures of each class into a folder of their own, "
                "named like the class." + self._walk.hint()
            )
        kept = {
            split: {name: paths for name, paths in files.items() if paths}
            for split, files in splits.items()
        }
        return kept, sorted(every - full)

    def _order(self, split: str, files: ClassFiles, numbers: dict[str, int], seed: int) -> None:
        """The pictures of a split in an order drawn by the seed: the first are of all classes."""
        pairs = [(path, numbers[name]) for name in sorted(files) for path in files[name]]
        drawn = np.random.PCG64([ORDER, seed]).random_raw(len(pairs))
        order = np.argsort(drawn, kind="stable")
        self._files[split] = [pairs[place][0] for place in order]
        self.labels[split] = np.array([pairs[place][1] for place in order], np.int32)


def header(path: Path) -> tuple[Size, bool] | None:
    """`decoding.header`, or None where there is none to be read."""
    try:
        return decoding.header(path)
    except decoding.UnreadableError:
        return None


def threads() -> int:
    """How many pictures are decoded at once."""
    return min(8, os.cpu_count() or 1)
