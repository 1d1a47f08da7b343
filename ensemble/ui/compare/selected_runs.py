"""Which runs are compared: those that the address names, one by one or by what they share."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from ensemble import runs
from ensemble.config import CLASSIFICATION
from ensemble.errors import RunError
from ensemble.ui.shared import address, loaders
from ensemble.ui.shared.tab import tab

MAX_RUNS = 50
_ADDRESS_WORDS: tuple[address.QueryParameter[Any], ...] = (
    address.RUNS,
    address.TAG,
    address.SWEEP,
    address.BY,
    address.BASELINE,
)


@dataclass(frozen=True)
class SelectedRuns:
    """The runs that an address stands for.

    Attributes:
      runs: at most `MAX_RUNS` of them; newest first where a tag or a sweep names them.
      missing: ids in the address that are no runs, or none that can be read.
      omitted_count: how many more there are than are compared.
      common_trait: what they have in common in words, "" where they were named one by one.
    """

    runs: tuple[runs.Run, ...]
    missing: tuple[str, ...] = ()
    omitted_count: int = 0
    common_trait: str = ""


def restore_selected_runs() -> SelectedRuns:
    """What the address says; where it says nothing, what this tab compared last."""
    if not _has_runs_in_address():
        for word in _ADDRESS_WORDS:
            word.set_value(word.parse(tab.compared_address.get(word.name)))
    return read_selected_runs()


def remember_selected_runs() -> None:
    tab.compared_address = {
        word.name: text for word in _ADDRESS_WORDS if (text := address.get_query_parameters().get(word.name))
    }


def _has_runs_in_address() -> bool:
    return bool(address.RUNS.read() or address.TAG.read() or address.SWEEP.read())


def read_selected_runs(task: str = CLASSIFICATION) -> SelectedRuns:
    """The runs of this task in the address: of ids first, else of a tag, else of a sweep."""
    if wanted := address.RUNS.read():
        return _find_runs_by_ids(wanted, task)
    tag, sweep = address.TAG.read(), address.SWEEP.read()
    shared = (
        f"tag “{tag}”" if tag else sweep if sweep and sweep.startswith("sweep") else f"sweep {sweep}" if sweep else ""
    )
    tagged_runs = _filter_runs_by_tag(loaders.list_cached_runs(task), tag or sweep or "")
    return SelectedRuns(tuple(tagged_runs[:MAX_RUNS]), (), max(0, len(tagged_runs) - MAX_RUNS), shared)


def _filter_runs_by_tag(every: Sequence[runs.Run], tag: str) -> list[runs.Run]:
    """The runs that have this tag; a sweep's trials have its id for one."""
    return [run for run in every if tag in run.tags]


def _find_runs_by_ids(wanted: Sequence[str], task: str) -> SelectedRuns:
    runs_by_id, matches, missing = {run.id: run for run in loaders.list_cached_runs(None)}, [], []
    for run_id in wanted[:MAX_RUNS]:
        if (run := runs_by_id.get(run_id) or _find_recent_run(run_id)) and run.task == task:
            matches.append(run)
        else:
            missing.append(run_id)
    return SelectedRuns(tuple(matches), tuple(missing), max(0, len(wanted) - MAX_RUNS))


def _find_recent_run(run_id: str) -> runs.Run | None:
    """A run that is not in the list yet, which may be two seconds old."""
    with suppress(RunError):
        return runs.find_run(run_id)
    return None


def update_runs_address(ids: Sequence[str]) -> None:
    address.RUNS.set_value(tuple(ids))
    address.TAG.set_value(None)
    address.SWEEP.set_value(None)
    address.KEEP.set_value(None)
    if not ids:
        del tab.compared_address


def update_shared_address(word: address.TextParameter, value: str) -> None:
    update_runs_address(())
    word.set_value(value)
