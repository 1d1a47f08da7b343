"""A report that is handed in on Runs: its runs are shown, kept, and open on every screen."""

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from ensemble import runs
from ensemble.exchange import capsule
from ensemble.ui.inspect.views import VIEWS
from ensemble.ui.runs.summary import describe_best_runs
from ensemble.ui.shared import loaders
from ensemble.wording.run_names import format_unique_run_name
from ensemble.wording.verdicts.chance_level import format_short_state
from tests.exchange.capsule.pages import there_and_back, written
from tests.pages import stressed
from tests.pages.ensembles import trained
from tests.pages.hostile import NAME, holes
from tests.pages.test_import_dialog import handed_in, said
from tests.pages.test_imported import opened
from tests.pages.test_imported import said as told


def shown(at: AppTest, view: str) -> list[str]:
    """The figures and words of a view, without the run's own name and id."""
    return [one.proto.spec for one in at.get("plotly_chart")] or [told(at), view]


def test_its_runs_are_listed_and_those_that_are_wanted_are_kept(tmp_path: Path) -> None:
    first = trained(members=2, epochs=1, name=NAME)
    second = trained(members=1, epochs=1, name="the second")
    at = handed_in(written(tmp_path, first, second).read_bytes(), "report.html")
    assert f"report.html is a report of 2 runs: {first.id}, {second.id}" in said(at)
    assert "2 members · finished · predictions of epoch 1 · without its members" in said(at)
    assert "nothing of yours is replaced" in said(at)
    assert holes(at) == []
    at.multiselect(key="import_chosen").set_value(["1"]).run()
    at.button(key="import_keep").click().run()
    assert not at.exception
    (made,) = [run for run in runs.list_runs() if run.origin]
    assert (made.name, made.origin) == ("the second", second.id)


def test_a_page_that_is_no_report_is_refused_in_a_sentence() -> None:
    at = handed_in(b"<html><b>zz</b></html>", "page.html")
    assert "page.html: it is a web page without the data of a run" in said(at)
    assert not [one for one in at.button if one.key == "import_keep"]


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> tuple[runs.Run, runs.Run]:
    """A run, and the one that comes of its report, for the tests of all views."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ENSEMBLE_RUNS", str(tmp_path_factory.mktemp("runs")))
        run = trained(members=2, epochs=2, name="Ours")
        stressed.measured(run, epoch=2)
        return run, there_and_back(tmp_path_factory.mktemp("report"), run, all_epochs=True)


@pytest.mark.parametrize("view", VIEWS)
def test_every_view_shows_what_it_showed_where_it_came_from(
    view: str, both: tuple[runs.Run, runs.Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    run, again = both
    monkeypatch.setenv("ENSEMBLE_RUNS", str(run.path.parent))
    loaders.forget_runs()
    if view in ("compare", "digit", "distillation"):
        assert not opened("inspect", again, view=view).exception
        return
    before, after = (shown(opened("inspect", one, view=view), view) for one in (run, again))
    swapped = [text.replace(again.id, run.id) for text in after]
    assert len(before) == len(swapped)
    assert [text.split() for text in swapped] == [text.split() for text in before]


def test_it_cannot_be_taken_for_a_run_of_ones_own(tmp_path: Path) -> None:
    run = trained(members=2, epochs=1, sure=1.0)
    again = there_and_back(tmp_path, run)
    assert format_unique_run_name(again) != format_unique_run_name(run)
    assert " · imported " in format_unique_run_name(again)
    assert (format_short_state(again), format_short_state(run)) == ("imported", "finished")
    for page in ("train", "inspect", "classify", "runs"):
        loaders.forget_runs()
        badges = [
            [one.value for one in opened(page, one_of).markdown if "-badge[" in one.value] for one_of in (run, again)
        ]
        assert ["from a report" in "".join(found) for found in badges] == [False, True], page
    better = trained(members=2, epochs=1, name="ours", sure=0.5)
    claimed = there_and_back(tmp_path, trained(members=2, epochs=1, name="theirs", sure=9.0))
    assert claimed.status.best_ensemble_test_accuracy
    assert "(ours)" in describe_best_runs([better, claimed])


def test_other_screens_open_it_and_say_where_it_came_from(tmp_path: Path) -> None:
    run = trained(members=2, epochs=3, done=2, state="stopped")
    again = there_and_back(tmp_path, run)
    at = opened("runs", again)
    assert "was imported from a report" in told(at)
    assert at.button(key="run_resume").disabled
    for page in ("train", "predictions", "classify", "compare"):
        loaders.forget_runs()
        at = opened(page, again)
        words = " ".join(f"{one.value} {one.help}" for one in at.caption).replace("\\", "")
        assert f"imported from {run.id} of a report" in words or page == "compare"
        assert not [one for one in at.button if one.key == "resume"]
    assert capsule.render_run_capsules([again])
