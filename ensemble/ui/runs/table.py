"""All runs as a table: how each stands, what it reached, what it is worth over its members."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from statistics import fmean
from typing import Any

import numpy as np
import pandas as pd

from ensemble import runs
from ensemble.access import owners
from ensemble.jobs.queue import QueuedJob, list_queued_jobs, locate_in_queue
from ensemble.runs.annotations.notes import NOTE_FILE as NOTE
from ensemble.runs.annotations.notes import read_run_note
from ensemble.runs.epoch_choice import read_reported_metrics
from ensemble.storage.folder_index import file_version
from ensemble.ui.predictions import downloads
from ensemble.ui.runs.columns import RUN_COLUMNS, SETTING_COLUMNS
from ensemble.ui.shared import settings
from ensemble.wording import formats
from ensemble.wording import jobs as jobs_words
from ensemble.wording.run_names import format_run_data, format_run_name
from ensemble.wording.runs import groups as groups_words
from ensemble.wording.verdicts import chance_level

_NOTE_PREVIEW_LENGTH = 60
_PERCENT_COLUMNS, _LOWER_IS_BETTER_COLUMNS = ("accuracy", "best", "last", "mean"), ("nll", "ece", "rmse", "crps")
_MAX_CACHED_ROWS = 4096  # runs whose rows are remembered

# A run's row, with the run as it was read then and the version of its note: a list of a thousand
# is drawn every two seconds while one of them goes on.
_row_cache: dict[str, tuple[runs.Run, Any, dict[str, Any]]] = {}


def tabulate_runs(
    listed_runs: Sequence[runs.Run],
    columns: Sequence[str] = tuple(RUN_COLUMNS),
    *,
    baselines: Collection[str] = (),
    ece: Mapping[str, float] | None = None,
) -> pd.DataFrame:
    """One row for each of the runs `listed_runs`, in their order; shares in percent.

    Args:
      columns: of `RUN_COLUMNS`; the id comes with them.
    """
    line = list_queued_jobs() if any(run.status.state == "queued" for run in listed_runs) else []
    ece = ece or {}
    late = {
        "name": format_run_name,
        "done": lambda run: _format_run_progress(run, line),
        "state": chance_level.format_short_state,
        "baseline": lambda run: "pinned" if run.id in baselines else "",
        "ece": lambda run: ece.get(run.id),
        "owner": lambda run: owners.read_owner(run.path),
    }
    rows = [load_run_row(run) for run in listed_runs]
    frame = pd.DataFrame(index=pd.RangeIndex(len(rows)))
    for name in columns:
        late_column = late.get(name)
        cells = [late_column(run) for run in listed_runs] if late_column else [row[name] for row in rows]
        # Where nobody has a number the column is one of numbers all the same, and sorts as such.
        frame[name] = pd.Series(cells, frame.index, float if _is_number_column(name) else None)
    frame["id"] = [run.id for run in listed_runs]
    return frame


def _is_number_column(name: str) -> bool:
    return RUN_COLUMNS[name].kind == "number"


def load_run_row(run: runs.Run) -> dict[str, Any]:
    """What a run's row says that changes only with its files."""
    version = file_version(f"{run.path}/{NOTE}")
    cached = _row_cache.get(run.id)
    if cached is None or cached[0] is not run or cached[1] != version:
        if len(_row_cache) >= _MAX_CACHED_ROWS:
            _row_cache.clear()
        cached = _row_cache[run.id] = run, version, build_run_row(run)
    return cached[2]


