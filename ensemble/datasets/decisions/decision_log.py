"""The file of decisions about the labels of one split: lines that are only ever added.

What stands follows from the lines: the last one of an image holds, and an undo takes back the one
that it names. So two who decide at once lose nothing, and neither does one whose process is killed:
a line that was cut short is passed over.

The file goes by the labels, not by the dataset's name: decisions made with one run are there with
any other on the same labels, and gone for a dataset that has been replaced.
"""

import contextlib
import functools
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ensemble.access import Action, check_permission, current_person
from ensemble.datasets.dataset import fingerprint_labels
from ensemble.datasets.decisions.label_decision import (
    UNDO,
    LabelDecision,
    checksum_image,
    parse_decision,
    serialize_decision,
)
from ensemble.errors import StorageError
from ensemble.storage.disk_errors import describe_os_error
from ensemble.storage.file_lock import hold_folder_lock
from ensemble.storage.folder_index import file_version
from ensemble.storage.folders import data_folder
from ensemble.storage.plain_files import open_plain_append, read_limited_bytes

MAX_LOG_BYTES = 2**28  # a million decisions
_NAME_LENGTH = 32  # letters of a fingerprint in a file's name


def decisions_folder() -> Path:
    """Where all decisions lie; it need not be there."""
    return data_folder() / "decisions"


@dataclass(frozen=True)
class DecisionLog:
    """The decisions about the labels of one split.

    Attributes:
      path: the file, which need not be there yet.
    """

    path: Path

    def list_standing_decisions(self) -> tuple[LabelDecision, ...]:
        """The last decision of each image that was not taken back, the oldest first.

        Raises:
          StorageError: the file is there and cannot be read.
        """
        try:
            return _select_last_of_each(self._read_live_decisions())
        except (OSError, ValueError) as error:
            raise StorageError(
                f"The decisions about labels in {self.path} cannot be read "
                f"({_describe_problem(error)}): make the file readable for you, or move it away."
            ) from error

    def append_decision(self, decision: LabelDecision) -> None:
        """Add a decision; it is on the disk when this returns.

        One that stands already is not added again: a key that was pressed twice is undone by one
        press.

        Raises:
          AccessError: whoever asks may change nothing.
          StorageError: the file cannot be written.
        """
        check_permission(Action.CHANGE)
        decision = replace(decision, at=time.time(), person=current_person().name)
        with self._convert_write_errors(), self._hold_lock():
            standing = {each.image_key: each for each in self._read_live_decisions()}
            there = standing.get(decision.image_key)
            if there is None or there.answer != decision.answer:
                self._append_line(serialize_decision(decision))

    def undo_last_decision(self) -> LabelDecision | None:
        """Take back the last decision of whoever asks; None where there is none left.

        Raises:
          AccessError, StorageError: as `append_decision`.
        """
        check_permission(Action.CHANGE)
        person = current_person().name
        with self._convert_write_errors(), self._hold_lock():
            live = self._read_live_decisions()
            last = next((each for each in reversed(live) if each.person == person), None)
            if last:
                undo = LabelDecision(UNDO, at=time.time(), person=person, undoes=last.id)
                self._append_line(serialize_decision(undo))
            return last

    def can_undo(self) -> bool:
        """Whether whoever asks has a decision to take back; not where the file cannot be read."""
        person = current_person().name
        try:
            live = self._read_live_decisions()
        except (OSError, ValueError):
            return False
        return any(each.person == person for each in live)

    def _read_live_decisions(self) -> tuple[LabelDecision, ...]:
        version = file_version(str(self.path))
        return _read_live_decisions(self.path, version) if version else ()

    def _append_line(self, line: bytes) -> None:
        with open_plain_append(self.path) as file:
            if file.tell() and not _ends_with_newline(self.path):
                line = b"\n" + line  # Whoever wrote before was killed in the midst of a line.
            file.write(line)
            file.flush()
            os.fsync(file.fileno())

    def _hold_lock(self) -> contextlib.AbstractContextManager[bool]:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        return hold_folder_lock(self.path.parent, lambda: None)

    @contextlib.contextmanager
    def _convert_write_errors(self) -> Iterator[None]:
        try:
            yield
        except (OSError, ValueError) as error:
            raise StorageError(
                f"The decision could not be saved in {self.path} ({_describe_problem(error)}): "
                "free some space, or make the folder writable for you, and press again. All "
                "earlier decisions are kept."
            ) from error


def open_decision_log(split: str, labels: NDArray[np.integer], classes: int) -> DecisionLog:
    """The decisions about these labels.

    Args:
      split: "train" or "test".
      labels: (N,), as they stand in the dataset.
      classes: C.
    """
    name = f"{split}-{fingerprint_labels(labels, classes)[:_NAME_LENGTH]}.jsonl"
    return DecisionLog(decisions_folder() / name)


def list_matching_decisions(
    split: str, images: NDArray[np.uint8] | None, labels: NDArray[np.integer], classes: int
) -> tuple[LabelDecision, ...]:
    """The decisions that stand about these images, the oldest first.

    Two datasets may have the same labels: those about images of the other are left out.

    Args:
      split: "train" or "test".
      images: uint8 (N, H, W, channels); None where there are none: then numbers say which is meant.
      labels: (N,), as they stand in the dataset.
      classes: C.

    Raises:
      StorageError: the file is there and cannot be read.
    """
    return tuple(
        decision
        for decision in open_decision_log(split, labels, classes).list_standing_decisions()
        if decision.number < len(labels)
        and decision.label == labels[decision.number]
        and decision.new_label < classes
        and decision.image in ("", checksum_image(images, decision.number))
    )


def _select_last_of_each(decisions: tuple[LabelDecision, ...]) -> tuple[LabelDecision, ...]:
    last = {decision.image_key: decision for decision in decisions}
    return tuple(each for each in decisions if last[each.image_key] is each)


@functools.lru_cache(maxsize=16)
def _read_live_decisions(path: Path, version: object) -> tuple[LabelDecision, ...]:
    live = dict[str, LabelDecision]()
    for line in read_limited_bytes(path, MAX_LOG_BYTES).split(b"\n"):
        decision = parse_decision(line) if line else None
        if decision is None:
            continue
        if decision.decision == UNDO:
            live.pop(decision.undoes, None)
        else:
            live[decision.id] = decision
    return tuple(live.values())


def _ends_with_newline(path: Path) -> bool:
    with path.open("rb") as file:
        file.seek(-1, os.SEEK_END)
        return file.read(1) == b"\n"


def _describe_problem(error: OSError | ValueError) -> str:
    return describe_os_error(error) if isinstance(error, OSError) else str(error)
