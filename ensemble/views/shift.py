"""Shift: what becomes of the ensemble on images that are not like those it learnt from."""

from typing import Any

from ensemble import datasets
from ensemble.errors import EnsembleError
from ensemble.figures.inspect import accuracy_estimates as figures_of_estimates
from ensemble.figures.inspect import entropy_histograms
from ensemble.figures.inspect import shift as figures
from ensemble.figures.inspect.shift import describe_measured_members
from ensemble.shift import StressResults, read_stress
from ensemble.shift.corruptions import Corruption, scale_corruptions
from ensemble.shift.results import KNOWN_KEY
from ensemble.views.evaluated_epoch import EvaluatedEpoch
from ensemble.views.parts import Alternatives, Choice, DeferredChoice, Figure, Figures, Paragraph, Table, View
from ensemble.wording.accuracy_estimates import describe_estimate_basis
from ensemble.wording.formats import pluralize_noun
from ensemble.wording.run_names import format_run_name
from ensemble.wording.verdicts.ensemble_gain import describe_shift_groups

_MISSING_SCORES = "The scores of these images were deleted: measure again to get them back."
_ESTIMATES_HEADING = "Accuracy as it would be estimated without labels"
_MISSING_ESTIMATES = "Run the stress test again to see this: an earlier version did not estimate it."
_OOD_HEADING = "Out-of-distribution images: of no class that the members know"


def read_shift_results(epoch: EvaluatedEpoch) -> StressResults | None:
    """What was measured under shift; None where nothing was, or it cannot be read."""
    try:
        results = read_stress(epoch.run.id).results
    except EnsembleError:
        return None
    return results if results is not None and results.clean else None


def build_shift(epoch: EvaluatedEpoch) -> View:
    results = read_shift_results(epoch)
    if results is None:
        yield Paragraph(
            "This run has not been measured under shift: its members have to be run again for that.",
            "unavailable",
            icon=":material/hourglass_empty:",
        )
        return
    yield from shift_results_view(epoch, results)


def shift_results_view(epoch: EvaluatedEpoch, results: StressResults) -> View:
    yield Paragraph(
        f"Measured on {results.images:,} test {pluralize_noun(epoch.noun)}, with the members of "
        f"{describe_measured_members(results)}.",
        "scope",
    )
    if epoch.predictions.groups is not None and results.clean:
        groups = results.clean.get("groups")
        yield Paragraph(describe_shift_groups(groups, epoch.noun), "note")
    yield from _corruptions_view(epoch, results)
    yield from _accuracy_estimates_view(epoch, results)
    if results.ood:
        yield Paragraph(_OOD_HEADING, "heading")
        choice = Choice(
            "outside",
            "Shown to the members",
            {ood_set["key"]: ood_set["title"] for ood_set in results.ood},
            results.ood[0]["key"],
        )
        by_key = {ood_set["key"]: ood_set for ood_set in results.ood}
        yield Alternatives(choice, lambda key: _ood_view(epoch, results, by_key[key]))


def _corruptions_view(epoch: EvaluatedEpoch, results: StressResults) -> View:
    """One kind of corruption: figures over its amounts."""
    every = scale_corruptions((results.side, results.side))
    titles = {name: kind.title for name, kind in every.items()}
    all_kinds = Choice("kind", "Corruption", titles, next(iter(every)))
    measured = [name for name in every if len(results.list_corruption_steps(name)) > 1]
    name = yield DeferredChoice(all_kinds)
    yield all_kinds
    if name not in measured:
        yield Paragraph(f"{titles[name]} has not been measured yet.", "missing")
    if measured:
        default = name if name in measured else measured[0]
        choice = Choice("kind", "Corruption", {kind: titles[kind] for kind in measured}, default)
        yield Figures(choice, lambda kind: _build_corruption_figure(epoch, results, every[kind]))


