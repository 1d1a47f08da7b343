"""What people said the images of a pool are: decisions as of labels, with no label before.

They lie beside the decisions about labels and go by the images: a pool that is removed and added
again has its labels back.
"""

import time
from bisect import bisect_left
from collections.abc import Collection, Mapping
from pathlib import Path

from ensemble.datasets.decisions.decision_log import DecisionLog, decisions_folder
from ensemble.datasets.decisions.label_decision import NO_CLASS, RELABEL, REMOVE, UNSURE, LabelDecision, checksum_image
from ensemble.datasets.label_meanings import find_class_by_name, index_class_names, parse_whole_number
from ensemble.datasets.own.pools.label_pool import LabelPool
from ensemble.datasets.own.pools.pool_arms import BOTH_ARMS, CHOSEN_ARM, NO_ARM, RANDOM_ARM
from ensemble.datasets.own.pools.pool_batches import find_pool_arms
from ensemble.datasets.own.request import sanitize_text
from ensemble.datasets.own.source import format_name_list
from ensemble.datasets.own.sources.folders.picture_table import read_picture_table
from ensemble.errors import DataError
from ensemble.files.columns import list_unused_notes
from ensemble.files.labels import find_missing_labels
from ensemble.files.picture_names import PictureNames
from ensemble.storage import csv_format

COLUMNS = ("number", "image", "name", "arm", "decision", "label", "decided", "run", "person")
REJECTED_DECISIONS = (REMOVE, UNSURE)  # of images that get no label
_NAME_LENGTH = 32  # letters of a fingerprint in a file's name
_MAX_LISTED_PROBLEMS = 10
_MAX_CELL_LETTERS = 60  # that a sentence repeats

Labels = dict[int, int]  # classes by the image's number


def open_pool_log(pool: LabelPool) -> DecisionLog:
    """The decisions about the images of a pool."""
    name = f"pool-{pool.note.fingerprint[:_NAME_LENGTH]}.jsonl"
    return DecisionLog(decisions_folder() / name)


def build_pool_decision(pool: LabelPool, number: int, decision: str, label: int, run: str = "") -> LabelDecision:
    """A decision about one image, to be kept.

    Args:
      pool: of the image.
      number: of the image.
      decision: `RELABEL` where it has a class, `REMOVE` where it has none of these, `UNSURE`.
      label: its class; `NO_CLASS` but of `RELABEL`.
      run: whose members chose it.
    """
    return LabelDecision(
        decision=decision,
        number=number,
        image=checksum_image(pool.images, number),
        label=NO_CLASS,
        new_label=label,
        run=run,
    )


def list_pool_decisions(pool: LabelPool) -> tuple[LabelDecision, ...]:
    """What stands about the pool's images, the oldest first.

    Raises:
      StorageError: the file is there and cannot be read.
    """
    images, classes = pool.note.images, len(pool.note.class_names)
    return tuple(
        decision
        for decision in open_pool_log(pool).list_standing_decisions()
        if decision.number < images and decision.label == NO_CLASS and decision.new_label < classes
    )


def list_pool_labels(pool: LabelPool, arm: str = NO_ARM) -> Labels:
    """The classes of the images that have one by now.

    Args:
      pool: which.
      arm: "chosen" or "random" for the images of one arm; "" for all.

    Raises:
      StorageError: a file is there and cannot be read.
    """
    labels = {
        decision.number: decision.new_label
        for decision in list_pool_decisions(pool)
        if decision.decision == RELABEL and decision.new_label != NO_CLASS
    }
    return _select_arm_labels(pool, labels, arm)


def _select_arm_labels(pool: LabelPool, labels: Labels, arm: str) -> Labels:
    if arm == NO_ARM:
        return labels
    arms = find_pool_arms(pool)
    there = arms.chosen if arm == CHOSEN_ARM else arms.at_random
    return {number: label for number, label in labels.items() if there[number]}


def format_pool_csv(pool: LabelPool) -> str:
    """What was decided as a CSV file, a row an image, which `read_pool_table` reads.

    Raises:
      DataError: the pool's files are damaged.
      StorageError: what was decided cannot be read.
    """
    names, arms = pool.read_image_names(), find_pool_arms(pool)
    words = {(False, False): NO_ARM, (True, False): CHOSEN_ARM, (False, True): RANDOM_ARM}
    rows = [
        (
            decision.number,
            decision.image,
            names[decision.number],
            words.get((bool(arms.chosen[decision.number]), bool(arms.at_random[decision.number])), BOTH_ARMS),
            "label" if decision.decision == RELABEL else decision.decision,
            "" if decision.new_label == NO_CLASS else pool.note.class_names[decision.new_label],
            time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(decision.at)),
            decision.run,
            decision.person,
        )
        for decision in list_pool_decisions(pool)
    ]
    return csv_format.format_csv([COLUMNS, *rows])


