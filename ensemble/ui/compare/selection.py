"""The runs that are left of those compared: the best of them, and those that are brushed."""

from collections.abc import Sequence
from dataclasses import dataclass

import streamlit as st

from ensemble import runs
from ensemble.figures.comparison.columns import Column
from ensemble.ui.compare import brushed, loader
from ensemble.ui.compare.brushed import Brush
from ensemble.ui.predictions.controls import stamp
from ensemble.ui.shared import address, widget
from ensemble.wording import escaping, formats

SHARES = {100: "All runs", 50: "Best half", 25: "Best quarter", 10: "Best tenth"}
# By what the best are chosen: by validation where every run has it.
BY = {"best_validation_nll": "lowest validation NLL", "nll": "NLL on the test images"}


@dataclass(frozen=True)
class Selection:
    """What is left of R runs.

    Attributes:
      kept: (R,), whether each is.
      brushes: what is brushed.
      columns: every setting and figure of the R runs; () where nothing was asked for.
    """

    kept: tuple[bool, ...]
    brushes: dict[str, Brush]
    columns: tuple[Column, ...] = ()

    @property
    def whole(self) -> bool:
        """Whether every run is left."""
        return all(self.kept)

    def of(self, every: Sequence[runs.Run]) -> list[runs.Run]:
        """Those of the runs that are left."""
        return [run for run, stays in zip(every, self.kept, strict=True) if stays]


def selected(every: Sequence[runs.Run], wanted: bool) -> Selection:
    """What the address leaves of the runs.

    Args:
      every: R runs.
      wanted: whether settings and figures are needed whatever the address says: to have them
        takes the predictions of every run.
    """
    top, text = address.TOP.read(), address.KEEP.read()
    if not wanted and not text and top == 100:
        return Selection((True,) * len(every), {})
    columns = loader.columns(every)
    brushes = brushed.read(text, columns)
    kept = brushed.remaining(brushes, columns) or [True] * len(every)
    best = among_best(columns, top, len(every))
    return Selection(
        tuple(a and b for a, b in zip(kept, best, strict=True)), brushes, tuple(columns)
    )


def judged_by(columns: Sequence[Column]) -> Column | None:
    """The figure that the best are chosen by."""
    known = {column.name: column for column in columns}
    held = known.get("best_validation_nll")
    if held and None not in held.values:
        return held
    return known.get("nll")


def among_best(columns: Sequence[Column], top: int, count: int) -> list[bool]:
    """Of every run whether it is among the best `top` per cent, at least one of them."""
    column = judged_by(columns)
    if top == 100 or column is None:
        return [True] * count
    order = sorted(
        (place for place in range(count) if column.values[place] is not None),
        key=lambda place: float(column.values[place] or 0.0),
    )
    best = set(order[: max(1, -(-count * top // 100))])
    return [place in best for place in range(count)]


def top_control() -> None:
    """How many of the runs, the best, are shown."""
    top = address.TOP.read()
    other = {} if top in SHARES else {top: f"Best {formats.percent(top / 100, places=0)}"}
    options = {**SHARES, **other}
    address.bound(
        f"compare_top_{stamp(options)}",
        top,
        lambda key: st.selectbox(
            "Show",
            sorted(options, reverse=True),
            format_func=options.__getitem__,
            key=key,
            width=150,
            on_change=follow_top,
            args=(key,),
            help="The best by the lowest validation NLL where every run has one, else by NLL on "
            "the "
            "test images.",
        ),
    )


def follow_top(key: str) -> None:
    """Callback: the address follows."""
    address.TOP.put(widget.value(key))


def line(found: Selection) -> None:
    """What is left and why, and a way back to all; nothing where all runs are."""
    top = address.TOP.read()
    if not found.brushes and top == 100:
        return
    why = [f"brushed to {escaping.markdown(brushed.in_words(found.brushes, found.columns))}"]
    why = why if found.brushes else []
    if top < 100 and (by := judged_by(found.columns)):
        why.append(f"the best {formats.percent(top / 100, places=0)} by {BY[by.name]}")
    count = formats.count(len(found.kept), "run")
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(f"**{sum(found.kept):,} of {count}**: {'; '.join(why)}.", width="content")
        st.button(
            "Show all",
            key="compare_show_all",
            icon=":material/filter_alt_off:",
            type="tertiary",
            on_click=show_all,
        )


def show_all() -> None:
    """Callback: nothing is brushed or left out."""
    address.KEEP.put(None)
    address.TOP.put(100)


def keep(brushes: dict[str, Brush]) -> None:
    """Callback: what is brushed goes into the address."""
    address.KEEP.put(brushed.written(brushes) or None)
