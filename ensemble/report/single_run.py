"""One run as sections: the answer first, then every view, then what it was made with."""

from collections.abc import Iterator
from time import localtime

from ensemble import runs
from ensemble.analysis.inference.image_groups import grouped_share_interval
from ensemble.comparison.compared_settings import collect_run_settings, format_setting_value, humanize_setting_name
from ensemble.errors import EnsembleError
from ensemble.report import learning_curves, reproduction
from ensemble.report.report_content import ReportContent
from ensemble.report.training_machine import list_machine_facts, list_trained_versions
from ensemble.runs.annotations.notes import read_run_note
from ensemble.views.answer import build_answer
from ensemble.views.evaluated_epoch import EvaluatedEpoch, evaluate_epoch
from ensemble.views.iteration import iterate_parts
from ensemble.views.numeric.evaluated_numbers import EvaluatedNumbers, evaluate_numeric_run
from ensemble.views.parts import Listing, Paragraph, Part, Section
from ensemble.views.registry import NUMERIC_VIEWS, VIEWS
from ensemble.views.selective import has_too_few_images
from ensemble.wording import formats
from ensemble.wording.provenance import MONTHS
from ensemble.wording.run_names import describe_run_origin, format_run_data, format_run_name, format_unique_run_name
from ensemble.wording.verdicts import chance_level

_ENSEMBLE_SENTENCE = "A deep ensemble: {count} that answer as one, by the average of their probabilities."
NUMERIC_SENTENCE = "A deep ensemble that predicts a number: {count} that answer as one."
_SINGLE_MEMBER_SENTENCE = "With one member there is no agreement, combining or committee to report."


def build_run_content(run: runs.Run) -> ReportContent:
    """All that is reported of a run; what it does not have is said in a sentence."""
    sections = list(_iterate_run_sections(run))
    return ReportContent(
        format_run_name(run),
        chance_level.format_chance_state(run, run.state),
        _describe_run_subtitle(run),
        _describe_run_result(run),
        sections,
    )


def _describe_run_subtitle(run: runs.Run) -> str:
    """A line under the title: the data, the members, when it was made, its id."""
    parts = [format_run_data(run), formats.format_count(run.config.members, "member")]
    if run.training_config and run.training_config.teacher:
        parts.append(f"taught by {run.training_config.teacher}")
    if run.status.created:
        day = localtime(run.status.created)
        parts.append(f"made {day.tm_mday} {MONTHS[day.tm_mon - 1]} {day.tm_year}")
    return " · ".join(filter(None, (*parts, run.id, describe_run_origin(run))))


def _describe_run_result(run: runs.Run) -> str:
    """What this is and how good it is, in two sentences for whoever has never seen such a page."""
    if run.target:
        return NUMERIC_SENTENCE.format(count=formats.format_count(run.config.members, "member"))
    sentence = _ENSEMBLE_SENTENCE.format(count=formats.format_count(run.config.members, "network"))
    if run.config.members == 1:
        sentence = "One network; several make a deep ensemble."
    try:
        epoch = evaluate_epoch(run)
    except EnsembleError:
        return sentence
    right, n = int(epoch.predictions.right.sum()), epoch.n
    images = formats.format_count(n, f"test {epoch.noun}")
    ends = grouped_share_interval(epoch.predictions.right, epoch.predictions.groups)
    return (
        f"{sentence} After epoch {epoch.epoch} it gets {right:,} of {images} "
        f"right: {formats.format_percent(right / n, n)} "
        f"{formats.format_share_interval(right / n, *ends, n)}."
    )


def _iterate_run_sections(run: runs.Run) -> Iterator[Section]:
    try:
        epoch = evaluate_numeric_run(run) if run.target else evaluate_epoch(run)
    except EnsembleError as error:
        yield Section("Result", [Paragraph(str(error), "answer"), *_iterate_note_parts(run)])
        if run.entry:
            yield from _iterate_curve_sections(run)
    else:
        yield from _iterate_result_sections(run, epoch)
    yield Section(
        "Settings and versions",
        [*_iterate_settings_parts(run), *reproduction.iterate_reproduction_parts(run)],
        page_break=True,
    )


