"""Predictions at the edge of what there is: one example, none right, nothing but 0 and 1."""

import re
from collections.abc import Iterator

import numpy as np
import pytest
import streamlit as st

from ensemble import exchange, runs
from ensemble.exchange.array_input import convert_arrays_to_outputs
from ensemble.figures.palette import DARK
from ensemble.views.evaluated_epoch import evaluate_epoch
from ensemble.views.registry import VIEWS
from ensemble.views.summary import ViewSummary, render_plain_text, summarize_view
from tests.pages.hostile import strings
from tests.pages.test_imported import opened

LABELS = np.arange(50) % 3
CASES = {
    "one example": (np.array([[[0.1, 0.9]], [[0.2, 0.8]]]), np.array([0])),
    "none right": (np.repeat(np.eye(3)[[(LABELS + 1) % 3]], 3, axis=0), LABELS),
    "all right": (np.repeat(np.eye(3)[[LABELS]], 2, axis=0), LABELS),
}
# No sentence holds these; nor more than six digits behind the point.
NONSENSE = re.compile(r"\bnan\b|\binf\b|\bThese 1\b|(?<!of )\b1 (test )?examples|[-−]0\b(?![.:])|\.\d{7}")


@pytest.fixture(params=CASES.values(), ids=[*CASES])
def run(request: pytest.FixtureRequest) -> runs.Run:
    st.cache_resource.clear()  # another test's run of this very second had the same id
    st.cache_data.clear()
    return exchange.import_run(convert_arrays_to_outputs(*request.param), "odd")


def list_texts(summary: ViewSummary) -> Iterator[str]:
    """Every sentence, caption and cell of words; the figures are drawn."""
    yield from map(render_plain_text, summary.paragraphs)
    for figure in summary.figures:
        figure.draw(DARK)
        yield from (figure.label, figure.title, figure.alt, figure.explanation)
    for table in summary.tables:
        yield from (table.caption, table.note)
        if table.frame.dtypes.eq(object).all():
            yield table.frame.to_string()
    for images in summary.images:
        yield images.caption


def test_every_view_says_something_sound_of_them(run: runs.Run) -> None:
    epoch = evaluate_epoch(run)
    for view in VIEWS.values():
        texts = list(list_texts(summarize_view(view, epoch)))
        assert texts, view.name
        assert not [text for text in texts if NONSENSE.search(text)], view.name


def test_every_page_says_something_sound_of_them(run: runs.Run) -> None:
    for page, words in (("inspect", {}), ("inspect", {"view": "compare"}), ("predictions", {}), ("train", {})):
        at = opened(page, run, **words)
        assert not at.error
        said = [text for kind, field, text in strings(at) if field in ("body", "alt", "label") or kind == "metric"]
        frames = [one.value for one in at.dataframe]
        tables = [one.to_string() for one in frames if one.dtypes.eq(object).all()]
        assert not [one for one in (*said, *tables) if NONSENSE.search(one)]
