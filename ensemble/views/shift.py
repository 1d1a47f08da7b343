"""Shift: what becomes of the ensemble on images that are not like those it learnt from."""

from typing import Any

from ensemble import datasets
from ensemble.errors import EnsembleError
from ensemble.figures.inspect import entropies
from ensemble.figures.inspect import shift as figures
from ensemble.figures.inspect.shift import place
from ensemble.shift import Results, read_stress
from ensemble.shift.corruptions import Kind, kinds
from ensemble.shift.results import KNOWN
from ensemble.views.evaluated_epoch import EvaluatedEpoch
from ensemble.views.parts import (
    Alternatives,
    Asked,
    Choice,
    Figure,
    Figures,
    Paragraph,
    Table,
    View,
)
from ensemble.wording.formats import plural
from ensemble.wording.run_names import called

GONE = "The scores of these images are gone; measuring again brings them back."
OTHERS = "Out-of-distribution images: of no class that the members know"


def read_results(epoch: EvaluatedEpoch) -> Results | None:
    """What was measured under shift; None where nothing was, or it cannot be read."""
    try:
        results = read_stress(epoch.run.id).results
    except EnsembleError:
        return None
    return results if results is not None and results.clean else None


def build_shift(epoch: EvaluatedEpoch) -> View:
    """Each corruption by its amount, and each set of images of no class that the members know."""
    results = read_results(epoch)
    if results is None:
        yield Paragraph(
            "This run has not been measured under shift: that asks its members anew.",
            "unavailable",
            icon=":material/hourglass_empty:",
        )
        return
    yield from build_results(epoch, results)


def build_results(epoch: EvaluatedEpoch, results: Results) -> View:
    """What was measured, so far as it was."""
    yield Paragraph(
        f"Measured on {results.images:,} test {plural(epoch.noun)}, with the members of "
        f"{place(results)}.",
        "scope",
    )
    yield from build_corruptions(epoch, results)
    if results.ood:
        yield Paragraph(OTHERS, "heading")
        choice = Choice(
            "outside",
            "Shown to the members",
            {one["key"]: one["title"] for one in results.ood},
            results.ood[0]["key"],
        )
        by_key = {one["key"]: one for one in results.ood}
        yield Alternatives(choice, lambda key: build_ood(epoch, results, by_key[key]))


def build_corruptions(epoch: EvaluatedEpoch, results: Results) -> View:
    """One kind of corruption: figures over its amounts."""
    every = kinds((results.side, results.side))
    titles = {name: kind.title for name, kind in every.items()}
    all_kinds = Choice("kind", "Corruption", titles, next(iter(every)))
    measured = [name for name in every if len(results.curve(name)) > 1]
    name = yield Asked(all_kinds)
    yield all_kinds
    if name not in measured:
        yield Paragraph(f"{titles[name]} has not been measured yet.", "missing")
    if measured:
        default = name if name in measured else measured[0]
        shown = Choice("kind", "Corruption", {one: titles[one] for one in measured}, default)
        yield Figures(shown, lambda one: plot_corruption(epoch, results, every[one]))


def plot_corruption(epoch: EvaluatedEpoch, results: Results, kind: Kind) -> Figure:
    """Figures over the amounts of one kind."""
    curve, n = results.curve(kind.name), results.images
    every = kinds((results.side, results.side))
    title = f"{kind.title} · {called(epoch.run)} · {place(results)}"
    return Figure(
        label=kind.title,
        alt=figures.alt(curve, kind, n),
        sees=figures.sentence(curve, kind, n, epoch.noun),
        draw=lambda palette: figures.figure(curve, kind, n, title, palette),
        markdown=True,
        key="shift",
        file=kind.name,
        title=f"{kind.title}, and every other corruption",
        table=lambda: figures.table([results.curve(one) for one in every]),
        of_epoch=False,
    )


def build_ood(epoch: EvaluatedEpoch, results: Results, one: dict[str, Any]) -> View:
    """One set of images of no class: how unsure of them the ensemble is, and every score."""
    known = epoch.read_scores(KNOWN, results.tick)
    unknown = epoch.read_scores(one["key"], results.tick)
    if known is None or unknown is None:
        yield Paragraph(GONE, "missing")
        return
    yield Figures.single(plot_entropies(epoch, results, one, known, unknown))
    yield Table(
        f"Told apart from {one['title']}",
        entropies.in_words(one),
        True,
        entropies.NOTES,
        "ood_table",
    )
    if others := explain_others(results):
        yield Paragraph(others, "hint")


def plot_entropies(
    epoch: EvaluatedEpoch,
    results: Results,
    one: dict[str, Any],
    known: entropies.Scores,
    unknown: entropies.Scores,
) -> Figure:
    """Histograms of the entropies of known images and of one other set."""
    title = f"{one['title']} · {called(epoch.run)} · epoch {results.epoch}"
    # The dataset, gone or of another machine, need not tell its title.
    names = epoch.run.data.title, one["title"]
    return Figure(
        label="",
        alt=f"Histograms of entropy: {names[0]} against {names[1]}",
        sees=entropies.sentence(one, epoch.noun),
        draw=lambda palette: entropies.figure(
            known, unknown, names, title, palette, len(epoch.class_names)
        ),
        markdown=True,
        key="ood",
        file=f"ood-{one['key']}",
        title="Entropies of known and out-of-distribution images",
        table=lambda: entropies.table(known, unknown),
        of_epoch=False,
    )


def explain_others(results: Results) -> str:
    """Which datasets could be shown to the members too, were they on this machine."""
    try:
        own = datasets.info(results.dataset)
    except EnsembleError:  # It came in a report, and its dataset is not on this machine.
        return ""
    missing = [
        one.title
        for one in datasets.infos()
        if not one.prepared and not {*one.class_names} & {*own.class_names}
    ]
    if not missing:
        return ""
    return f"Once {' or '.join(missing)} is fetched, on Train, it can be shown to them too."
