"""What groups have written, merged into what a run has to show: by reading files alone.

The figures of members stand in the run's history as they come, null for those of groups that have
not come so far; those of the ensemble once every group has closed the epoch, from its merged
predictions. What every group has reached stays as it was written; what comes after is written
again when more has come. So a run's lines are the same for any number of groups, and whoever
merges may end at any moment: the next continues where that stopped.

What stays is let go of once it is written: a merge takes time and memory for what has come since,
not for all that there is. Where much has to be written again, since one group waits for a place
and the others go on, that is done the less often the longer it takes.
"""

import json
import operator
import os
import time
from dataclasses import replace

from ensemble.runs.groups.epoch_merging import MissingEpochFileError, drop_merged_epochs, merge_epoch
from ensemble.runs.groups.group import Group, check_group_folders
from ensemble.runs.groups.history_lines import UNFINISHED_KIND, is_line_complete, join_lines_by
from ensemble.runs.history import list_prediction_epochs
from ensemble.runs.status import Status, build_blank_best_fields, build_epoch_status_fields, is_training_over
from ensemble.runs.store import Run, require_run_settings
from ensemble.storage.atomic_files import write_bytes
from ensemble.storage.records.json_lines import Line, convert_to_json, read_lines
from ensemble.storage.records.jsonl_tail import JsonlTail

# For so long what one group has not reached is held back: in step, they are never far apart.
_HOLD_BACK_SECONDS = 2.0
# Writing the same lines again takes at most a tenth of a processor, where it takes long at all.
_REST_RATIO, _SLOW_MERGE_SECONDS = 9.0, 0.03
_LINE_ORDER = {"steps": 0, "epoch": 1, UNFINISHED_KIND: 1}


