"""The pictures that a person has handed in, in this tab alone, and which of them is open."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace

import streamlit as st

# What one tab keeps: so many pictures, and so many bytes of their files.
MOST = 200
MOST_BYTES = 256 * 2**20
NAME = 120  # characters of a name that are kept
TRAY, OPEN = "classify_tray", "classify_open"


@dataclass(frozen=True)
class Source:
    """A picture as it came.

    Attributes:
      id: tells it from the tab's other pictures; what is overruled is kept under it.
      name: what its owner calls it: text, which is no Markdown.
      content: the file; None where it has been let go because others came.
      key: differs when the content does.
    """

    id: str
    name: str
    content: bytes | None
    key: str


def source(name: str, content: bytes, ident: str = "") -> Source:
    """A picture of that name; without an `ident` it goes by what is in it."""
    key = hashlib.sha256(content).hexdigest()[:16]
    return Source(ident or key, " ".join(name.split())[:NAME] or "Picture", content, key)


def all_sources() -> list[Source]:
    """The tab's uploaded, pasted and tried pictures, the latest first."""
    return list(st.session_state.get(TRAY, []))


def opened() -> Source | None:
    """The open one; None where there is none at all."""
    every = all_sources()
    wanted = st.session_state.get(OPEN)
    return next((one for one in every if one.id == wanted), every[0] if every else None)


def add(new: Sequence[Source]) -> None:
    """Put pictures on top, in their order, and open the first of them."""
    if not new:
        return
    fresh = list({one.id: one for one in new}.values())
    ids = {one.id for one in fresh}
    kept = [one for one in all_sources() if one.id not in ids]
    st.session_state[TRAY] = bounded([*fresh, *kept])
    st.session_state[OPEN] = fresh[0].id


def bounded(every: Sequence[Source]) -> list[Source]:
    """At most `MOST` pictures, the files of the last let go beyond `MOST_BYTES` together."""
    kept, total = [], 0
    for one in every[:MOST]:
        total += len(one.content or b"")
        kept.append(one if total <= MOST_BYTES else replace(one, content=None))
    return kept


def open_one(ident: str) -> None:
    """Callback: open the picture of that id."""
    st.session_state[OPEN] = ident


def step(by: int) -> None:
    """Callback: open the picture so many places after the open one."""
    every, here = all_sources(), opened()
    if here:
        st.session_state[OPEN] = every[(every.index(here) + by) % len(every)].id


def remove(ident: str) -> None:
    """Callback: let one picture go, and open its neighbour."""
    every = all_sources()
    place = next((place for place, one in enumerate(every) if one.id == ident), None)
    if place is not None:
        del every[place]
        st.session_state[TRAY] = every
        if every:
            st.session_state[OPEN] = every[min(place, len(every) - 1)].id


def clear() -> None:
    """Callback: let all of them go."""
    st.session_state.pop(TRAY, None)
    st.session_state.pop(OPEN, None)
