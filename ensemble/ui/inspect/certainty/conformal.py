"""Conformal sets: for each example the classes it may be, with an error rate that is promised."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
import streamlit as st

from ensemble.analysis.inference.intervals import wilson
from ensemble.analysis.predictions import Predictions
from ensemble.analysis.quality.conformal import METHODS, Calibrated
from ensemble.analysis.quality.coverage import Achieved, judge_sets
from ensemble.figures.inspect.conformal import alt, figure, table
from ensemble.ui.inspect.loader import measured
from ensemble.ui.inspect.shown import Inspected
from ensemble.ui.predictions import downloads, sets
from ensemble.ui.predictions.fitting import Fitting
from ensemble.ui.shared import figure_panel as pictures
from ensemble.ui.shared import theme
from ensemble.wording import formats
from ensemble.wording.formats import plural
from ensemble.wording.verdicts import sets as words

WORST = 30  # classes in a table of many

Judged = dict[str, tuple[Calibrated, Achieved]]


def show(shown: Inspected) -> None:
    """What the sets come to, the controls, their sizes, and every kind's and class's figures."""
    answered = st.container()
    sets.control(shown.noun, "inspect_sets")
    rate, method = sets.asked()
    each = measured(shown, judged, rate, shown.fitting)
    made, found = each[method]
    answered.markdown(f"##### {words.verdict(made, found, shown.noun)}")
    title = f"Conformal sets at {words.level(rate)} · {shown.source}"
    pictures.show(
        figure(found, shown.noun, title, theme.palette()), key="inspect_sets",
        name=f"{shown.stem}-sets", title="Sizes of the sets", alt=alt(found, shown.noun),
        table=lambda: table(found), sees=sees(found, shown.noun),
    )  # fmt: skip
    st.dataframe(by_method(each), hide_index=True, key="inspect_sets_table")
    st.caption(words.promise(made, shown.noun, shown.fitting is None))
    listed = worst(found)
    st.dataframe(downloads.on_screen(by_class(found, shown.names, listed)), hide_index=True,
                 key="inspect_sets_classes", width="content")  # fmt: skip
    some = "" if len(listed) == len(shown.names) else (
        f"Of {len(shown.names):,} classes the {WORST} whose sets hold it least often. "
    )  # fmt: skip
    st.caption(
        some
        + f"{words.calibrated_on(made.n, found.n, shown.noun, shown.fitting is None)}; in brackets "
        "the 95 % interval."
    )


def judged(made: Predictions, rate: float, fitting: Fitting | None = None) -> Judged:
    """Each kind of sets, calibrated and judged on other examples."""
    apart = sets.calibration(fitting)
    return {one: judge_sets(made.averaged, made.labels, rate, one, apart) for one in METHODS}


def sees(found: Achieved, noun: str) -> str:
    """What to see in the picture."""
    n = found.n
    said = (
        f"{formats.percent(found.singletons / n, n)} of the {plural(noun)} get a set of one class"
    )
    several = n - found.singletons - found.empties
    said += f", {formats.percent(several / n, n)} two or more"
    if found.empties:
        said += f", {formats.percent(found.empties / n, n)} none: nothing is likely enough"
    return f"{said}. Orange: sets that miss what it is."


def by_method(each: Judged) -> pd.DataFrame:
    """A row for each kind of sets."""
    return pd.DataFrame(
        [
            {
                "sets": words.METHODS[name],
                "hold it": held(found.covered, found.n),
                "mean size": formats.significant(found.mean_size),
                "one class": f"{found.singletons:,}",
                "none": f"{found.empties:,}",
                "largest": f"{found.sizes.nonzero()[0].max():,}",
                "threshold": formats.significant(made.threshold) if made.enough else "none",
            }
            for name, (made, found) in each.items()
        ]
    )


def worst(found: Achieved, most: int = WORST) -> list[int]:
    """The classes to list: all, or of many those whose sets hold the label least often."""
    classes = np.arange(len(found.class_n))
    if len(classes) <= most:
        return [int(one) for one in classes]
    seen = classes[found.class_n > 0]
    share = found.class_covered[seen] / found.class_n[seen]
    return [int(one) for one in seen[np.lexsort((-found.class_n[seen], share))[:most]]]


def by_class(found: Achieved, names: Sequence[str], listed: Sequence[int]) -> pd.DataFrame:
    """A row for each class: the promise is for all together, and some classes may get less."""
    rows = (
        (names[c], int(found.class_n[c]), int(found.class_covered[c]), found.class_size[c])
        for c in listed
    )
    return pd.DataFrame(
        [
            {"class": name, "images": f"{n:,}", "hold it": held(covered, n),
             "mean size": formats.significant(float(size)) if n else "–"}
            for name, n, covered, size in rows
        ]
    )  # fmt: skip


def held(covered: int, n: int) -> str:
    """A share of sets with the ends of its 95 % interval: "96.4 % (93.3 to 98.1 %)"."""
    if not n:
        return "–"
    ends = formats.percents(*wilson(covered, n), places=formats.decimals(n))
    return f"{formats.percent(covered / n, n)} ({ends})"
