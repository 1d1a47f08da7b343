"""A run that predicts numbers as sections: the answer first, then every view."""

from collections.abc import Iterator
from time import localtime

from ensemble.errors import EnsembleError
from ensemble.report.report_content import ReportContent
from ensemble.runs.store import Run
from ensemble.views.iteration import iterate_parts
from ensemble.views.numeric.evaluated_numbers import evaluate_numeric_run
from ensemble.views.parts import Listing, Paragraph, Section
from ensemble.views.registry import NUMERIC_VIEWS
from ensemble.wording import formats
from ensemble.wording.provenance import MONTHS
from ensemble.wording.run_names import format_run_name

DATA_SENTENCE = (
    "Inside this file are the numbers of its figures and tables, not the predictions themselves: "
    "keep the file that was imported."
)
INTRODUCTION = "A deep ensemble that predicts a number: {count} that answer as one."


def build_numeric_content(run: Run) -> ReportContent:
    parts = [formats.format_count(run.config.members, "member"), run.target_name]
    if run.status.created:
        day = localtime(run.status.created)
        parts.append(f"made {day.tm_mday} {MONTHS[day.tm_mon - 1]} {day.tm_year}")
    return ReportContent(
        format_run_name(run),
        run.state,
        " · ".join(filter(None, (*parts, run.id))),
        INTRODUCTION.format(count=formats.format_count(run.config.members, "member")),
        list(_iterate_numeric_sections(run)),
    )


def _iterate_numeric_sections(run: Run) -> Iterator[Section]:
    note = [Paragraph(run.note)] if run.note else []
    try:
        numbers = evaluate_numeric_run(run)
    except EnsembleError as error:
        yield Section("Result", [Paragraph(str(error), "answer"), *note])
        return
    for name, view in NUMERIC_VIEWS.items():
        parts = list(iterate_parts(view.build(numbers)))
        yield Section(view.title, [*parts, *(note if name == "answer" else [])])
    rows = [
        ("Predicts", run.target_name),
        ("Unit", run.unit),
        ("Members", ", ".join(run.member_names)),
        ("Examples", f"{numbers.n:,}"),
        ("Epoch", str(numbers.epoch)),
    ]
    if run.settings is not None:
        rows += [(name, str(value)) for name, value in run.settings.as_dict().items()]
    where = "It was trained elsewhere: its settings are not known here."
    yield Section(
        "What it is",
        [*([Paragraph(where)] if run.settings is None else []), Listing([(name, text) for name, text in rows if text])],
    )
