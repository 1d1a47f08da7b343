"""The runs that are left of those compared: the best of them, and those that are brushed."""

from collections.abc import Sequence
from dataclasses import dataclass

import streamlit as st

from ensemble import runs
from ensemble.figures.comparison.columns import AxisColumn
from ensemble.ui.compare import axis_brushes, comparison_cache
from ensemble.ui.compare.axis_brushes import Brush
from ensemble.ui.predictions.controls import hash_options
from ensemble.ui.shared import address, widget_state
from ensemble.wording import escaping, formats

_TOP_SHARES = {100: "All runs", 50: "Best half", 25: "Best quarter", 10: "Best tenth"}
# By what the best are chosen: by validation where every run has it.
_RANKING_LABELS = {"best_validation_nll": "lowest validation NLL", "nll": "NLL on the test images"}


@dataclass(frozen=True)
class RunFilter:
    """What is left of R runs.

    Attributes:
      mask: (R,), whether each is.
      brushes: what is brushed.
      columns: every setting and figure of the R runs; () where nothing was asked for.
    """

    mask: tuple[bool, ...]
    brushes: dict[str, Brush]
    columns: tuple[AxisColumn, ...] = ()

    @property
    def is_complete(self) -> bool:
        return all(self.mask)

    def filter_runs(self, every: Sequence[runs.Run]) -> list[runs.Run]:
        return [run for run, stays in zip(every, self.mask, strict=True) if stays]


def read_run_filter(every: Sequence[runs.Run], wanted: bool) -> RunFilter:
    """What the address leaves of the runs.

    Args:
      wanted: whether settings and figures are needed whatever the address says: to have them
        takes the predictions of every run.
    """
    top, text = address.TOP.read(), address.KEEP.read()
    if not wanted and not text and top == 100:
        return RunFilter((True,) * len(every), {})
    columns = comparison_cache.compute_run_columns(every)
    brushes = axis_brushes.parse_brushes(text, columns)
    kept = axis_brushes.compute_brush_mask(brushes, columns) or [True] * len(every)
    best = _compute_best_mask(columns, top, len(every))
    return RunFilter(tuple(a and b for a, b in zip(kept, best, strict=True)), brushes, tuple(columns))


def _find_ranking_column(columns: Sequence[AxisColumn]) -> AxisColumn | None:
    columns_by_name = {column.name: column for column in columns}
    held = columns_by_name.get("best_validation_nll")
    if held and None not in held.values:
        return held
    return columns_by_name.get("nll")


def _compute_best_mask(columns: Sequence[AxisColumn], top: int, count: int) -> list[bool]:
    """Of every run whether it is among the best `top` per cent, at least one of them."""
    column = _find_ranking_column(columns)
    if top == 100 or column is None:
        return [True] * count
    order = sorted(
        (place for place in range(count) if column.values[place] is not None),
        key=lambda place: float(column.values[place] or 0.0),
    )
    best = set(order[: max(1, -(-count * top // 100))])
    return [place in best for place in range(count)]


def show_top_control() -> None:
    top = address.TOP.read()
    other = {} if top in _TOP_SHARES else {top: f"Best {formats.format_percent(top / 100, places=0)}"}
    options = {**_TOP_SHARES, **other}
    address.show_address_widget(
        f"compare_top_{hash_options(options)}",
        top,
        lambda key: widget_state.draw_widget(
            st.selectbox,
            "Show",
            sorted(options, reverse=True),
            format_func=options.__getitem__,
            key=key,
            width=150,
            on_change=_update_top_address,
            args=(key,),
            help="The best by the lowest validation NLL where every run has one, else by NLL on the test images.",
        ),
    )


def _update_top_address(key: str) -> None:
    """Callback: the address follows."""
    address.TOP.set_value(widget_state.get_widget_value(key))


def show_filter_summary(run_filter: RunFilter) -> None:
    """What is left and why, and a way back to all; nothing where all runs are."""
    top = address.TOP.read()
    if not run_filter.brushes and top == 100:
        return
    brushes = axis_brushes.describe_brushes(run_filter.brushes, run_filter.columns)
    why = [f"brushed to {escaping.escape_markdown(brushes)}"] if run_filter.brushes else []
    if top < 100 and (by := _find_ranking_column(run_filter.columns)):
        why.append(f"the best {formats.format_percent(top / 100, places=0)} by {_RANKING_LABELS[by.name]}")
    count = formats.format_count(len(run_filter.mask), "run")
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(f"**{sum(run_filter.mask):,} of {count}**: {'; '.join(why)}.", width="content")
        st.button(
            "Show all",
            key="compare_show_all",
            icon=":material/filter_alt_off:",
            type="tertiary",
            on_click=_reset_run_filter,
        )


def _reset_run_filter() -> None:
    """Callback: nothing is brushed or left out."""
    address.KEEP.set_value(None)
    address.TOP.set_value(100)


def update_brushes_address(brushes: dict[str, Brush]) -> None:
    """Callback: what is brushed goes into the address."""
    address.KEEP.set_value(axis_brushes.format_brushes(brushes) or None)
