"""Which runs are compared: those that the address names, one by one or by what they share."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from ensemble import runs
from ensemble.errors import RunError
from ensemble.ui.shared import address, loaders
from ensemble.ui.shared.tab import tab

MOST = 50
WORDS: tuple[address.Word[Any], ...] = (
    address.RUNS,
    address.TAG,
    address.SWEEP,
    address.BY,
    address.BASELINE,
)


@dataclass(frozen=True)
class Chosen:
    """The runs that an address stands for.

    Attributes:
      runs: at most MOST of them; newest first where a tag or a sweep names them.
      missing: ids in the address that are no runs, or none that can be read.
      left_out: how many more there are than are compared.
      shared: what they have in common in words, "" where they were named one by one.
    """

    runs: tuple[runs.Run, ...]
    missing: tuple[str, ...] = ()
    left_out: int = 0
    shared: str = ""


def chosen() -> Chosen:
    """What the address says; where it says nothing, what this tab compared last."""
    if not asked():
        for word in WORDS:
            word.put(word.parse(tab.compared.get(word.name)))
    return of_address()


def remember() -> None:
    """Keep what the address names for this tab's next visit."""
    tab.compared = {word.name: text for word in WORDS if (text := address.every().get(word.name))}


def asked() -> bool:
    """Whether the address names any runs."""
    return bool(address.RUNS.read() or address.TAG.read() or address.SWEEP.read())


def of_address() -> Chosen:
    """The runs of the address: of ids first, else of a tag, else of a sweep."""
    every = loaders.all_runs()
    if wanted := address.RUNS.read():
        return named(wanted, every)
    tag, sweep = address.TAG.read(), address.SWEEP.read()
    shared = (
        f"tag “{tag}”"
        if tag
        else sweep
        if sweep and sweep.startswith("sweep")
        else f"sweep {sweep}"
        if sweep
        else ""
    )
    found = with_tag(every, tag or sweep or "")
    return Chosen(tuple(found[:MOST]), (), max(0, len(found) - MOST), shared)


def with_tag(every: Sequence[runs.Run], tag: str) -> list[runs.Run]:
    """The runs that have this tag; a sweep's trials have its id for one."""
    return [run for run in every if tag in run.tags]


def named(wanted: Sequence[str], every: Sequence[runs.Run]) -> Chosen:
    """The runs with these ids, in this order."""
    known, found, missing = {run.id: run for run in every}, [], []
    for one in wanted[:MOST]:
        if run := known.get(one) or just_made(one):
            found.append(run)
        else:
            missing.append(one)
    return Chosen(tuple(found), tuple(missing), max(0, len(wanted) - MOST))


def just_made(run_id: str) -> runs.Run | None:
    """A run that is not in the list yet, which may be two seconds old."""
    with suppress(RunError):
        return runs.find(run_id)
    return None


def choose(ids: Sequence[str]) -> None:
    """Have the address name these runs, and no tag or sweep."""
    address.RUNS.put(tuple(ids))
    address.TAG.put(None)
    address.SWEEP.put(None)
    address.KEEP.put(None)
    if not ids:
        del tab.compared


def choose_shared(word: address.Text, value: str) -> None:
    """Have the address name all runs with a tag, or of a sweep."""
    choose(())
    word.put(value)
