"""What the members are to each other: agreement, committees, ways of combining them."""

from collections.abc import Iterator

from ensemble.analysis.members import committee as committees
from ensemble.analysis.members.committee import FIGURES, Committee, committee
from ensemble.analysis.members.enough import MARGINS, enough
from ensemble.analysis.quality.calibration_noise import ensemble_error
from ensemble.analysis.quality.halves import LEAST
from ensemble.figures.inspect import combining as combining_figure
from ensemble.figures.inspect import committee as committee_figure
from ensemble.figures.inspect import decomposition, pairs
from ensemble.report.contents import Part, Picture, Pictures, Said, Section, Table
from ensemble.report.reading import Reported
from ensemble.wording.formats import plural
from ensemble.wording.run_names import called
from ensemble.wording.verdicts import calibration, combining
from ensemble.wording.verdicts import committee as words
from ensemble.wording.verdicts import pairs as pair_words
from ensemble.wording.verdicts.pairs import MEASURES, matrix

ALONE = "One member alone has nobody to agree with, to be combined with or to be in a committee of."


def sections(of: Reported) -> Iterator[Section]:
    """Agreement, committee and combining; of one member a sentence on why there are none."""
    if of.members == 1:
        yield Section("Members", [Said(ALONE)])
        return
    yield Section("Agreement", [
        Said(pair_words.oracle(of.made, of.noun), marked=True), agreement(of), saved(of),
    ], breaks=True)  # fmt: skip
    yield Section("Committee", list(committee_of(of)), breaks=True)
    yield Section("Combining", list(combined(of)), breaks=True)


def agreement(of: Reported) -> Pictures:
    """How far every two members differ, by each of the measures."""
    return Pictures("Measure", [agreement_by(of, key) for key in MEASURES])


def agreement_by(of: Reported, key: str) -> Picture:
    """One measure of every pair."""
    measure, values = MEASURES[key], matrix(of.made, key)
    title = f"{measure.title} · {of.source}"
    return Picture(
        measure.label, f"{measure.title} of every pair of {of.members} members",
        measure.sees(values, of.n, of.noun),
        lambda palette: pairs.figure(measure, values, of.n, of.noun, title, palette),
    )  # fmt: skip


def saved(of: Reported) -> Pictures:
    """What averaging saves of the loss, epoch by epoch."""
    found = of.decompositions
    title = f"NLL: mean member less diversity · {called(of.run)}"
    return Pictures("", [Picture(
        "", "NLL of the mean member and of the ensemble over the epochs; between them, diversity",
        decomposition.sees(found[of.epoch]),
        lambda palette: decomposition.figure(found, of.epoch, title, palette),
    )])  # fmt: skip


def committee_of(of: Reported) -> Iterator[Part]:
    """How many members are enough, by each figure; each member's worth; the best of each size."""
    judged = committee(of.made.probabilities, of.made.labels)
    found = enough(judged, "accuracy")
    yield Said(words.verdict(found, of.noun), "answer")
    yield Said(words.evidence(found, of.noun), "evidence")
    yield Pictures("Figure", [committee_by(of, judged, name) for name in FIGURES])
    yield Said(calibration.by_chance(ensemble_error(of.made)), "note")
    worth = words.worth(judged, of.noun)
    yield Table("What each member is worth", worth, True, words.without(of.members))
    on = of.fit or of.made
    picked = committees.best_of_each_size(on.probabilities, on.labels)
    best, by = words.best(judged, picked), words.best_by(of.fit is not None)
    yield Table("The best committee of each size", best, True, by)


def committee_by(of: Reported, judged: Committee, name: str) -> Picture:
    """One figure over the committee's size."""
    curve = committees.curve(judged, name)
    found = enough(judged, name) if name in MARGINS else None
    title = f"{committee_figure.NAMES[name]} over the committee's size · {of.source}"
    return Picture(
        committee_figure.NAMES[name], committee_figure.alt(curve, name, of.n),
        committee_figure.sees(judged, curve, name),
        lambda palette: committee_figure.figure(judged, name, found, title, palette),
    )  # fmt: skip


def combined(of: Reported) -> Iterator[Part]:
    """Four ways of combining the members side by side, and what each is better by."""
    if of.n < LEAST and not of.fit:
        yield Said(f"With fewer than {LEAST} {plural(of.noun)} there is nothing to fit weights on.")
        return
    found, members = combining_figure.side_by_side(of.made, of.fit)
    yield Said(combining.answer(found, of.noun), "answer")
    yield Said(combining.evidence(found, of.noun), "evidence")

    def by(name: str) -> Picture:
        title = f"Ways of combining, {combining_figure.NAMES[name]} · {of.source}"
        return Picture(
            combining_figure.NAMES[name], combining_figure.alt(found, name), combining.sees(found),
            lambda palette: combining_figure.figure(found, members, name, title, palette),
        )  # fmt: skip

    yield Pictures("Figure", [by(name) for name in FIGURES])
    yield Table("Four ways of combining", combining.in_words(found, of.noun), note=combining.NOTES)
