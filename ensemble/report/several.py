"""Several runs beside each other: the table, the curves, and each of them in short."""

from collections.abc import Iterator, Sequence

from ensemble import runs
from ensemble.comparison.curves import curves
from ensemble.comparison.groups import Group, grouped
from ensemble.comparison.table import table
from ensemble.figures.comparison import curves as drawn
from ensemble.figures.comparison.curve_words import WHAT, alt, best, sees
from ensemble.report import single
from ensemble.report.contents import Content
from ensemble.runs.annotations.baseline import read_baselines
from ensemble.views.iteration import iterate_parts
from ensemble.views.parts import Figure, Figures, Section
from ensemble.views.side_by_side import compare_side_by_side
from ensemble.wording import formats

LEAD = (
    "Each run is a deep ensemble: networks that answer as one, by the average of their "
    "probabilities."
)


def content(every: Sequence[runs.Run]) -> Content:
    """The comparison, and each run's short section."""
    groups = grouped(every)
    about = ", ".join(dict.fromkeys(run.data.title for run in every))
    title = f"{formats.count(len(every), 'run')} compared"
    each = [one for run in every for one in single.short(run)]
    return Content(title, "", about, LEAD, [*compared(groups, every), *each])


def compared(groups: Sequence[Group], every: Sequence[runs.Run]) -> Iterator[Section]:
    """The table against the pinned run, else the first, with its warnings; and the curves."""
    pinned = set(read_baselines().values())
    baseline = next((run.id for run in every if run.id in pinned), every[0].id)
    found = table(groups, baseline)
    yield Section("Side by side", list(iterate_parts(compare_side_by_side(found))))
    pictures = [one for what in WHAT for one in of_figure(groups, what)]
    if pictures:
        yield Section("Learning curves", [Figures.several("Figure", pictures)], breaks=True)


def of_figure(groups: Sequence[Group], what: str) -> Iterator[Figure]:
    """The ensembles' curves on the test images, a colour a group; none where nothing has begun."""
    found = [("test", curves(groups, figure=what))]
    if not any(one.lines for one in found[0][1]):
        return
    title = f"{WHAT[what]} of the ensemble · {formats.count(len(groups), 'group')}"
    said, below = best(found[0][1], what, "test")
    told = " ".join(filter(None, (said, below, sees(found, "range", "ensemble"))))
    yield Figure(
        WHAT[what],
        alt(found, what, "ensemble", "epochs"),
        told,
        lambda palette: drawn.figure(found, what=what, x="epochs", title=title, palette=palette),
    )