def _build_corruption_figure(epoch: EvaluatedEpoch, results: StressResults, kind: Corruption) -> Figure:
    curve, n = results.list_corruption_steps(kind.name), results.images
    every = scale_corruptions((results.side, results.side))
    title = f"{kind.title} · {format_run_name(epoch.run)} · {describe_measured_members(results)}"
    return Figure(
        label=kind.title,
        alt=figures.describe_corruption_chart(curve, kind, n),
        explanation=figures.describe_corruption_effect(curve, kind, n, epoch.noun),
        draw=lambda palette: figures.plot_corruption_metrics(curve, kind, n, title, palette),
        markdown=True,
        key="shift",
        file=kind.name,
        title=f"{kind.title}, and every other corruption",
        table=lambda: figures.tabulate_corruption_metrics(
            [results.list_corruption_steps(kind_name) for kind_name in every]
        ),
        of_epoch=False,
    )


def _accuracy_estimates_view(epoch: EvaluatedEpoch, results: StressResults) -> View:
    clean = results.clean or {}
    if "accuracy_estimate" not in clean:
        yield Paragraph(_ESTIMATES_HEADING, "heading")
        yield Paragraph(_MISSING_ESTIMATES, "missing")
        return
    steps = figures_of_estimates.collect_estimated_steps(results)
    if not steps:
        return
    yield Paragraph(_ESTIMATES_HEADING, "heading")
    title = f"Estimated accuracy · {format_run_name(epoch.run)} · epoch {results.epoch}"
    yield Figures.single(
        Figure(
            label="",
            alt=figures_of_estimates.describe_estimated_steps_chart(steps),
            explanation=figures_of_estimates.describe_estimated_steps(steps, epoch.noun),
            draw=lambda palette: figures_of_estimates.plot_estimated_steps(steps, epoch.noun, title, palette),
            markdown=True,
            key="estimates",
            file="accuracy-estimates",
            title="Accuracy as estimated without labels, and as it is",
            table=lambda: figures_of_estimates.tabulate_estimated_steps(steps),
            of_epoch=False,
        )
    )
    yield Paragraph(describe_estimate_basis(clean["accuracy_fit"], clean["accuracy_estimate"], epoch.noun), "note")


def _ood_view(epoch: EvaluatedEpoch, results: StressResults, ood_set: dict[str, Any]) -> View:
    """One set of images of no class: how unsure of them the ensemble is, and every score."""
    scores = epoch.read_scores(KNOWN_KEY, results.tick)
    unknown = epoch.read_scores(ood_set["key"], results.tick)
    if scores is None or unknown is None:
        yield Paragraph(_MISSING_SCORES, "missing")
        return
    yield Figures.single(_build_entropies_figure(epoch, results, ood_set, scores, unknown))
    yield Table(
        f"Known images against {ood_set['title']}",
        entropy_histograms.tabulate_ood_metrics(ood_set),
        True,
        entropy_histograms.OOD_NOTES,
        "ood_table",
    )
    if missing_datasets := _explain_missing_datasets(results):
        yield Paragraph(missing_datasets, "hint")


def _build_entropies_figure(
    epoch: EvaluatedEpoch,
    results: StressResults,
    ood_set: dict[str, Any],
    scores: entropy_histograms.Scores,
    unknown: entropy_histograms.Scores,
) -> Figure:
    title = f"{ood_set['title']} · {format_run_name(epoch.run)} · epoch {results.epoch}"
    # The dataset, gone or of another machine, need not tell its title.
    names = epoch.run.data.title, ood_set["title"]
    return Figure(
        label="",
        alt=f"Histograms of entropy: {names[0]} against {names[1]}",
        explanation=entropy_histograms.describe_ood_separation(ood_set, epoch.noun),
        draw=lambda palette: entropy_histograms.plot_entropy_histograms(
            scores, unknown, names=names, title=title, palette=palette, classes=len(epoch.class_names)
        ),
        markdown=True,
        key="ood",
        file=f"ood-{ood_set['key']}",
        title="Entropies of known and out-of-distribution images",
        table=lambda: entropy_histograms.tabulate_entropy_scores(scores, unknown),
        of_epoch=False,
    )


def _explain_missing_datasets(results: StressResults) -> str:
    try:
        own = datasets.find_dataset_info(results.dataset)
    except EnsembleError:  # It came in a report, and its dataset is not on this machine.
        return ""
    missing = [
        dataset_info.title
        for dataset_info in datasets.list_dataset_infos()
        if not dataset_info.prepared and not {*dataset_info.class_names} & {*own.class_names}
    ]
    if not missing:
        return ""
    return f"To show them {' or '.join(missing)} too, fetch it on Train."
