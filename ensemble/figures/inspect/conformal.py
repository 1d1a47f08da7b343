"""How large conformal sets are, and how many of each size hold what the example is."""

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from ensemble.analysis.quality.coverage import ConformalCoverage
from ensemble.figures import chart_style
from ensemble.figures.palette import RIGHT_COLOR, WRONG_COLOR, Palette
from ensemble.wording import formats
from ensemble.wording.formats import pluralize_noun

if TYPE_CHECKING:
    import plotly.graph_objects as go


_MAX_LISTED_SIZES = 12  # sizes in the picture's words


def plot_set_sizes(coverage: ConformalCoverage, noun: str, title: str, palette: Palette) -> "go.Figure":
    """A bar for each size: the sets that hold the label below, those that miss it on top."""
    import plotly.graph_objects as go  # here, for it takes a while and only pictures need it

    sizes = np.arange(len(coverage.sizes))
    missed = coverage.sizes - coverage.sizes_covered
    chart = go.Figure()
    for name, counts, color in (
        (f"✓ holds the {noun}", coverage.sizes_covered, RIGHT_COLOR),
        (f"✗ misses the {noun}", missed, WRONG_COLOR),
    ):
        chart.add_bar(
            x=sizes,
            y=counts,
            name=name,
            marker={"color": color},
            hoverinfo="text",
            hovertext=[
                f"{name}: {formats.format_count(int(n), 'set')} of {_format_set_size(k)}" for k, n in enumerate(counts)
            ],
        )
    chart.update_layout(chart_style.build_chart_layout(title, 360, palette, barmode="stack", bargap=0.15))
    last = int(np.flatnonzero(coverage.sizes).max(initial=1))
    first = 0 if coverage.empty_count else 1
    chart.update_xaxes(
        title="classes in the set", dtick=1 if last <= 30 else None, range=[first - 0.6, last + 0.6], fixedrange=True
    )
    chart.update_yaxes(title=f"{pluralize_noun(noun)}", fixedrange=True, automargin=True, tickformat=",d")
    return chart


def _format_set_size(size: int) -> str:
    return "no class" if not size else "1 class" if size == 1 else f"{size} classes"


def describe_set_sizes_chart(coverage: ConformalCoverage, noun: str) -> str:
    counted = [(size, count) for size, count in enumerate(coverage.sizes.tolist()) if count]
    listing = ", ".join(f"{count:,} of {_format_set_size(size)}" for size, count in counted[:_MAX_LISTED_SIZES])
    if rest := sum(count for _, count in counted[_MAX_LISTED_SIZES:]):
        listing += f", {rest:,} of more"
    return (
        f"Sizes of {coverage.n:,} sets: {listing}; "
        f"{formats.format_percent(coverage.coverage, coverage.n)} hold the {noun}"
    )


def tabulate_set_sizes(coverage: ConformalCoverage) -> pd.DataFrame:
    """A row for each size: how many sets have it, and how many of these hold the label."""
    return pd.DataFrame(
        {"classes": np.arange(len(coverage.sizes)), "sets": coverage.sizes, "hold_the_label": coverage.sizes_covered}
    )