def read_pool_table(path: Path, pool: LabelPool, arm: str = NO_ARM, notes: list[str] | None = None) -> Labels:
    """The labels in a table; rows without a label are passed over.

    A column `label` names the class, and `number`, `name` or `image` the image: its number from 0, its file, or its
    checksum or file. A row of a picture that the pool left out as a copy is of the image that it copies.

    Args:
      path: of a CSV file.
      pool: which.
      arm: "chosen" or "random" for the images of one arm; "" for all.
      notes: to which notes on rows of copies are added.

    Raises:
      DataError: it cannot be read, or rows do not fit the pool: each is reported with its line.
    """
    labels, problems, rows = Labels(), list[str](), dict[int, tuple[str, bool]]()
    classes = pool.note.class_names
    index = index_class_names(classes)
    finder = _ImageFinder(pool)
    joined, known = list[str](), list[str]()
    table = read_picture_table(path)
    if "label" not in table.names or not {"number", "image", "name"} & set(table.names):
        raise DataError(
            f"{path.name} has no column label next to number, image or name: `ensemble label decisions "
            "POOL` prints such a table."
        )
    cells_of = list(table.iterate_rows())
    said = finder.read_numbers_of_files([cells for _, cells in cells_of])
    missing = find_missing_labels((cells.get("label", "") for _, cells in cells_of), classes)
    for row, cells in cells_of:
        try:
            if cells.get("label", "") in missing or cells.get("decision", "label") not in ("label", ""):
                continue
            number, copy = finder.find_number(cells)
            label = find_class_by_name(cells["label"], index)
            if label is None:
                raise DataError(
                    f"label “{_shorten(cells['label'])}” is none of the classes {_shorten(', '.join(classes))}"
                )
            if number is None:
                known.append(copy)
                continue
            first, is_copy = rows.setdefault(number, (row, bool(copy)))
            if first != row and not ((copy or is_copy) and labels[number] == label):
                why = f", of which {_shorten(copy)} is a copy," if copy else ""
                raise DataError(f"image {number}{why} is in {first} too")
            if copy:
                joined.append(copy)
        except DataError as error:
            problems.append(f"{row}: {error}")
            continue
        labels[number] = label
    if problems:
        more = len(problems) - _MAX_LISTED_PROBLEMS
        listing = "; ".join(problems[:_MAX_LISTED_PROBLEMS]) + (f"; and {more:,} more" * (more > 0))
        count = "1 row does" if len(problems) == 1 else f"{len(problems):,} rows do"
        raise DataError(
            f"{count} not fit the pool {pool.name}, and nothing was changed: {listing}. Correct or "
            "delete these rows, then try again."
        )
    if joined:
        said.append(f"Rows of copies are of the images that they copy: {format_name_list(joined)}.")
    if known:
        said.append(f"Rows of images that {pool.note.dataset} has already were not used: {format_name_list(known)}.")
    if notes is not None:
        notes += [*table.notes, *said, *list_unused_notes(table.list_other_titles(COLUMNS))]
    return _select_arm_labels(pool, labels, arm)


class _ImageFinder:
    """Finds the images that rows are about."""

    def __init__(self, pool: LabelPool) -> None:
        self._count = len(pool.images)
        self._checksums = {checksum_image(pool.images, number): number for number in range(self._count)}
        self._copies = pool.read_copies()
        self._names = PictureNames([*pool.read_image_names(), *(copy.name for copy in self._copies)])
        self._counts_files = False

    def read_numbers_of_files(self, cells: Collection[Mapping[str, str]]) -> list[str]:
        """Learn whether numbers count the files, copies included; return a note if they do."""
        total = self._count + len(self._copies)
        numbers = sorted(number for each in cells if (number := parse_whole_number(each.get("number", ""))) is not None)
        named = any(each.get("image") or each.get("name") for each in cells)
        self._counts_files = bool(self._copies) and not named and numbers == list(range(total))
        if not self._counts_files:
            return []
        return [f"Numbers go up to {total - 1}: they were read as those of all {total} files, copies included."]

    def find_number(self, cells: Mapping[str, str]) -> tuple[int | None, str]:
        """The number of a row's image, from 0, and the picture's name if it was left out as a copy of that image.

        The number is None for a copy of an image of the dataset.

        Raises:
          DataError: it is not in the pool.
        """
        if name := cells.get("image") or cells.get("name", ""):
            if name in self._checksums:
                return self._checksums[name], ""
            place = self._names.find_picture(name)
            if place is None:
                raise DataError(f"no image has the file name or checksum {_shorten(name)}: it is of another pool")
            copy = self._copies[place - self._count] if place >= self._count else None
            return (copy.number, copy.name) if copy else (place, "")
        number = parse_whole_number(cells.get("number", ""))
        if self._counts_files and number is not None:
            before = bisect_left(self._copies, number, key=lambda copy: copy.place)
            if before < len(self._copies) and self._copies[before].place == number:
                return self._copies[before].number, self._copies[before].name
            return number - before, ""
        if number is None or not 0 <= number < self._count:
            hint = " (copies were left out and have no number: give file names)" if self._copies else ""
            raise DataError(f"number “{_shorten(cells.get('number', ''))}” is none of 0 to {self._count - 1}{hint}")
        return number, ""


def _shorten(text: str) -> str:
    return sanitize_text(text)[:_MAX_CELL_LETTERS]
