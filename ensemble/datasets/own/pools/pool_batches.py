"""Which images of a pool are to be labelled next, batch by batch: lines that are only ever added.

A batch has two arms, one chosen by what members say and one drawn at random. Which image is of
which arm is not shown to whoever labels, and their order is drawn: so both are labelled with the
same care.
"""

import functools
import json
import os
import time
import uuid
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ensemble.access import Action, check_permission, current_person
from ensemble.analysis.acquisition.image_choice import translate_strategy
from ensemble.datasets.own.pools.label_pool import LabelPool
from ensemble.errors import StorageError
from ensemble.storage.disk_errors import describe_os_error
from ensemble.storage.file_lock import hold_folder_lock
from ensemble.storage.folder_index import file_version
from ensemble.storage.plain_files import open_plain_append, parse_json, read_limited_bytes
from ensemble.storage.records.field_checks import Count, Time, parse_dataclass

BATCHES_FILE = "batches.jsonl"
_MAX_BATCHES_BYTES = 2**26
_ORDER_STREAM = 0x0D


@dataclass(frozen=True)
class LabelBatch:
    """Images to label, in two arms that may share some.

    Attributes:
      by: the word of the strategy that chose.
      run: whose members were asked.
      epoch: after which epoch.
      seed: of what was drawn.
      chosen: numbers of the images that were chosen.
      at_random: numbers of those that were drawn at random.
      answers: the ensemble's class of each image of either arm, by rising numbers; [] where
        nobody was asked.
      votes: how many members say that class.
      members: M.
      at: when, unix seconds.
      person: who, on a server that several share.
      id: of the batch.
    """

    by: str
    run: str
    epoch: Count
    seed: Count
    chosen: list[Count]
    at_random: list[Count]
    answers: list[Count] = field(default_factory=list)
    votes: list[Count] = field(default_factory=list)
    members: Count = 0
    at: Time = 0.0
    person: str = ""
    id: str = field(default_factory=lambda: uuid.uuid4().hex[:16])

    @property
    def numbers(self) -> list[int]:
        """Every image of either arm once, by rising numbers."""
        return sorted({*self.chosen, *self.at_random})

    def find_answer(self, number: int) -> tuple[int, int] | None:
        """The ensemble's class of an image and how many members say it; None where unknown."""
        numbers = self.numbers
        if number not in numbers or not len(numbers) == len(self.answers) == len(self.votes):
            return None
        place = numbers.index(number)
        return self.answers[place], self.votes[place]

    def list_in_drawn_order(self) -> list[int]:
        """Every image once, in an order that does not tell the arms apart."""
        numbers = self.numbers
        drawn = np.random.PCG64([_ORDER_STREAM, self.seed]).random_raw(len(numbers))
        return [numbers[place] for place in np.argsort(drawn, kind="stable")]


@dataclass(frozen=True, eq=False)
class _PoolArms:
    """Which images of a pool either arm has, of all batches.

    Attributes:
      chosen: (N,).
      at_random: (N,).
    """

    chosen: NDArray[np.bool_]
    at_random: NDArray[np.bool_]


def append_batch(pool: LabelPool, batch: LabelBatch) -> LabelBatch:
    """Add a batch; it is on the disk when this returns.

    Raises:
      AccessError: whoever asks may change nothing.
      StorageError: the file cannot be written.
    """
    check_permission(Action.CHANGE)
    batch = replace(batch, at=time.time(), person=current_person().name)
    path = pool.folder / BATCHES_FILE
    try:
        with hold_folder_lock(pool.folder, lambda: None), open_plain_append(path) as file:
            # A line before it may have been cut short by a process that was killed.
            file.write(b"\n" * bool(file.tell()) + json.dumps(asdict(batch)).encode() + b"\n")
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise StorageError(
            f"The batch could not be saved in {path} ({describe_os_error(error)}): free some "
            "space, or make the folder writable for you, and choose again."
        ) from error
    return batch


def list_batches(pool: LabelPool) -> tuple[LabelBatch, ...]:
    """All batches, the oldest first; lines that are torn or of other images are passed over.

    Raises:
      StorageError: the file is there and cannot be read.
    """
    path = pool.folder / BATCHES_FILE
    try:
        version = file_version(str(path))
        batches = _read_batches(path, version) if version else ()
    except (OSError, ValueError) as error:
        raise StorageError(
            f"The batches of the pool {pool.name} cannot be read ({error}): make {path} readable "
            "for you, or move it away."
        ) from error
    count = pool.note.images
    return tuple(b for b in batches if max([*b.chosen, *b.at_random], default=0) < count)


def find_pool_arms(pool: LabelPool) -> _PoolArms:
    """What either arm has by now.

    Raises:
      StorageError: as `list_batches`.
    """
    arms = _PoolArms(np.zeros(pool.note.images, bool), np.zeros(pool.note.images, bool))
    for batch in list_batches(pool):
        arms.chosen[batch.chosen] = True
        arms.at_random[batch.at_random] = True
    return arms


@functools.lru_cache(maxsize=16)
def _read_batches(path: Path, version: object) -> tuple[LabelBatch, ...]:
    batches = list[LabelBatch]()
    for line in read_limited_bytes(path, _MAX_BATCHES_BYTES).split(b"\n"):
        try:
            if line:
                batch = parse_dataclass(LabelBatch, parse_json(line))
                batches.append(replace(batch, by=translate_strategy(batch.by)))
        except ValueError:
            continue
    return tuple(batches)
