"""Decisions as a table: written for people and spreadsheets, read back with every row checked.

Columns go by their names, classes by theirs before positions. An image is found by its checksum,
wherever it stands by now, else by its number; and a row whose image or old label is another is told
with its line.
"""

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ensemble.datasets.dataset import Dataset
from ensemble.datasets.decisions.decision_log import list_matching_decisions
from ensemble.datasets.decisions.label_decision import (
    DECISIONS,
    NO_CLASS,
    RELABEL,
    REMOVE,
    LabelDecision,
    checksum_image,
)
from ensemble.datasets.label_meanings import find_class_by_name, index_class_names, parse_whole_number
from ensemble.datasets.own.request import sanitize_text
from ensemble.datasets.own.sources.folders.picture_table import read_picture_table
from ensemble.errors import DataError
from ensemble.files.columns import list_unused_notes
from ensemble.storage import csv_format

COLUMNS = ("split", "number", "image", "label", "decision", "new_label", "decided", "run", "person")
SPLITS = ("train", "test")
_MAX_LISTED_PROBLEMS = 10
_MAX_CELL_LETTERS = 60  # that a sentence repeats

Cells = dict[str, str]


@dataclass(eq=False)
class LabelChanges:
    """What decisions change in a dataset, by the split.

    Attributes:
      new_labels: the new class of the images that are relabelled, by their numbers.
      removed: the numbers of the images that are taken out.
      unchanged: how many rows change nothing: labels that are kept, or cannot be told.
      runs: whose members were asked, each once, the last one last.
      notes: what was assumed about the table, and its columns that were not used, in sentences.
    """

    new_labels: dict[str, dict[int, int]] = field(default_factory=lambda: {split: {} for split in SPLITS})
    removed: dict[str, set[int]] = field(default_factory=lambda: {split: set() for split in SPLITS})
    unchanged: int = 0
    runs: dict[str, None] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def add_decision(self, split: str, number: int, decision: str, label: int, new_label: int) -> None:
        """Add what one decision changes: one of `DECISIONS` about an image with this label."""
        if decision == RELABEL and new_label != label:
            self.new_labels[split][number] = new_label
        elif decision == REMOVE:
            self.removed[split].add(number)
        else:
            self.unchanged += 1

    def add_run(self, run_id: str) -> None:
        """Add the run whose members were asked."""
        self.runs.pop(run_id, None)
        self.runs[run_id] = None

    def count_relabeled(self) -> int:
        """How many labels become another."""
        return sum(map(len, self.new_labels.values()))

    def count_removed(self) -> int:
        """How many images go."""
        return sum(map(len, self.removed.values()))


def list_dataset_decisions(dataset: Dataset) -> dict[str, tuple[LabelDecision, ...]]:
    """The decisions that stand about the images of a dataset, by the split.

    Raises:
      StorageError: they are there and cannot be read.
    """
    return {
        split: list_matching_decisions(
            split, getattr(dataset, f"{split}_images"), getattr(dataset, f"{split}_labels"), len(dataset.class_names)
        )
        for split in SPLITS
    }


def format_decisions_csv(decisions: Mapping[str, Iterable[LabelDecision]], class_names: Sequence[str]) -> str:
    """Decisions as a CSV file, a row each, which `read_label_changes` reads.

    Args:
      decisions: of each split, as they stand.
      class_names: of the dataset, C of them.
    """
    rows = [
        (
            split,
            decision.number,
            decision.image,
            class_names[decision.label],
            decision.decision,
            "" if decision.new_label == NO_CLASS else class_names[decision.new_label],
            time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(decision.at)),
            decision.run,
            decision.person,
        )
        for split, each in decisions.items()
        for decision in each
    ]
    return csv_format.format_csv([COLUMNS, *rows])


def collect_label_changes(decisions: Mapping[str, Iterable[LabelDecision]]) -> LabelChanges:
    """What decisions of each split change in the dataset that they were made on."""
    changes = LabelChanges()
    for split, each in decisions.items():
        for one in each:
            changes.add_decision(split, one.number, one.decision, one.label, one.new_label)
            changes.add_run(one.run)
    return changes