class GroupMerger:
    """Merges the groups of a run, again and again; one process a run does so at a time.

    Args:
      run: whose.
      groups: all of them, in order.

    Attributes:
      merged_lines: the lines of the epochs that are merged.
      status: the run's, with what it says of its last epoch and of the best.

    Raises:
      RunError: a group is missing, or belongs to another run.
    """

    def __init__(self, run: Run, groups: list[Group]) -> None:
        check_group_folders(run, groups)
        self._run, self._groups, self._config = run, groups, require_run_settings(run)
        self._history = run.path / "history.jsonl"
        self._sizes = [len(group.member_numbers) for group in groups]
        self._seen: list[list[Line]] = []
        self._later: list[Line] = []
        self._late_since, self._rest_until = 0.0, 0.0
        self._all_written = False
        self._restart_merge()
        self.merged_lines: list[Line] = []
        self.status: Status = replace(run.status, **build_blank_best_fields(self._config))
        for line in self._read_merged_lines():
            self._add_merged_line(line)
        drop_merged_epochs(groups, len(self.merged_lines))

    @property
    def is_over(self) -> bool:
        """Whether the run has its last epoch: all of them, or patience has run out."""
        return is_training_over(self.status, self._config, len(self.merged_lines))

    @property
    def is_over_early(self) -> bool:
        """Whether it ended before the groups do by themselves."""
        return self.is_over and len(self.merged_lines) < self._config.epochs

    def describe_missing_epoch(self) -> str:
        """Why the next epoch is not merged, though every group says that it is at its end."""
        ends = (_index_lines_by(tail.read_lines(), "epoch", "epoch") for tail in self._tails)
        epoch, every = len(self.merged_lines) + 1, zip(self._groups, ends, strict=True)
        group = next(group for group, epoch_lines in every if epoch not in epoch_lines)
        return (
            f"{group.title}: its history.jsonl lacks epoch {epoch}. Delete the folder "
            f"groups/{group.path.name} of the run and resume: that group is then trained "
            "again, the others stay unchanged."
        )

    def merge_groups(self, hold: float = _HOLD_BACK_SECONDS) -> None:
        """Merge what has come since, and what some groups have not reached for `hold` seconds.

        Args:
          hold: 0 where nothing more will come.

        Raises:
          RunError: what a group wrote is damaged, or belongs to another run; or is missing, and
            will not come.
        """
        lines = [tail.read_lines() for tail in self._tails]
        if any(tail.replaced for tail in self._tails):  # What stayed may be another now.
            self._restart_merge()
            lines = [tail.read_lines() for tail in self._tails]
        same = len(lines) == len(self._seen) and all(map(operator.is_, lines, self._seen))
        if same and self._all_written:
            return
        before = len(self.merged_lines)
        while not self.is_over and self._merge_next_epoch(lines, last=not hold):
            pass
        closed = len(self.merged_lines) > before
        if hold and not closed and time.monotonic() < self._rest_until:
            return
        began = time.thread_time()
        self._write_rows(self._build_rows(lines), hold)
        self._seen = [
            self._forget_written_lines(tail, group_lines) for tail, group_lines in zip(self._tails, lines, strict=True)
        ]
        took = time.thread_time() - began
        self._rest_until = time.monotonic() + (_REST_RATIO * took if took > _SLOW_MERGE_SECONDS else 0.0)
        if closed:  # Not before the history says so: else a kill would lose them.
            drop_merged_epochs(self._groups, len(self.merged_lines))

    def _restart_merge(self) -> None:
        paths = [group.path / "history.jsonl" for group in self._groups]
        self._tails = [JsonlTail(*arguments) for arguments in zip(paths, self._sizes, strict=True)]
        self._place = (0, -1)  # of the last line that stays: its step, and its kind's order,
        self._length: int | None = None  # and where it ends, in bytes; None before the first

    def _forget_written_lines(self, tail: JsonlTail, lines: list[Line]) -> list[Line]:
        """Forget what a group wrote of places whose lines stay; what is left of its lines."""
        behind = next((n for n, line in enumerate(lines) if _locate_line(line) > self._place), len(lines))
        return tail.drop_lines(behind)

    def _merge_next_epoch(self, lines: list[list[Line]], last: bool) -> bool:
        epoch = len(self.merged_lines) + 1
        ends = [_index_lines_by(group_lines, "epoch", "epoch").get(epoch) for group_lines in lines]
        there = [line for line in ends if line is not None]
        if len(there) < len(ends):
            return False
        check_group_folders(self._run, self._groups)
        try:
            line = merge_epoch(self._run, self._groups, there, self.status)
        except MissingEpochFileError:
            if last:
                raise
            # A task that started again at its checkpoint deletes what it will write again.
            return False
        self._add_merged_line(line)
        return True

    def _add_merged_line(self, line: Line) -> None:
        self.merged_lines.append(line)
        self.status = replace(self.status, **build_epoch_status_fields(self.status, line))

    def _build_rows(self, lines: list[list[Line]]) -> list[Line]:
        """What comes after the lines that stay: steps, epochs, and epochs that some have closed."""
        ended = len(self.merged_lines)
        steps = join_lines_by(
            "step", [_index_lines_by(group_lines, "steps", "step") for group_lines in lines], self._sizes
        )
        ends = [
            {n: line for n, line in _index_lines_by(group_lines, "epoch", "epoch").items() if n > ended}
            for group_lines in lines
        ]
        waiting = [{**row, "kind": UNFINISHED_KIND} for row in join_lines_by("epoch", ends, self._sizes)]
        if self.is_over:  # What a group learnt after that is none of the run's.
            steps, waiting = [row for row in steps if row["epoch"] <= ended], []
        every = [row for row in (*steps, *self.merged_lines, *waiting) if _locate_line(row) > self._place]
        return sorted(every, key=_locate_line)

    def _write_rows(self, rows: list[Line], hold: float) -> None:
        stay = next((n for n, row in enumerate(rows) if not is_line_complete(row)), len(rows))
        now = time.monotonic()
        since = (self._late_since or now) if stay < len(rows) else 0.0
        # What is merged is in no other file: its lines are never held back.
        merged = next((n for n in range(len(rows), 0, -1) if rows[n - 1]["kind"] == "epoch"), 0)
        later = rows[stay:] if now - since >= hold else rows[stay:merged]
        if stay or later != self._later or self._length is None:
            self._replace_tail(_format_history_lines(rows[:stay]), _format_history_lines(later))
        self._later, self._late_since = later, since
        self._all_written = len(later) == len(rows) - stay
        if stay:
            self._place = _locate_line(rows[stay - 1])

    def _replace_tail(self, stays: bytes, later: bytes) -> None:
        """Write from where the lines end that stay; a reader meets whole lines, old or new."""
        begin, text = self._length, stays + later
        if begin is None:  # Beside, as a whole: a kill or a full disk costs no merged epoch's line.
            write_bytes(self._history, text)
        else:
            with open(self._history, "r+b", buffering=0) as file:
                _write_all_at(file.fileno(), text, begin)
                file.truncate(begin + len(text))
        self._length = (begin or 0) + len(stays)

    def _read_merged_lines(self) -> list[Line]:
        there, epoch_lines = set(list_prediction_epochs(self._run.id)), list[Line]()
        for line in read_lines(self._history, self._config.members):
            if line["kind"] == "epoch" and line["epoch"] == len(epoch_lines) + 1 in there:
                epoch_lines.append(line)
        return epoch_lines


def _index_lines_by(lines: list[Line], kind: str, name: str) -> dict[int, Line]:
    """The lines of a kind by their step or epoch: the last, where a task wrote one again."""
    return {line[name]: line for line in lines if line["kind"] == kind}


def _locate_line(line: Line) -> tuple[int, int]:
    return line["step"], _LINE_ORDER.get(line["kind"], 0)


def _write_all_at(descriptor: int, text: bytes, begin: int) -> None:
    """All of it: a disk that fills up takes a part, and says so only when asked for the rest."""
    done = 0
    while done < len(text):
        done += os.pwrite(descriptor, text[done:], begin + done)


def _format_history_lines(rows: list[Line]) -> bytes:
    return "".join(json.dumps(convert_to_json(row), allow_nan=False) + "\n" for row in rows).encode()
