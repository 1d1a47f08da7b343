"""What groups have written, merged into what a run has to show: by reading files alone.

The figures of members stand in the run's history as they come, null for those of groups that have
not come so far; those of the ensemble once every group has closed the epoch, from its merged
predictions. What every group has reached stays as it was written; what comes after is written
again when more has come. So a run's lines are the same for any number of groups, and whoever
merges may end at any moment: the next goes on where that was.

What stays is let go of once it is written: a merge takes time and memory for what has come since,
not for all that there is. Where much has to be written again, since one group waits for a place
and the others go on, that is done the less often the longer it takes.
"""

import json
import os
import time
from dataclasses import replace

from ensemble.runs.groups.epochs import NotThereError, drop_merged, merge_epoch
from ensemble.runs.groups.part import Group, check
from ensemble.runs.groups.rows import UNFINISHED, is_whole, joined_by
from ensemble.runs.history import prediction_epochs
from ensemble.runs.status import Status, after_epoch, blank_best, is_over
from ensemble.runs.store import Run, trained_here
from ensemble.storage.atomic import write_bytes
from ensemble.storage.records.lines import Line, plain, read_lines
from ensemble.storage.records.tail import JsonlTail

# For so long what one group has not reached is held back: in step, they are never far apart.
HOLD_SECONDS = 2.0
# Writing the same lines again takes at most a tenth of a processor, where it takes long at all.
REST, LONG_SECONDS = 9.0, 0.03
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
        self._sizes = [len(one.numbers) for one in groups]
        self._seen: list[list[Line]] = []
        self._later: list[Line] = []
        self._late_since, self._rest_until = 0.0, 0.0
        self._all_written = False
        self._begin_anew()
        self.closed: list[Line] = []
        self.status: Status = replace(run.status, **blank_best(self._config))
        for line in self._closed_before():
            self._closes(line)
        drop_merged(groups, len(self.closed))

    @property
    def over(self) -> bool:
        """Whether the run has its last epoch: all of them, or patience has run out."""
        return is_over(self.status, self._config, len(self.closed))

    def what_is_lacking(self) -> str:
        """Why the next epoch is not merged, though every group says that it is at its end."""
        ends = (by(tail.lines(), "epoch", "epoch") for tail in self._tails)
        epoch, every = len(self.closed) + 1, zip(self._groups, ends, strict=True)
        group = next(group for group, one in every if epoch not in one)
        return (
            f"{group.title}: its history.jsonl has lost epoch {epoch}. Take the folder "
            f"groups/{group.path.name} of the run away and resume: that group is then trained "
            "anew, the others stay as they are."
        )

    def merge(self, hold: float = HOLD_SECONDS) -> None:
        """Merge what has come since, and what some groups have not reached for `hold` seconds.

        Args:
          hold: 0 where nothing more will come.

        Raises:
          RunError: what a group wrote is damaged, or belongs to another run; or is missing, and
            will not come.
        """
        lines = [tail.lines() for tail in self._tails]
        if any(tail.replaced for tail in self._tails):  # What stayed may be another now.
            self._begin_anew()
            lines = [tail.lines() for tail in self._tails]
        same = len(lines) == len(self._seen) and all(map(_is, lines, self._seen))
        if same and self._all_written:
            return
        before = len(self.closed)
        while not self.over and self._close(lines, last=not hold):
            pass
        closed = len(self.closed) > before
        if hold and not closed and time.monotonic() < self._rest_until:
            return
        began = time.thread_time()
        self._write(self._rows(lines), hold)
        self._seen = [self._let_go(tail, one) for tail, one in zip(self._tails, lines, strict=True)]
        took = time.thread_time() - began
        self._rest_until = time.monotonic() + (REST * took if took > LONG_SECONDS else 0.0)
        if closed:  # Not before the history says so: else a kill would lose them.
            drop_merged(self._groups, len(self.closed))

    def _begin_anew(self) -> None:
        """Read all that groups have written, and write the history from its beginning."""
        paths = [one.path / "history.jsonl" for one in self._groups]
        self._tails = [JsonlTail(*one) for one in zip(paths, self._sizes, strict=True)]
        self._place = (0, -1)  # of the last line that stays: its step, and its kind's order,
        self._length: int | None = None  # and where it ends, in bytes; None before the first

    def _let_go(self, tail: JsonlTail, lines: list[Line]) -> list[Line]:
        """Forget what a group wrote of places whose lines stay; what is left of its lines."""
        behind = next(
            (n for n, one in enumerate(lines) if _place_of(one) > self._place), len(lines)
        )
        return tail.forget(behind)

    def _close(self, lines: list[list[Line]], last: bool) -> bool:
        """Merge the next epoch, if every group has closed it."""
        epoch = len(self.closed) + 1
        ends = [by(one, "epoch", "epoch").get(epoch) for one in lines]
        there = [line for line in ends if line is not None]
        if len(there) < len(ends):
            return False
        check(self._run, self._groups)
        try:
            line = merge_epoch(self._run, self._groups, there, self.status)
        except NotThereError:
            if last:
                raise
            # A task that began anew at its checkpoint deletes what it will write again.
            return False
        self._closes(line)
        return True

    def _closes(self, line: Line) -> None:
        self.closed.append(line)
        self.status = replace(self.status, **after_epoch(self.status, line))

    def _rows(self, lines: list[list[Line]]) -> list[Line]:
        """What comes after the lines that stay: steps, epochs, and epochs that some have closed."""
        ended = len(self.closed)
        steps = joined_by("step", [by(one, "steps", "step") for one in lines], self._sizes)
        ends = [
            {n: line for n, line in by(one, "epoch", "epoch").items() if n > ended} for one in lines
        ]
        waiting = [{**row, "kind": UNFINISHED} for row in joined_by("epoch", ends, self._sizes)]
        if self.over:  # What a group learnt after that is none of the run's.
            steps, waiting = [row for row in steps if row["epoch"] <= ended], []
        every = [row for row in (*steps, *self.closed, *waiting) if _place_of(row) > self._place]
        return sorted(every, key=_place_of)

    def _write(self, rows: list[Line], hold: float) -> None:
        stay = next((n for n, row in enumerate(rows) if not is_whole(row)), len(rows))
        now = time.monotonic()
        since = (self._late_since or now) if stay < len(rows) else 0.0
        # What is merged is in no other file: its lines are never held back.
        merged = next((n for n in range(len(rows), 0, -1) if rows[n - 1]["kind"] == "epoch"), 0)
        later = rows[stay:] if now - since >= hold else rows[stay:merged]
        if stay or later != self._later or self._length is None:
            self._put(_text(rows[:stay]), _text(later))
        self._later, self._late_since = later, since
        self._all_written = len(later) == len(rows) - stay
        if stay:
            self._place = _place_of(rows[stay - 1])

    def _put(self, stays: bytes, later: bytes) -> None:
        """Write from where the lines end that stay; a reader meets whole lines, old or new."""
        begin, text = self._length, stays + later
        if begin is None:  # Beside, as a whole: a kill or a full disk costs no merged epoch's line.
            write_bytes(self._history, text)
        else:
            with open(self._history, "r+b", buffering=0) as file:
                _write_at(file.fileno(), text, begin)
                file.truncate(begin + len(text))
        self._length = (begin or 0) + len(stays)

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


def _place_of(line: Line) -> tuple[int, int]:
    return line["step"], ORDER.get(line["kind"], 0)


def _is(one: object, other: object) -> bool:
    return one is other


def _write_at(descriptor: int, text: bytes, begin: int) -> None:
    """All of it: a disk that fills up takes a part, and says so only when asked for the rest."""
    done = 0
    while done < len(text):
        done += os.pwrite(descriptor, text[done:], begin + done)


def _text(rows: list[Line]) -> bytes:
    return "".join(json.dumps(plain(row), allow_nan=False) + "\n" for row in rows).encode()
