"""Whether it may be trusted: uncertainty, confusion, calibration, selective answers, sets."""

from collections.abc import Iterator

from ensemble.analysis.members.uncertainty import uncertainty
from ensemble.analysis.quality import temperature
from ensemble.analysis.quality.calibration_noise import ensemble_error
from ensemble.analysis.quality.calibration_test import calibration_test
from ensemble.analysis.quality.conformal import METHODS
from ensemble.analysis.quality.coverage import judge_sets
from ensemble.analysis.quality.halves import LEAST
from ensemble.figures.inspect import calibration as calibration_figure
from ensemble.figures.inspect import conformal as conformal_figure
from ensemble.figures.inspect import confusion as confusion_figure
from ensemble.figures.inspect import selective as selective_figure
from ensemble.figures.inspect import uncertainty as uncertainty_figure
from ensemble.report.contents import Part, Picture, Pictures, Said, Section, Table
from ensemble.report.reading import Reported
from ensemble.wording import formats
from ensemble.wording.formats import plural
from ensemble.wording.verdicts import calibration, selective, sets

RATE, MISS = 0.005, 0.05  # as the pages have them until another is chosen


def sections(of: Reported) -> Iterator[Section]:
    """The views, in the order of the pages."""
    if of.members > 1:
        yield Section("Uncertainty", [Said(uncertainty_figure.GLOSS), scatter(of)], breaks=True)
    yield Section("Confusion matrix", [confusion(of)])
    yield Section("Calibration", list(calibrated(of)), breaks=True)
    if of.n < LEAST and not of.fit:
        few = f"With fewer than {LEAST} {plural(of.noun)} there is nothing to find a threshold on."
        yield Section("Selective answers and sets", [Said(few)])
        return
    yield Section("Answering only where it is sure", list(answers(of)), breaks=True)
    yield Section("Answering with a set", list(conformal(of)), breaks=True)


def scatter(of: Reported) -> Pictures:
    """Each image by its two uncertainties."""
    measures = uncertainty(of.made)
    drawn = uncertainty_figure.points(of.made, measures)
    sees = uncertainty_figure.sees(of.made, measures, of.noun)
    if len(drawn) < of.n:
        sees += (
            " Drawn are all mistakes and the unsure; of the surest, one in "
            f"{uncertainty_figure.thinning(of.made)} stands for the rest."
        )
    alt = (
        "Aleatoric against epistemic uncertainty of "
        f"{formats.count(of.n, of.noun)}, right and wrong marked"
    )
    title = f"Uncertainty · {of.source}"
    return Pictures("", [Picture("", alt, sees, lambda palette: uncertainty_figure.figure(
        of.made, measures, drawn, of.names, of.noun, title, palette
    ))])  # fmt: skip


def confusion(of: Reported) -> Pictures:
    """What each class is taken for."""
    matrix = confusion_figure.confusion(of.made)
    alt = f"What {formats.count(of.n, of.noun)} are against what the ensemble says"
    title = f"Confusion matrix · {of.source}"
    sees = confusion_figure.sees(matrix, of.names, of.noun)
    return Pictures("", [Picture("", alt, sees, lambda palette: confusion_figure.figure(
        matrix, None, of.names, of.noun, title, palette
    ), marked=True)])  # fmt: skip


def calibrated(of: Reported) -> Iterator[Part]:
    """Whether it is right as often as it says, and what a temperature would improve."""
    found = calibration_test(of.made.confidence, of.made.right)
    yield Said(calibration.verdict(found, of.noun), "answer")
    yield Said(calibration.evidence(found, of.noun), "evidence")
    yield Said(calibration.error(ensemble_error(of.made)), "evidence")
    whole, members = calibration_figure.diagrams(of.made)
    title = f"Reliability · {of.source}"
    yield Pictures("", [Picture(
        "", calibration_figure.alt(whole, of.noun), calibration_figure.sees(of.noun),
        lambda palette: calibration_figure.figure(whole, members, of.noun, title, palette),
    )])  # fmt: skip
    least = temperature.LEAST if of.fit else 2 * temperature.LEAST
    if of.n < least:
        yield Said(calibration.too_few(least, of.noun), "note")
        return
    held = (of.fit.probabilities, of.fit.labels) if of.fit else None
    scaled = temperature.compare(of.made.probabilities, of.made.labels, held)
    yield Said(calibration.temperature(scaled, of.noun))
    yield Said(calibration.temperature_evidence(scaled, of.noun), "evidence")
    named = calibration.TEMPERED if of.members > 1 else calibration.ALONE
    table = calibration.in_words(scaled, named)
    yield Table("What a temperature saves", table, note=calibration.notes(of.noun))


def answers(of: Reported) -> Iterator[Part]:
    """The threshold for a share of wrong answers, and what is answered then."""
    whole, members = selective_figure.curves(of.made)
    found = selective_figure.thresholds(of.made, RATE, of.fit)
    who = "the ensemble" if of.members > 1 else "the one member"
    yield Said(selective.answer(found[0], RATE, who, of.noun), "answer")
    title = f"Risk by coverage · {of.source}"
    yield Pictures("", [Picture(
        "", selective_figure.alt(whole, of.n), selective.sees(whole, of.noun),
        lambda palette: selective_figure.figure(whole, members, RATE, found[0], title, palette),
    )])  # fmt: skip
    yield Table(
        f"The threshold for {selective.accepted(RATE)} wrong answers",
        selective.figures([whole, *members], found, of.n),
        note=selective.notes(whole, found[0], who, of.noun),
    )


def conformal(of: Reported) -> Iterator[Part]:
    """Conformal sets: what is promised of them, how large they are, and what they hold."""
    apart = (of.fit.averaged, of.fit.labels) if of.fit else None
    each = {one: judge_sets(of.made.averaged, of.made.labels, MISS, one, apart) for one in METHODS}
    made, found = each[METHODS[0]]
    yield Said(sets.verdict(made, found, of.noun), "answer")

    def by(method: str) -> Picture:
        achieved = each[method][1]
        title = f"Conformal sets at {sets.level(MISS)} · {of.source}"
        return Picture(
            sets.METHODS[method].partition(" ")[0], conformal_figure.alt(achieved, of.noun),
            sets.sees(achieved, of.noun),
            lambda palette: conformal_figure.figure(achieved, of.noun, title, palette),
        )  # fmt: skip

    yield Pictures("Kind of sets", [by(one) for one in METHODS])
    yield Said(sets.HELP, "note")
    yield Table(
        "The three kinds of sets", sets.by_method(each),
        note=sets.promise(made, of.noun, of.fit is None),
    )  # fmt: skip
    listed = sets.worst(found)
    said = sets.calibrated_on(made.n, found.n, of.noun, of.fit is None)
    yield Table(
        "Sets by class" if len(listed) == len(of.names) else
        f"The {len(listed)} classes whose sets hold them least often",
        sets.by_class(found, of.names, listed), True, f"{said}; in brackets the 95 % interval.",
    )  # fmt: skip