def read_label_changes(path: Path, dataset: Dataset) -> LabelChanges:
    """What a table of decisions changes in a dataset; nothing is changed yet.

    Raises:
      DataError: it cannot be read, or rows do not fit the dataset: each is reported with its line.
    """
    changes, problems, places = LabelChanges(), list[str](), dict[tuple[str, int], str]()
    finder = _ImageFinder(dataset)
    table = read_picture_table(path)
    missing = [name for name in ("decision", "label") if name not in table.names]
    if missing or not {"number", "image"} & set(table.names):
        wanted = ", ".join(missing) or "number or image"
        raise DataError(
            f"{path.name} has no column {wanted}: its first line has to name split, number, image, "
            "label, decision and new_label, as the file that `ensemble data decisions` writes."
        )
    changes.notes += [*table.notes, *list_unused_notes(table.list_other_titles(COLUMNS))]
    for place, cells in table.iterate_rows():
        try:
            split, number, decision, new_label = _read_row(cells, finder)
            if (first := places.setdefault((split, number), place)) != place:
                raise DataError(f"{split} image {number} is in {first} too")
        except DataError as error:
            problems.append(f"{place}: {error}")
            continue
        changes.add_decision(split, number, decision, int(finder.find_labels(split)[number]), new_label)
        changes.add_run(cells.get("run", ""))
    if problems:
        more = len(problems) - _MAX_LISTED_PROBLEMS
        listing = "; ".join(problems[:_MAX_LISTED_PROBLEMS]) + (f"; and {more:,} more" * (more > 0))
        rows = "1 row does" if len(problems) == 1 else f"{len(problems):,} rows do"
        raise DataError(
            f"{rows} not fit {dataset.name}, and nothing was changed: {listing}. Mend or delete "
            "these rows, then try again."
        )
    return changes


class _ImageFinder:
    """Finds the images and classes that rows are about.

    Args:
      dataset: to be changed.
    """

    def __init__(self, dataset: Dataset) -> None:
        self.dataset = dataset
        self._places: dict[str, dict[str, list[int]]] = {}
        self._classes = index_class_names(dataset.class_names)
        # A number may be a class's name: then it is no position.
        self._by_position = not any(parse_whole_number(name) is not None for name in dataset.class_names)

    def find_images(self, split: str) -> NDArray[np.uint8]:
        return getattr(self.dataset, f"{split}_images")

    def find_labels(self, split: str) -> NDArray[np.int32]:
        return getattr(self.dataset, f"{split}_labels")

    def find_class(self, cell: str, column: str) -> int:
        """The class of that name; where no name is a number, also that of a position from 0."""
        if (found := find_class_by_name(cell, self._classes)) is not None:
            return found
        position = parse_whole_number(cell) if self._by_position else None
        if position is None or not 0 <= position < len(self.dataset.class_names):
            raise DataError(f"{column} “{_shorten(cell)}” is none of the classes")
        return position

    def find_number(self, split: str, cells: Cells, label: int) -> int:
        """The number of a row's image: where its checksum says, else as the row says."""
        images, word = self.find_images(split), cells.get("number", "")
        number = parse_whole_number(word) if word else None
        if word and (number is None or number < 0):
            raise DataError(f"number “{_shorten(word)}” is no whole number from 0")
        checksum = cells.get("image", "")
        if not checksum:
            if number is None:
                raise DataError("neither number nor image says which image is meant")
            if number >= len(images):
                raise DataError(f"there is no {split} image {number}, only 0 to {len(images) - 1}")
            return number
        if number is not None and number < len(images) and checksum_image(images, number) == checksum:
            return number
        places = self._find_places(split).get(checksum, [])
        same = [place for place in places if self.find_labels(split)[place] == label] or places
        if not same:
            raise DataError(f"no {split} image has the checksum {_shorten(checksum)}: it is of another dataset")
        if len(same) > 1:
            raise DataError(
                f"{len(same)} {split} images are this one, {same[0]} and {same[1]} among them: give the number of one"
            )
        return same[0]

    def _find_places(self, split: str) -> dict[str, list[int]]:
        if split not in self._places:
            places = self._places[split] = {}
            for number in range(len(self.find_images(split))):
                checksum = checksum_image(self.find_images(split), number)
                places.setdefault(checksum, []).append(number)
        return self._places[split]


def _read_row(cells: Cells, finder: _ImageFinder) -> tuple[str, int, str, int]:
    """The split, number, decision and new label of a row; DataError where it does not fit."""
    split = cells.get("split", "").lower() or "test"
    if split not in SPLITS:
        raise DataError(f"split “{_shorten(split)}” is not train or test")
    decision = cells.get("decision", "").lower()
    if decision not in DECISIONS:
        raise DataError(f"decision “{_shorten(decision)}” is not one of {', '.join(DECISIONS)}")
    label = finder.find_class(cells.get("label", ""), "label")
    number = finder.find_number(split, cells, label)
    names = finder.dataset.class_names
    if (own := int(finder.find_labels(split)[number])) != label:
        raise DataError(f"{split} image {number} is labelled “{names[own]}” here, not “{names[label]}”")
    if decision != RELABEL:
        return split, number, decision, NO_CLASS
    if not cells.get("new_label"):
        raise DataError("new_label is empty: a relabelled image needs a class")
    new_label = finder.find_class(cells["new_label"], "new_label")
    return split, number, decision, new_label


def _shorten(text: str) -> str:
    return sanitize_text(text)[:_MAX_CELL_LETTERS]
