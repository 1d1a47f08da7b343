"""What becomes of it on other images, where that has been measured: corruptions, OOD images."""

from collections.abc import Iterator
from typing import Any

from ensemble.errors import EnsembleError
from ensemble.figures.inspect import entropies
from ensemble.figures.inspect import shift as shift_figure
from ensemble.figures.inspect.shift import place
from ensemble.report.contents import Part, Picture, Pictures, Said, Section, Table
from ensemble.report.reading import Reported
from ensemble.shift import Results, read_scores, read_stress
from ensemble.shift.corruptions import Kind, kinds
from ensemble.shift.results import KNOWN
from ensemble.wording.formats import plural
from ensemble.wording.run_names import called


def sections(of: Reported) -> Iterator[Section]:
    """Shift; none where it has not been measured, or of what is no longer there."""
    try:
        found = read_stress(of.run.id).results
    except EnsembleError:
        return
    if found is None or not found.clean:
        return
    parts: list[Part] = [Said(
        f"Measured on {found.images:,} test {plural(of.noun)}, with the members of {place(found)}."
    )]  # fmt: skip
    if pictures := corruptions(of, found):
        parts.append(Pictures("Corruption", pictures))
    parts += out_of_distribution(of, found)
    yield Section("Shift", parts, breaks=True)


def corruptions(of: Reported, results: Results) -> list[Picture]:
    """Each kind of corruption that has been measured."""
    return [
        corruption(of, results, kind)
        for name, kind in kinds((results.side, results.side)).items()
        if len(results.curve(name)) > 1
    ]


def corruption(of: Reported, results: Results, kind: Kind) -> Picture:
    """Figures over the amounts of one kind."""
    curve, n = results.curve(kind.name), results.images
    title = f"{kind.title} · {called(of.run)} · {place(results)}"
    return Picture(
        kind.title, shift_figure.alt(curve, kind, n),
        shift_figure.sentence(curve, kind, n, of.noun),
        lambda palette: shift_figure.figure(curve, kind, n, title, palette), marked=True,
    )  # fmt: skip


def out_of_distribution(of: Reported, results: Results) -> Iterator[Part]:
    """Each set of images of no class that the members know."""
    known = read_scores(of.run.path, KNOWN, results.tick)
    data = of.run.data.title  # which its dataset, gone or of another machine, need not tell
    for one in results.ood:
        unknown = read_scores(of.run.path, one["key"], results.tick)
        if known is None or unknown is None:
            continue
        yield Pictures("", [entropy(of, one, known, unknown, data, results.epoch)])
        caption = f"Told apart from {one['title']}"
        yield Table(caption, entropies.in_words(one), True, entropies.NOTES)


def entropy(
    of: Reported, one: dict[str, Any], known: Any, unknown: Any, data: str, epoch: int
) -> Picture:
    """Histograms of the entropies of known images and of one other set."""
    title = f"{one['title']} · {called(of.run)} · epoch {epoch}"
    names = data, one["title"]
    return Picture(
        "", f"Histograms of entropy: {names[0]} against {names[1]}",
        entropies.sentence(one, of.noun),
        lambda palette: entropies.figure(known, unknown, names, title, palette, len(of.names)),
        marked=True,
    )  # fmt: skip
