"""Every screen opens what an earlier version left behind, and leaves it as it is."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from ensemble import runs
from ensemble.figures.palette import DARK
from ensemble.ui.jobs.job_screen import forget_jobs
from ensemble.ui.shared import loaders
from ensemble.views.evaluated_epoch import evaluate_epoch
from ensemble.views.registry import VIEWS
from ensemble.views.summary import summarize_view
from tests.conftest import variant
from tests.recorded.recording import Recording, digests, unpack

APP = Path(__file__).parents[2] / "app.py"
PAGES = sorted(path.stem for path in (APP.parent / "pages").glob("*.py"))
OF_ITS_STATE = ("train", "runs", "inspect")  # the pages that say how far a run has come


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory: pytest.TempPathFactory) -> Recording:
    """One copy for all tests: each sees to it that it stays as it is."""
    return unpack(tmp_path_factory.mktemp("recorded"))


@pytest.fixture
def recording(unpacked: Recording, monkeypatch: pytest.MonkeyPatch) -> Iterator[Recording]:
    monkeypatch.setenv("ENSEMBLE_RUNS", str(unpacked.runs))
    monkeypatch.setenv("ENSEMBLE_DATA", str(unpacked.data))
    loaders.forget_runs()
    forget_jobs()
    before = digests(unpacked.runs), digests(unpacked.data / "machine")
    yield unpacked
    assert (digests(unpacked.runs), digests(unpacked.data / "machine")) == before


def opened(page: str, **address: str) -> AppTest:
    at = AppTest.from_file(str(APP), default_timeout=240)
    for name, word in address.items():
        at.query_params[name] = word
    at.switch_page(f"pages/{page}.py").run()
    assert not at.exception
    assert [one.value for one in at.error] == []
    return at


def address(at: AppTest, name: str) -> str:
    found = at.query_params[name]
    return found if isinstance(found, str) else found[0]


def said(at: AppTest) -> str:
    """All that stands on the screen."""
    words: Any = (*at.markdown, *at.caption, *at.info, *at.warning, *at.subheader)
    return " ".join(str(one.value) for one in words)


@pytest.mark.parametrize("name", ["finished", "stopped", variant("stopped, on every page")])
def test_every_screen_opens_it(recording: Recording, name: str) -> None:
    ids = recording.ids
    for page in OF_ITS_STATE if name == "stopped" else PAGES:
        at = opened(page, run=ids[name.partition(",")[0]], solve=ids["solve"])
        # A screen takes out of the address what it cannot open.
        assert address(at, "run") == ids[name.partition(",")[0]], page
        assert address(at, "solve") == ids["solve"], page
        assert "cannot be read" not in said(at), page
        # The run and the regression are drawn.
        assert len(at.get("plotly_chart")) == {"inspect": 1, "parallel": 3}.get(page, 0), page


def test_every_view_has_a_sentence_for_the_recording(recording: Recording) -> None:
    epoch = evaluate_epoch(runs.find_run(recording.ids["finished"]))
    found = {name: summarize_view(view, epoch) for name, view in VIEWS.items()}
    assert [name for name, summary in found.items() if not summary.available] == ["loss_by_value", "distillation"]
    assert "This run had no teacher" in found["distillation"].answer
    for summary in found.values():
        for figure in summary.figures:
            figure.draw(DARK)


@pytest.mark.parametrize("view", ["shift", "digit", "compare"])
def test_inspect_opens_it_in_views_of_its_own(recording: Recording, view: str) -> None:
    ids = recording.ids
    at = opened("inspect", run=ids["finished"], view=view, **{"with": ids["stopped"]})
    assert at.get("plotly_chart")
    # Of two members after two epochs one may be better alone: that is no fault of the page.
    assert all("Better without member" in one.value for one in at.warning)
    if view == "shift":
        assert len(at.get("plotly_chart")) == 2, "what was measured under shift is drawn"
