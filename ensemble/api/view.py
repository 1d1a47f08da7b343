"""A view in a notebook: its sentences, tables and figures below each other, and each by itself."""

import html
from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ensemble import runs
from ensemble.figures.palette import LIGHT
from ensemble.views.evaluated_epoch import evaluate_epoch
from ensemble.views.registry import find_view
from ensemble.views.summary import ViewSummary, render_plain_text, summarize_view

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go


class EvaluatedView:
    """What a view says of a run's epoch; made by `Run.view`."""

    def __init__(self, summary: ViewSummary) -> None:
        self._summary = summary

    @property
    def name(self) -> str:
        """The view's word: "calibration"."""
        return self._summary.view.name

    @property
    def title(self) -> str:
        """The same for people."""
        return self._summary.view.title

    @property
    def epoch(self) -> int:
        """The epoch that it is of, from 1."""
        return self._summary.epoch.epoch

    @property
    def answer(self) -> str:
        """Its answer, in a sentence."""
        return self._summary.answer

    @property
    def evidence(self) -> list[str]:
        """The sentences that carry the answer."""
        return self._summary.evidence

    @property
    def choices(self) -> dict[str, str]:
        """What its choices were answered with, by their names."""
        return dict(self._summary.answers)

    @property
    def tables(self) -> "dict[str, pd.DataFrame]":
        """Its tables by their captions, as texts."""
        return {table.caption: table.frame for table in self._summary.tables}

    @cached_property
    def figures(self) -> "dict[str, go.Figure]":
        """Its figures by their titles, on a light ground."""
        return {figure.title: figure.draw(LIGHT) for figure in self._summary.figures}

    @property
    def data(self) -> "dict[str, pd.DataFrame]":
        """The numbers of its figures by their titles."""
        return {figure.title: figure.table() for figure in self._summary.figures}

    def to_dict(self) -> dict[str, Any]:
        """All of it as `ensemble inspect --json` has it."""
        return self._summary.to_dict()

    def __repr__(self) -> str:
        return self._summary.to_text()

    def _repr_html_(self) -> str:
        return "".join([*self._render_paragraphs(), *map(_render_view_table, self._summary.tables)])

    def _render_paragraphs(self) -> list[str]:
        return [f"<h4>{_escape_view_html(self.title)}</h4>"] + [
            f"<p>{'<b>' if paragraph.role == 'answer' else ''}"
            f"{_escape_view_html(render_plain_text(paragraph))}"
            f"{'</b>' if paragraph.role == 'answer' else ''}</p>"
            for paragraph in self._summary.paragraphs
        ]

    def _ipython_display_(self) -> None:
        from IPython.display import HTML, display  # there, where this is called

        display(HTML("".join(self._render_paragraphs())))
        for figure in self._summary.figures:
            display(HTML(f"<p>{_escape_view_html(figure.explanation)}</p>"))
            display(self.figures[figure.title])
        for table in self._summary.tables:
            display(HTML(_render_view_table(table)))


def evaluate_run_view(run: runs.Run, name: str, epoch: int, choices: Mapping[str, object]) -> EvaluatedView:
    """A view of a run's epoch; see `Run.view`."""
    view = find_view(name)
    words = {choice: str(word) for choice, word in choices.items()}
    return EvaluatedView(summarize_view(view, evaluate_epoch(run, epoch), words))


def _render_view_table(table: Any) -> str:
    head = "".join(f"<th>{_escape_view_html(name)}</th>" for name in table.frame.columns)
    rows = "".join(
        f"<tr>{''.join(f'<td>{_escape_view_html(cell)}</td>' for cell in row)}</tr>"
        for row in table.frame.itertuples(index=False, name=None)
    )
    note = f"<p>{_escape_view_html(table.note)}</p>" if table.note else ""
    caption = f"<caption>{_escape_view_html(table.caption)}</caption>"
    return f"<table>{caption}<tr>{head}</tr>{rows}</table>{note}"


def _escape_view_html(text: object) -> str:
    # A notebook may read $…$ as a formula wherever it stands.
    return html.escape(str(text)).replace("$", "&#36;")
