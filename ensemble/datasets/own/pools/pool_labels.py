"""What people said the images of a pool are: decisions as of labels, with no label before.

They lie beside the decisions about labels and go by the images: a pool that is removed and added
again has its labels back.
"""

import csv
import io
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

from ensemble.datasets.decisions.decision_log import DecisionLog, decisions_folder
from ensemble.datasets.decisions.label_decision import NO_CLASS, RELABEL, REMOVE, UNSURE, LabelDecision, checksum_image
from ensemble.datasets.label_meanings import parse_whole_number
from ensemble.datasets.own.pools.label_pool import LabelPool
from ensemble.datasets.own.pools.pool_arms import BOTH_ARMS, CHOSEN_ARM, NO_ARM, RANDOM_ARM
from ensemble.datasets.own.pools.pool_batches import find_pool_arms
from ensemble.datasets.own.request import sanitize_text
from ensemble.errors import DataError
from ensemble.storage import csv_format
from ensemble.storage.disk_errors import describe_os_error
from ensemble.storage.plain_files import read_limited_bytes

COLUMNS = ("number", "image", "name", "arm", "decision", "label", "decided", "run", "person")
REJECTED_DECISIONS = (REMOVE, UNSURE)  # of images that get no label
_NAME_LENGTH = 32  # letters of a fingerprint in a file's name
_MAX_TABLE_BYTES = 2**27
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


def read_pool_table(path: Path, pool: LabelPool, arm: str = NO_ARM) -> Labels:
    """The labels in a table: columns number or image, and label; rows without a label are passed.

    Args:
      path: of a CSV file.
      pool: which.
      arm: "chosen" or "random" for the images of one arm; "" for all.

    Raises:
      DataError: it cannot be read, or rows do not fit the pool: each is told with its line.
    """
    labels, problems, lines = Labels(), list[str](), dict[int, int]()
    images = pool.images
    places = {checksum_image(images, number): number for number in range(len(images))}
    classes = {name: place for place, name in enumerate(pool.note.class_names)}
    for line, cells in _iterate_rows(path):
        try:
            if not cells.get("label") or cells.get("decision", "label") not in ("label", ""):
                continue
            number = _find_number(cells, places, len(images))
            label = classes.get(cells["label"])
            if label is None:
                raise DataError(
                    f"label “{_shorten(cells['label'])}” is none of the classes {_shorten(', '.join(classes))}"
                )
            if (first := lines.setdefault(number, line)) != line:
                raise DataError(f"image {number} stands on line {first} too")
        except DataError as error:
            problems.append(f"line {line}: {error}")
            continue
        labels[number] = label
    if problems:
        more = len(problems) - _MAX_LISTED_PROBLEMS
        listing = "; ".join(problems[:_MAX_LISTED_PROBLEMS]) + (f"; and {more:,} more" * (more > 0))
        rows = "1 row does" if len(problems) == 1 else f"{len(problems):,} rows do"
        raise DataError(
            f"{rows} not fit the pool {pool.name}, and nothing was changed: {listing}. Mend or "
            "delete these rows, then try again."
        )
    return _select_arm_labels(pool, labels, arm)


def _iterate_rows(path: Path) -> Iterator[tuple[int, Mapping[str, str]]]:
    try:
        text = read_limited_bytes(path, _MAX_TABLE_BYTES).decode("utf-8-sig")
    except OSError as error:
        raise DataError(f"{path.name} cannot be read ({describe_os_error(error)}): give a CSV file.") from error
    except ValueError as error:
        raise DataError(f"{path.name} is too large, or no text in UTF-8: save it as CSV UTF-8.") from error
    first, _, _ = text.partition("\n")
    delimiter = max(",;\t", key=first.count)
    reader = csv.DictReader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    names = {(name or "").strip().lower() for name in reader.fieldnames or ()}
    if "label" not in names or not names & {"number", "image"}:
        raise DataError(
            f"{path.name} has no column label beside number or image: `ensemble label decisions "
            "POOL` prints such a table."
        )
    try:
        for row in reader:
            cells = {
                (key or "").strip().lower(): (value or "").strip()
                for key, value in row.items()
                if isinstance(value, str)
            }
            yield reader.line_num, cells
    except csv.Error as error:
        raise DataError(
            f"{path.name} cannot be read at line {reader.line_num} ({error}): save it as CSV again."
        ) from error


def _find_number(cells: Mapping[str, str], places: Mapping[str, int], count: int) -> int:
    checksum = cells.get("image", "")
    if checksum:
        if checksum not in places:
            raise DataError(f"no image has the checksum {_shorten(checksum)}: it is of another pool")
        return places[checksum]
    number = parse_whole_number(cells.get("number", ""))
    if number is None or not 0 <= number < count:
        raise DataError(f"number “{_shorten(cells.get('number', ''))}” is none of 0 to {count - 1}")
    return number


def _shorten(text: str) -> str:
    return sanitize_text(text)[:_MAX_CELL_LETTERS]