def build_run_row(run: runs.Run) -> dict[str, Any]:
    """`load_run_row`, read and reckoned."""
    status = run.status
    last, reported = status.ensemble_test_accuracy, read_reported_metrics(run)
    members = [share for share in reported.member_accuracies if share is not None]
    mean, share = fmean(members) if members else None, reported.accuracy
    gain = (share - mean) * run.data.test_size if len(members) > 1 and share and mean else None
    note = read_run_note(run)
    return {
        "accuracy": _convert_to_percent(reported.accuracy),
        "best": _convert_to_percent(status.best_ensemble_test_accuracy),
        "last": _convert_to_percent(last),
        "mean": _convert_to_percent(mean) if len(members) > 1 else None,
        "gain": None if gain is None else formats.round_half_away(gain),
        "nll": reported.nll,
        "rmse": reported.rmse,
        "crps": reported.crps,
        "time": status.seconds or None,
        "data": format_run_data(run),
        "task": run.task,
        **{name: _format_run_setting_cell(run, name) for name in SETTING_COLUMNS},
        "tags": ", ".join(run.tags),
        "settings": settings.summarize_run_settings(run.config),
        "made": datetime.fromtimestamp(status.created),
        "note": format_note_preview(note),
        "words": _build_search_text(run, note),
    }


def _format_run_setting_cell(run: runs.Run, name: str) -> Any:
    """A setting in its column; none where members differ in it, or where it is not known."""
    if run.settings and name in run.settings.member_values and f"{name}=" in run.settings.vary:
        return None
    value = getattr(run.config, name, None)
    if isinstance(value, bool):
        return "yes" if value else ""
    return value if value is not None or _is_number_column(name) else ""


def _build_search_text(run: runs.Run, note: str) -> str:
    """All the words by which a run can be found, but for its name and state."""
    search_words = (run.id, settings.summarize_run_settings(run.config), note, run.config.dataset, run.task)
    network = run.settings.network if run.settings else ""
    return " ".join([*search_words, format_run_data(run), network, *run.tags]).casefold()


def _convert_to_percent(share: float | None) -> float | None:
    """A share in [0, 1] in percent."""
    return None if share is None else 100 * share


def format_note_preview(note: str) -> str:
    line = note.split("\n", 1)[0]
    return line if len(line) <= _NOTE_PREVIEW_LENGTH else line[: _NOTE_PREVIEW_LENGTH - 1] + "…"


def _format_run_progress(run: runs.Run, line: Sequence[QueuedJob]) -> str:
    """How far a run is: "40 %", "3 of 10" epochs, or of one that waits "2 before it", "next".

    Of one of which not all groups are at work also that: "40 %, 2 of 4 groups".
    """
    status = run.status
    state = run.state
    if state == "queued" and (place := groups_words.find_scheduler_title(run)):
        return f"in {groups_words.format_queue_name(place)}"
    if state == "queued":
        before = jobs_words.describe_queue_position(
            [job for job in line if locate_in_queue(job) < locate_in_queue(run)]
        )
        return before.removeprefix("queued, ")
    if state == "training" and status.steps:
        share = formats.format_progress(status.step / status.steps)
        return ", ".join(filter(None, (share, groups_words.describe_working_groups(run))))
    return f"{status.epoch:,} of {status.epochs:,}"


def style_runs_table(frame: pd.DataFrame, sizes: Sequence[int]) -> "pd.io.formats.style.Styler":
    """The table with its figures as everywhere: "97.8 %", "+18"; the cells sort as numbers.

    Args:
      frame: from `tabulate_runs`.
    """
    # Where less is better those without a figure come after the best, and not before it.
    late = {name: np.inf for name in frame if name in _LOWER_IS_BETTER_COLUMNS}
    style = downloads.style_downloadable_table(frame.fillna(late))
    numbers = [name for name in frame if name in RUN_COLUMNS and _is_number_column(str(name))]
    if shares := [name for name in numbers if name in _PERCENT_COLUMNS]:
        of_size = pd.Series(sizes, frame.index, dtype=int)
        for size, rows in frame.groupby(of_size).groups.items():
            style = style.format(
                lambda share, n=int(str(size)): formats.format_percent(share / 100, n),
                na_rep="–",
                subset=(rows, shares),
            )
    formatters = {name: RUN_COLUMNS[str(name)].formatter for name in numbers if name not in _PERCENT_COLUMNS}
    if formatters:  # pandas: without a formatter at all it would undo the others
        style = style.format(formatters, na_rep="–", subset=list(formatters))
    return style
