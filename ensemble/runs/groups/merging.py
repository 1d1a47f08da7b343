"""What groups have written, merged into what a run has to show: by reading files alone.

The figures of members stand in the run's history as they come, null for those of groups that have
not come so far; those of the ensemble once every group has closed the epoch, from its merged
predictions. What every group has reached stays as it was written; what comes after is written
again when more has come. So a run's lines are the same for any number of groups, and whoever
merges may end at any moment: the next goes on where that was.
"""

import json
import os
import time
from dataclasses import replace

from ensemble.runs.groups.epochs import merge_epoch
from ensemble.runs.groups.part import Group, check
from ensemble.runs.groups.rows import UNFINISHED, is_whole, joined_by
from ensemble.runs.history import prediction_epochs
from ensemble.runs.status import Status, after_epoch, blank_best, is_over
from ensemble.runs.store import Run, trained_here
from ensemble.storage.reading import opened_to_append
from ensemble.storage.records.lines import Line, plain, read_lines
from ensemble.storage.records.tail import JsonlTail

# For so long what one group has not reached is held back: in step, they are never far apart.
HOLD_SECONDS = 2.0
ORDER = {"steps": 0, "epoch": 1, UNFINISHED: 1}


class Merger:
    """Merges the groups of a run, again and again; one process a run does so at a time.

    Args:
      run: whose.
      groups: all of them, in order.

    Attributes:
      closed: the lines of the epochs that are merged.
      status: the run's, with what it says of its last epoch and of the best.

    Raises:
      RunError: a group is missing, or belongs to another run.
    """

    def __init__(self, run: Run, groups: list[Group]) -> None:
        check(run, groups)
        self._run, self._groups, self._config = run, groups, trained_here(run)
        self._history = run.path / "history.jsonl"
        self._tails = [JsonlTail(one.path / "history.jsonl", len(one.numbers)) for one in groups]
        self._sizes = [len(one.numbers) for one in groups]
        self._seen: list[list[Line]] = []
        self._written: list[Line] = []  # what every group has reached,
        self._length = 0  # in bytes
        self._later: list[Line] = []
        self._late_since = 0.0
        self.closed: list[Line] = []
        self.status: Status = replace(run.status, **blank_best(self._config))
        for line in self._closed_before():
            self._closes(line)

    @property
    def over(self) -> bool:
        """Whether the run has its last epoch: all of them, or patience has run out."""
        return is_over(self.status, self._config, len(self.closed))

    def merge(self, hold: float = HOLD_SECONDS) -> None:
        """Merge what has come since, and what some groups have not reached for `hold` seconds.

        Raises:
          RunError: what a group wrote is missing, damaged, or belongs to another run.
        """
        lines = [tail.lines() for tail in self._tails]
        same = len(lines) == len(self._seen) and all(map(_is, lines, self._seen))
        if same and not self._late_since:
            return
        self._seen = lines
        while not self.over and self._close(lines):
            pass
        self._write(self._rows(lines), hold)

    def _close(self, lines: list[list[Line]]) -> bool:
        """Merge the next epoch, if every group has closed it."""
        epoch = len(self.closed) + 1
        ends = [by(one, "epoch", "epoch").get(epoch) for one in lines]
        there = [line for line in ends if line is not None]
        if len(there) < len(ends):
            return False
        check(self._run, self._groups)
        self._closes(merge_epoch(self._run, self._groups, there, self.status))
        return True

    def _closes(self, line: Line) -> None:
        self.closed.append(line)
        self.status = replace(self.status, **after_epoch(self.status, line))

    def _rows(self, lines: list[list[Line]]) -> list[Line]:
        """The history: of steps, of epochs, and of epochs that not every group has closed."""
        ended = len(self.closed)
        steps = joined_by("step", [by(one, "steps", "step") for one in lines], self._sizes)
        ends = [
            {n: line for n, line in by(one, "epoch", "epoch").items() if n > ended} for one in lines
        ]
        waiting = [{**row, "kind": UNFINISHED} for row in joined_by("epoch", ends, self._sizes)]
        if self.over:  # What a group learnt after that is none of the run's.
            steps, waiting = [row for row in steps if row["epoch"] <= ended], []
        every = [*steps, *self.closed, *waiting]
        return sorted(every, key=lambda row: (row["step"], ORDER[row["kind"]]))

    def _write(self, rows: list[Line], hold: float) -> None:
        stay = next((n for n, row in enumerate(rows) if not is_whole(row)), len(rows))
        now = time.monotonic()
        self._late_since = (self._late_since or now) if stay < len(rows) else 0.0
        later = rows[stay:] if now - self._late_since >= hold else []
        if rows[: len(self._written)] != self._written or not self._length:
            self._written, self._length = [], 0
        new = rows[len(self._written) : stay]
        if new or later != self._later or not self._length:
            self._put(_text(new), _text(later))
        self._written, self._later = rows[:stay], later

    def _put(self, stays: bytes, later: bytes) -> None:
        """Write from where the lines end that stay; a reader meets whole lines, old or new."""
        opened_to_append(self._history).close()  # made, if it is a plain file
        with open(self._history, "r+b", buffering=0) as file:
            os.pwrite(file.fileno(), stays + later, self._length)
            file.truncate(self._length + len(stays) + len(later))
        self._length += len(stays)

    def _closed_before(self) -> list[Line]:
        """The lines of epochs that were merged before, as far as their predictions are there."""
        there, found = set(prediction_epochs(self._run.id)), list[Line]()
        for line in read_lines(self._history, self._config.members):
            if line["kind"] == "epoch" and line["epoch"] == len(found) + 1 in there:
                found.append(line)
        return found


def by(lines: list[Line], kind: str, name: str) -> dict[int, Line]:
    """The lines of a kind by their step or epoch: the last, where a task wrote one again."""
    return {line[name]: line for line in lines if line["kind"] == kind}


def _is(one: object, other: object) -> bool:
    return one is other


def _text(rows: list[Line]) -> bytes:
    return "".join(json.dumps(plain(row), allow_nan=False) + "\n" for row in rows).encode()
