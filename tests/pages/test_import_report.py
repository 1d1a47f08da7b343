"""A report that is handed in on Runs: its runs are shown, kept, and open on every screen."""

import json
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from ensemble import runs
from ensemble.exchange import capsule
from ensemble.figures.palette import LIGHT
from ensemble.ui.runs.summary import describe_best_runs
from ensemble.ui.shared import loaders
from ensemble.views.registry import VIEWS
from ensemble.wording.run_names import format_unique_run_name
from ensemble.wording.verdicts.chance_level import format_short_state
from tests.exchange.capsule.pages import there_and_back, written
from tests.pages import stressed
from tests.pages.ensembles import trained
from tests.pages.hostile import NAME, holes
from tests.pages.test_import_dialog import handed_in, said
from tests.pages.test_imported import opened
from tests.pages.test_imported import said as told
from tests.views.summaries import summarize


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


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> tuple[runs.Run, runs.Run]:
    """A stopped run, and the one that comes of its report."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ENSEMBLE_RUNS", str(tmp_path_factory.mktemp("runs")))
        run = trained(members=2, epochs=3, done=2, state="stopped", name="Ours")
        stressed.measured(run, epoch=2)
        return run, there_and_back(tmp_path_factory.mktemp("report"), run, all_epochs=True)


def test_every_view_says_and_draws_what_it_did_where_it_came_from(
    both: tuple[runs.Run, runs.Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    run, again = both
    monkeypatch.setenv("ENSEMBLE_RUNS", str(run.path.parent))
    for name in VIEWS:
        before, after = (summarize(one, name) for one in (run, again))
        assert json.dumps(after.to_dict()).replace(again.id, run.id) == json.dumps(before.to_dict()), name
        drawn = [[figure.draw(LIGHT).to_json() for figure in one.figures] for one in (before, after)]
        assert drawn[1] == drawn[0], name


def test_other_screens_open_it_and_say_where_it_came_from(
    both: tuple[runs.Run, runs.Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    run, again = both
    monkeypatch.setenv("ENSEMBLE_RUNS", str(run.path.parent))

    def has_badge(at: AppTest) -> bool:
        return any("from a report" in one.value for one in at.markdown if "-badge[" in one.value)

    assert not has_badge(opened("train", run))
    at = opened("runs", again)
    assert has_badge(at)
    assert "was imported from a report" in told(at)
    assert at.button(key="run_resume").disabled
    for page in ("train", "inspect", "predictions", "classify", "compare"):
        loaders.forget_runs()
        at = opened(page, again)
        words = " ".join(f"{one.value} {one.help}" for one in at.caption).replace("\\", "")
        if page != "compare":
            assert has_badge(at), page
            assert f"imported from {run.id} of a report" in words, page
        assert not [one for one in at.button if one.key == "resume"]
    assert capsule.render_run_capsules([again])


def test_its_views_that_only_a_page_has_open(both: tuple[runs.Run, runs.Run], monkeypatch: pytest.MonkeyPatch) -> None:
    run, again = both
    monkeypatch.setenv("ENSEMBLE_RUNS", str(run.path.parent))
    loaders.forget_runs()
    before, after = (opened("inspect", one, view="shift") for one in (run, again))
    assert [one.proto.spec for one in before.get("plotly_chart")]
    assert [one.proto.spec.replace(again.id, run.id) for one in after.get("plotly_chart")] == [
        one.proto.spec for one in before.get("plotly_chart")
    ]
    for view in ("compare", "digit", "distillation"):
        after.query_params["view"] = view
        assert not after.run().exception


def test_it_cannot_be_taken_for_a_run_of_ones_own(tmp_path: Path) -> None:
    run = trained(members=2, epochs=1, sure=1.0)
    again = there_and_back(tmp_path, run)
    assert format_unique_run_name(again) != format_unique_run_name(run)
    assert " · imported " in format_unique_run_name(again)
    assert (format_short_state(again), format_short_state(run)) == ("imported", "finished")
    better = trained(members=2, epochs=1, name="ours", sure=0.5)
    claimed = there_and_back(tmp_path, trained(members=2, epochs=1, name="theirs", sure=9.0))
    assert claimed.status.best_ensemble_test_accuracy
    assert "(ours)" in describe_best_runs([better, claimed])
