"""The pictures that a person has handed in, in this tab alone, and which of them is open."""

from collections.abc import Sequence
from dataclasses import replace

from ensemble.ui.classify.state import Source
from ensemble.ui.shared.tab import tab

# What one tab keeps: so many pictures, and so many bytes of their files.
MOST = 200
MOST_BYTES = 256 * 2**20


def all_sources() -> list[Source]:
    """The tab's uploaded, pasted and tried pictures, the latest first."""
    return list(tab.pictures)


def opened() -> Source | None:
    """The open one; None where there is none at all."""
    every = all_sources()
    wanted = tab.picture_open
    return next((one for one in every if one.id == wanted), every[0] if every else None)


def add(new: Sequence[Source]) -> None:
    """Put pictures on top, in their order, and open the first of them."""
    if not new:
        return
    fresh = list({one.id: one for one in new}.values())
    ids = {one.id for one in fresh}
    kept = [one for one in all_sources() if one.id not in ids]
    tab.pictures = bounded([*fresh, *kept])
    tab.picture_open = fresh[0].id


def bounded(every: Sequence[Source]) -> list[Source]:
    """At most `MOST` pictures, the files of the last let go beyond `MOST_BYTES` together."""
    kept, total = [], 0
    for one in every[:MOST]:
        total += len(one.content or b"")
        kept.append(one if total <= MOST_BYTES else replace(one, content=None))
    return kept


def open_one(ident: str) -> None:
    """Callback: open the picture of that id."""
    tab.picture_open = ident


def step(by: int) -> None:
    """Callback: open the picture so many places after the open one."""
    every, here = all_sources(), opened()
    if here:
        tab.picture_open = every[(every.index(here) + by) % len(every)].id


def remove(ident: str) -> None:
    """Callback: let one picture go, and open its neighbour."""
    every = all_sources()
    place = next((place for place, one in enumerate(every) if one.id == ident), None)
    if place is not None:
        del every[place]
        tab.pictures = every
        if every:
            tab.picture_open = every[min(place, len(every) - 1)].id


def clear() -> None:
    """Callback: let all of them go."""
    del tab.pictures
    del tab.picture_open