def _iterate_result_sections(run: runs.Run, epoch: EvaluatedEpoch | EvaluatedNumbers) -> Iterator[Section]:
    if isinstance(epoch, EvaluatedNumbers):
        for name, view in NUMERIC_VIEWS.items():
            parts = list(iterate_parts(view.build(epoch)))
            yield Section(view.title, [*parts, *(_iterate_note_parts(run) if name == "answer" else [])])
    else:
        yield Section("Result", [*iterate_parts(build_answer(epoch)), *_iterate_note_parts(run)])
        yield from _iterate_curve_sections(run)
        yield from _iterate_view_sections(epoch)


def _iterate_view_sections(epoch: EvaluatedEpoch) -> Iterator[Section]:
    told_single_member = False
    for name, view in VIEWS.items():
        title, breaks = view.title, view.page_break
        if name == "answer" or not view.applies(epoch):
            continue
        if epoch.members == 1 and view.needs_several:
            if not told_single_member:
                yield Section("Members", [Paragraph(_SINGLE_MEMBER_SENTENCE)])
            told_single_member = True
            continue
        if name == "selective" and has_too_few_images(epoch):
            title, breaks = "Selective answers and sets", False
        parts = list(iterate_parts(view.build(epoch)))
        # A sentence alone needs no page of its own.
        yield Section(title, parts, page_break=breaks and (name != "disputed" or len(parts) > 1))


def iterate_short_sections(run: runs.Run) -> Iterator[Section]:
    """The same in short, for a run among others: the answer and what it was made with."""
    parts: list[Part] = []
    try:
        parts += iterate_parts(build_answer(evaluate_epoch(run), glosses=""))
    except EnsembleError as error:
        parts.append(Paragraph(str(error)))
    again = [
        part for part in reproduction.iterate_reproduction_parts(run) if part.label == reproduction.REPRODUCTION_LABEL
    ]
    section_parts = [Paragraph(_describe_run_subtitle(run), "note"), *parts, *again, *_iterate_settings_parts(run)]
    yield Section(format_unique_run_name(run), section_parts, page_break=True)


def _iterate_note_parts(run: runs.Run) -> Iterator[Part]:
    if run_note := read_run_note(run):
        yield Paragraph(run_note)


def _iterate_curve_sections(run: runs.Run) -> Iterator[Section]:
    if learning_figures := learning_curves.build_learning_figures(run):
        yield Section("Learning curves", [learning_figures])


def _iterate_settings_parts(run: runs.Run) -> Iterator[Part]:
    """Every setting, those that are not at their default first; what it ran with."""
    values = collect_run_settings(run)
    usual = type(run.settings)().as_dict() if run.settings else {}
    apart = [name for name in values if name not in usual or values[name] != usual[name]]
    rest = [name for name in values if name not in apart]
    rows = [
        (humanize_setting_name(name).capitalize(), format_setting_value(name, values[name]))
        for name in (*apart, *rest)
        if values[name] != ""
    ]
    if run.settings is None:
        yield Paragraph("It was trained elsewhere: its settings are not known here.")
    if run.target:
        facts = [("Predicts", run.target_name), ("Unit", run.unit), ("Members", ", ".join(run.member_names))]
        yield Listing([(name, text) for name, text in facts if text])
    yield Listing(rows, describe_settings_fold(len(apart)))
    if facts := [*list_trained_versions(run), *list_machine_facts(run)]:
        yield Listing(facts, "Versions and machine")


def describe_settings_fold(apart: int) -> str:
    if not apart:
        return "Settings: all are the defaults"
    how = "differs from its default, and comes" if apart == 1 else "differ from their defaults, and come"
    return f"Settings: {apart:,} {how} first"
