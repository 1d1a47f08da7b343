"""One run as sections: the answer first, then every view, then what it was made with."""

from collections.abc import Iterator
from time import localtime

from ensemble import runs
from ensemble.analysis.members.ece_gain import ece_gain
from ensemble.analysis.members.gain import best_member, gain_over_mean
from ensemble.analysis.quality.summary import qualities
from ensemble.comparison.seeds import seeds
from ensemble.comparison.settings import FIELDS, label, settings_of, shown
from ensemble.errors import EnsembleError
from ensemble.report import learning, made_with
from ensemble.report.contents import Content, Listing, Part, Said, Section, Table
from ensemble.report.reading import Reported, machine, reported, versions
from ensemble.report.views import certainty, disputed, members, shift, values
from ensemble.runs.annotations.notes import read_note
from ensemble.wording import formats
from ensemble.wording.provenance import MONTHS
from ensemble.wording.run_names import called, came_from, told_apart
from ensemble.wording.terms import BY_NAME
from ensemble.wording.verdicts import chance
from ensemble.wording.verdicts import inspect as words

MANY = 16  # members, from which on their figures stand behind a fold
WHAT = "A deep ensemble: {count} that answer as one, by the average of their probabilities."
GLOSSES = " ".join(
    f"{name}: {BY_NAME[name].gloss}" for name in ("NLL", "Brier", "ECE", "adaptive ECE", "MCE")
)


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
        of = reported(run)
    except EnsembleError:
        return said
    right, n = int(of.made.right.sum()), of.n
    return (
        f"{said} After epoch {of.epoch} it gets {right:,} of {formats.count(n, f'test {of.noun}')} "
        f"right: {formats.percent(right / n, n)} {formats.plus_minus(right / n, n)}."
    )


def sections(run: runs.Run) -> Iterator[Section]:
    """The answer, the curves, the views, and what it was made with."""
    try:
        of = reported(run)
    except EnsembleError as error:
        yield Section("Result", [Said(str(error), "answer"), *note(run)])
        yield from curves(run)
    else:
        yield Section("Result", [*answer(of, GLOSSES), *note(run)])
        yield from curves(run)
        yield from values.sections(run)
        yield disputed.section(of)
        yield from members.sections(of)
        yield from certainty.sections(of)
        yield from shift.sections(of)
    yield Section("Settings and versions", [*settings(run), *made_with.parts(run)], breaks=True)


def short(run: runs.Run) -> Iterator[Section]:
    """The same in short, for a run among others: the answer and what it was made with."""
    parts: list[Part] = []
    try:
        parts += answer(reported(run))
    except EnsembleError as error:
        parts.append(Said(str(error)))
    again = [one for one in made_with.parts(run) if one.label == made_with.AGAIN]
    said = [Said(about(run), "note"), *parts, *again, *settings(run)]
    yield Section(told_apart(run), said, breaks=True)


def answer(of: Reported, glosses: str = "") -> Iterator[Part]:
    """The verdict with its evidence, and all figures; below them what they are."""
    made, noun = of.made, of.noun
    if said := chance.verdict(of.run):
        yield Said(said, "answer")
    if of.members == 1:
        yield Said(words.alone(made, noun), "answer")
    else:
        gained = gain_over_mean(made)
        yield Said(words.headline(made, gained, noun), "answer")
        right = best_member(of.fit or made)[0]
        told = [
            words.evidence(made, gained, noun),
            words.calibration_gain(ece_gain(made), of.members),
            words.best_alone(made, int((made.votes[right] == made.labels).sum()), noun,
                             "validation" if of.fit else "test"),
        ]  # fmt: skip
        yield from (Said(one, "evidence") for one in told if one)
    apart = seeds(of.run, runs.list_runs())
    yield Said(words.scope(apart.accuracies, apart.nlls, of.n), "evidence")
    yield Table(f"Figures on {formats.count(of.n, f'test {noun}')}, after epoch {of.epoch}",
                words.figures(qualities(made)), of.members > MANY, glosses)  # fmt: skip


def note(run: runs.Run) -> Iterator[Part]:
    """What a person wrote of it."""
    if said := read_note(run):
        yield Said(said)


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
        yield Said("It was trained elsewhere: its settings are not known here.")
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
