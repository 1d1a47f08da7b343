"""What a view says of a run, as tests read it."""

from typing import Any

from ensemble.runs import Run
from ensemble.views.evaluated_epoch import evaluate_epoch
from ensemble.views.registry import VIEWS
from ensemble.views.summary import ViewSummary, summarize_view


def summarize(run: Run, name: str, epoch: int | None = None, **answers: str) -> ViewSummary:
    """Summarize a view after an epoch, by default the usual one; the words answer its choices."""
    return summarize_view(VIEWS[name], evaluate_epoch(run, epoch), answers)


def read_sentences(summary: ViewSummary) -> str:
    """All sentences, without those of figures and tables."""
    return " ".join(paragraph.text for paragraph in summary.paragraphs)


def find_table(summary: ViewSummary, column: str) -> Any:
    """The table that has this column."""
    return next(table.frame for table in summary.tables if column in table.frame)
