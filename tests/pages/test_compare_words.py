"""Compare with words from outside: names, tags and what was trained elsewhere stay text."""

from collections.abc import Iterator

from streamlit.testing.v1 import AppTest

from ensemble import runs
from ensemble.config import EnsembleConfig
from ensemble.runs.annotations.tags import write_tags
from tests.comparison.drawn import finished
from tests.comparison.drawn import imported as brought
from tests.pages.hostile import NAME, holes, literal
from tests.pages.predictions_screen import opened
from tests.runs.test_imported_run import imported

TAG = "[zz](http://zz.ex) <b>zz</b> $zz$"


def open_views(**address: object) -> Iterator[tuple[str, AppTest]]:
    """The page with one view after another."""
    at = opened(page="compare", view="curves", **address)
    yield "curves", at
    for view in ("table", "settings"):
        at.query_params["view"] = view
        assert not at.run().exception
        assert [one.value for one in at.segmented_control if one.label == "View"] == [view]
        yield view, at


def test_names_and_tags_stay_text_on_every_view() -> None:
    ours, theirs = finished(), brought()
    for run in (ours, theirs):
        runs.rename_run(run.id, NAME)
        write_tags(run.id, [TAG])
    for view, at in open_views(tag=TAG, who="members"):
        assert not at.error, view
        assert sorted(holes(at)) == []
        assert TAG in literal(at)


def test_runs_on_other_images_imported_or_without_an_epoch_are_listed_next_to_ours() -> None:
    every = [finished(), imported(), brought(), runs.create_run(EnsembleConfig())]
    for view, at in open_views(runs=",".join(run.id for run in every), splits="train,validation", log="x,y"):
        assert not at.error, view
        if view == "table":
            assert any("tested on the same images" in one.value for one in at.warning)
            assert "other images" in at.dataframe[0].value.to_string()


def test_a_history_that_cannot_be_read_is_named_and_the_others_are_drawn() -> None:
    ours, broken = finished(), finished({"learning_rate": 0.3})
    (broken.path / "history.jsonl").unlink()
    (broken.path / "history.jsonl").mkdir()
    at = opened(page="compare", runs=f"{ours.id},{broken.id}")
    assert [broken.id in one.value for one in at.error] == [True]
    assert len(at.get("plotly_chart")) == 1
    assert len(opened(page="compare", runs=broken.id).error) == 1
