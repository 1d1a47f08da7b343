"""One run as sections: the answer first, then every view, then what it was made with."""

from collections.abc import Iterator
from time import localtime

from ensemble import runs
from ensemble.comparison.settings import FIELDS, label, settings_of, shown
from ensemble.errors import EnsembleError
from ensemble.report import learning, made_with
from ensemble.report.contents import Content
from ensemble.report.machine import machine, versions
from ensemble.runs.annotations.notes import read_note
from ensemble.views.answer import build_answer
from ensemble.views.evaluated_epoch import EvaluatedEpoch, evaluate_epoch
from ensemble.views.iteration import iterate_parts
from ensemble.views.loss_by_value import read_losses
from ensemble.views.parts import Listing, Paragraph, Part, Section
from ensemble.views.registry import VIEWS
from ensemble.views.selective import is_too_small
from ensemble.views.shift import read_results
from ensemble.wording import formats
from ensemble.wording.provenance import MONTHS
from ensemble.wording.run_names import called, came_from, told_apart
from ensemble.wording.verdicts import chance

WHAT = "A deep ensemble: {count} that answer as one, by the average of their probabilities."
ALONE = "One member alone has nobody to agree with, to be combined with or to be in a committee of."
SEVERAL = ("agreement", "committee", "combining")  # of one member there are none of these


def content(run: runs.Run) -> Content:
    """All that is reported of a run; what it does not have is said in a sentence."""
    found = list(sections(run))
    return Content(called(run), chance.state(run, run.state), about(run), lead(run), found)


def about(run: runs.Run) -> str:
    """A line under the title: the data, the members, when it was made, its id."""
    said = [run.data.title, formats.count(run.config.members, "member")]
    if run.status.created:
        day = localtime(run.status.created)
        said.append(f"made {day.tm_mday} {MONTHS[day.tm_mon - 1]} {day.tm_year}")
    return " · ".join(filter(None, (*said, run.id, came_from(run))))


def lead(run: runs.Run) -> str:
    """What this is and how good it is, in two sentences for whoever has never seen such a page."""
    said = WHAT.format(count=formats.count(run.config.members, "network"))
    if run.config.members == 1:
        said = "One network, of which more make a deep ensemble."
    try:
        epoch = evaluate_epoch(run)
    except EnsembleError:
        return said
    right, n = int(epoch.predictions.right.sum()), epoch.n
    images = formats.count(n, f"test {epoch.noun}")
    return (
        f"{said} After epoch {epoch.epoch} it gets {right:,} of {images} "
        f"right: {formats.percent(right / n, n)} {formats.plus_minus(right / n, n)}."
    )


def sections(run: runs.Run) -> Iterator[Section]:
    """The answer, the curves, the views, and what it was made with."""
    try:
        epoch = evaluate_epoch(run)
    except EnsembleError as error:
        yield Section("Result", [Paragraph(str(error), "answer"), *note(run)])
        yield from curves(run)
    else:
        yield Section("Result", [*iterate_parts(build_answer(epoch)), *note(run)])
        yield from curves(run)
        yield from list_views(epoch)
    yield Section("Settings and versions", [*settings(run), *made_with.parts(run)], breaks=True)


def list_views(epoch: EvaluatedEpoch) -> Iterator[Section]:
    """Every view that has something to show of the run, each a section."""
    for name, view in VIEWS.items():
        title, breaks = view.title, view.breaks
        if name == "answer" or not has_view(epoch, name):
            continue
        if epoch.members == 1 and name in SEVERAL:
            if name == SEVERAL[0]:
                yield Section("Members", [Paragraph(ALONE)])
            continue
        if name == "selective" and is_too_small(epoch):
            title, breaks = "Selective answers and sets", False
        parts = list(iterate_parts(view.build(epoch)))
        # A sentence alone needs no page of its own.
        yield Section(title, parts, breaks=breaks and (name != "disputed" or len(parts) > 1))


def has_view(epoch: EvaluatedEpoch, name: str) -> bool:
    """Whether a report of the run has this view."""
    match name:
        case "loss_by_value":
            return read_losses(epoch.run) is not None
        case "uncertainty":
            return epoch.members > 1
        case "conformal":
            return not is_too_small(epoch)
        case "shift":
            return read_results(epoch) is not None
    return True


def short(run: runs.Run) -> Iterator[Section]:
    """The same in short, for a run among others: the answer and what it was made with."""
    parts: list[Part] = []
    try:
        parts += iterate_parts(build_answer(evaluate_epoch(run), glosses=""))
    except EnsembleError as error:
        parts.append(Paragraph(str(error)))
    again = [one for one in made_with.parts(run) if one.label == made_with.AGAIN]
    said = [Paragraph(about(run), "note"), *parts, *again, *settings(run)]
    yield Section(told_apart(run), said, breaks=True)


def note(run: runs.Run) -> Iterator[Part]:
    """What a person wrote of it."""
    if said := read_note(run):
        yield Paragraph(said)


def curves(run: runs.Run) -> Iterator[Section]:
    """The learning curves, where an epoch has ended."""
    if found := learning.pictures(run):
        yield Section("Learning curves", [found])


def settings(run: runs.Run) -> Iterator[Part]:
    """Every setting, those that are not at their default first; what it ran with."""
    values = settings_of(run)
    apart = [name for name in values if name not in FIELDS or values[name] != FIELDS[name].default]
    rest = [name for name in values if name not in apart]
    rows = [
        (label(name).capitalize(), shown(name, values[name]))
        for name in (*apart, *rest)
        if values[name] != ""
    ]
    if run.trained is None:
        yield Paragraph("It was trained elsewhere: its settings are not known here.")
    yield Listing(rows, fold_of_settings(len(apart)))
    if found := [*versions(run), *machine(run)]:
        yield Listing(found, "Versions and machine")


def fold_of_settings(apart: int) -> str:
    """What the fold of all settings is called, of which so many are not at their default."""
    if not apart:
        return "Settings: all are the defaults"
    how = (
        "differs from its default, and comes"
        if apart == 1
        else "differ from their defaults, and come"
    )
    return f"Settings: {apart:,} {how} first"
