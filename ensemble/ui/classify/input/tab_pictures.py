"""The pictures that a person has handed in, in this tab alone, and which of them is open."""

from collections.abc import Sequence
from dataclasses import replace

from ensemble.ui.classify.state import InputPicture
from ensemble.ui.shared.tab import tab

# What one tab keeps: so many pictures, and so many bytes of their files.
MAX_PICTURES = 200
MAX_TOTAL_BYTES = 256 * 2**20


def list_tab_pictures() -> list[InputPicture]:
    return list(tab.pictures)


def find_open_picture() -> InputPicture | None:
    """The open one; None where there is none at all."""
    every = list_tab_pictures()
    wanted = tab.picture_open
    return next((picture for picture in every if picture.id == wanted), every[0] if every else None)


def add_tab_pictures(new: Sequence[InputPicture]) -> None:
    if not new:
        return
    fresh = list({picture.id: picture for picture in new}.values())
    ids = {picture.id for picture in fresh}
    kept = [tab_picture for tab_picture in list_tab_pictures() if tab_picture.id not in ids]
    tab.pictures = limit_tab_pictures([*fresh, *kept])
    tab.picture_open = fresh[0].id


def limit_tab_pictures(every: Sequence[InputPicture]) -> list[InputPicture]:
    """At most `MAX_PICTURES` pictures; beyond `MAX_TOTAL_BYTES` the last lose their files."""
    kept, total = [], 0
    for picture in every[:MAX_PICTURES]:
        total += len(picture.content or b"")
        kept.append(picture if total <= MAX_TOTAL_BYTES else replace(picture, content=None))
    return kept


def open_tab_picture(ident: str) -> None:
    """Callback: open the picture of that id."""
    tab.picture_open = ident


def open_adjacent_picture(by: int) -> None:
    """Callback: open the picture so many places after the open one."""
    every, here = list_tab_pictures(), find_open_picture()
    if here:
        tab.picture_open = every[(every.index(here) + by) % len(every)].id


def remove_tab_picture(ident: str) -> None:
    """Callback: let one picture go, and open its neighbour."""
    every = list_tab_pictures()
    place = next((place for place, picture in enumerate(every) if picture.id == ident), None)
    if place is not None:
        del every[place]
        tab.pictures = every
        if every:
            tab.picture_open = every[min(place, len(every) - 1)].id


def clear_tab_pictures() -> None:
    """Callback: let all of them go."""
    del tab.pictures
    del tab.picture_open
