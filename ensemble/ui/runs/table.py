"""All runs as a table: how each stands, what it reached, what it is worth over its members."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from statistics import fmean
from typing import Any

import numpy as np
import pandas as pd

from ensemble import runs
from ensemble.access import owners
from ensemble.jobs.queue import QueuedJob, in_order, place_of
from ensemble.runs.annotations.notes import FILE as NOTE
from ensemble.runs.annotations.notes import read_note
from ensemble.storage.folder_index import version
from ensemble.ui.predictions import downloads
from ensemble.ui.runs.columns import COLUMNS, OF_SETTINGS
from ensemble.ui.shared import settings
from ensemble.wording import formats
from ensemble.wording import jobs as jobs_words
from ensemble.wording.run_names import called
from ensemble.wording.runs import groups as groups_words
from ensemble.wording.verdicts import chance

NOTE_SHOWN = 60
SHARES, LESS_IS_BETTER = ("best", "last", "mean"), ("nll", "ece")
MOST = 4096  # runs whose rows are remembered

# A run's row, with the run as it was read then and the version of its note: a list of a thousand
# is drawn every two seconds while one of them goes on.
_rows: dict[str, tuple[runs.Run, Any, dict[str, Any]]] = {}


def table(
    shown: Sequence[runs.Run],
    columns: Sequence[str] = tuple(COLUMNS),
    *,
    baselines: Collection[str] = (),
    ece: Mapping[str, float] | None = None,
) -> pd.DataFrame:
    """One row for each of the runs `shown`, in their order; shares in percent.

    Args:
      shown: the runs.
      columns: of COLUMNS; the id comes with them.
      baselines: the ids of runs that are one.
      ece: of those of which it is known, by id.
    """
    line = in_order() if any(run.status.state == "queued" for run in shown) else []
    ece = ece or {}
    late = {
        "name": called,
        "done": lambda run: done(run, line),
        "state": chance.in_a_word,
        "baseline": lambda run: "pinned" if run.id in baselines else "",
        "ece": lambda run: ece.get(run.id),
        "owner": lambda run: owners.read_owner(run.path),
    }
    rows = [row(run) for run in shown]
    frame = pd.DataFrame(index=pd.RangeIndex(len(rows)))
    for name in columns:
        of = late.get(name)
        cells = [of(run) for run in shown] if of else [known[name] for known in rows]
        # Where nobody has a number the column is one of numbers all the same, and sorts as such.
        frame[name] = pd.Series(cells, frame.index, float if is_number(name) else None)
    frame["id"] = [run.id for run in shown]
    return frame


def is_number(name: str) -> bool:
    """Whether a column holds numbers."""
    return COLUMNS[name].kind == "number"


def row(run: runs.Run) -> dict[str, Any]:
    """What a run's row says that changes only with its files."""
    seen = version(f"{run.path}/{NOTE}")
    cached = _rows.get(run.id)
    if cached is None or cached[0] is not run or cached[1] != seen:
        if len(_rows) >= MOST:
            _rows.clear()
        cached = _rows[run.id] = run, seen, made_row(run)
    return cached[2]


def made_row(run: runs.Run) -> dict[str, Any]:
    """`row`, read and reckoned."""
    status = run.status
    last = status.ensemble_test_accuracy
    members = [share for share in status.member_test_accuracy if share is not None]
    mean = fmean(members) if members else None
    gain = (last - mean) * run.data.test_size if len(members) > 1 and last and mean else None
    note = read_note(run)
    return {
        "best": percentage(status.best_ensemble_test_accuracy),
        "last": percentage(last),
        "mean": percentage(mean) if len(members) > 1 else None,
        "gain": None if gain is None else formats.nearest(gain),
        "nll": status.ensemble_test_nll,
        "time": status.seconds or None,
        "data": run.data.title,
        **{name: setting(run, name) for name in OF_SETTINGS},
        "tags": ", ".join(run.tags),
        "settings": settings.summary(run.config),
        "made": datetime.fromtimestamp(status.created),
        "note": first_line(note),
        "words": spoken(run, note),
    }


def setting(run: runs.Run, name: str) -> Any:
    """A setting in its column; none where members differ in it, or where it is not known."""
    if run.trained and name in run.trained.per_member and f"{name}=" in run.trained.vary:
        return None
    value = getattr(run.config, name, None)
    if isinstance(value, bool):
        return "yes" if value else ""
    return value if value is not None or is_number(name) else ""


def spoken(run: runs.Run, note: str) -> str:
    """All the words by which a run can be found, but for its name and state."""
    said = (run.id, settings.summary(run.config), note, run.config.dataset, run.data.title)
    network = run.trained.network if run.trained else ""
    return " ".join([*said, network, *run.tags]).casefold()


def percentage(share: float | None) -> float | None:
    """A share in [0, 1] in percent."""
    return None if share is None else 100 * share


def first_line(note: str) -> str:
    """The beginning of a note."""
    line = note.split("\n", 1)[0]
    return line if len(line) <= NOTE_SHOWN else line[: NOTE_SHOWN - 1] + "…"


def done(run: runs.Run, line: Sequence[QueuedJob]) -> str:
    """How far a run is: "40 %", "3 of 10" epochs, or of one that waits "2 before it", "next".

    Of one of which not all groups are at work also that: "40 %, 2 of 4 groups".
    """
    status = run.status
    state = run.state
    if state == "queued" and (place := groups_words.placed(run)):
        return f"in {groups_words.queue(place)}"
    if state == "queued":
        before = jobs_words.place([job for job in line if place_of(job) < place_of(run)])
        return before.removeprefix("queued, ")
    if state == "training" and status.steps:
        share = formats.progress(status.step / status.steps)
        return ", ".join(filter(None, (share, groups_words.at_work(run))))
    return f"{status.epoch:,} of {status.epochs:,}"


def styled(frame: pd.DataFrame, sizes: Sequence[int]) -> "pd.io.formats.style.Styler":
    """The table with its figures as everywhere: "97.8 %", "+18"; the cells sort as numbers.

    Args:
      frame: from `table`.
      sizes: of the test set of each of its runs.
    """
    # Where less is better those without a figure come after the best, and not before it.
    late = {name: np.inf for name in frame if name in LESS_IS_BETTER}
    style = downloads.on_screen(frame.fillna(late))
    numbers = [name for name in frame if name in COLUMNS and is_number(str(name))]
    if shares := [name for name in numbers if name in SHARES]:
        of_size = pd.Series(sizes, frame.index, dtype=int)
        for size, rows in frame.groupby(of_size).groups.items():
            style = style.format(
                lambda share, n=int(str(size)): formats.percent(share / 100, n),
                na_rep="–",
                subset=(rows, shares),
            )
    said = {name: COLUMNS[str(name)].said for name in numbers if name not in SHARES}
    if said:  # pandas: without a formatter at all it would undo the others
        style = style.format(said, na_rep="–", subset=list(said))
    return style
