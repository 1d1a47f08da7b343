"""tags.json: words by which runs are found together."""

import pytest

from ensemble import runs
from ensemble.config import EnsembleConfig
from ensemble.errors import RunError
from ensemble.runs.annotations.tags import change_tags, read_tags, write_tags


def test_a_run_has_the_tags_that_it_was_given_each_once() -> None:
    run = runs.create_run(EnsembleConfig(), tags=["a  sweep", "b", "", "b"])
    assert runs.find_run(run.id).tags == ("a sweep", "b")
    assert runs.list_runs()[0].tags == ("a sweep", "b")
    write_tags(run.id, ["c"])
    assert runs.list_runs()[0].tags == ("c",)
    write_tags(run.id, [])
    assert runs.list_runs()[0].tags == ()
    assert not (run.path / "tags.json").exists()


@pytest.mark.parametrize("tags", [["x" * 41], [str(n) for n in range(21)]])
def test_too_long_or_too_many_tags_are_refused_and_make_no_run(tags: list[str]) -> None:
    with pytest.raises(RunError, match="at most"):
        runs.create_run(EnsembleConfig(), tags=tags)
    assert runs.list_runs() == []


@pytest.mark.parametrize("text", ["", "[]", '{"tags": 3}', '{"tags": [1]}', '{"tags": null}', "{"])
def test_whatever_else_is_in_the_file_is_no_tags(text: str) -> None:
    run = runs.create_run(EnsembleConfig())
    (run.path / "tags.json").write_text(text)
    assert read_tags(run.path) == ()
    assert runs.find_run(run.id).tags == ()


def test_tags_are_added_and_taken_away_beside_those_that_stay() -> None:
    run = runs.create_run(EnsembleConfig(), tags=["a", "b"])
    change_tags(run.id, add=["c", "a"], remove=["b", "never there"])
    assert runs.find_run(run.id).tags == ("a", "c")
    with pytest.raises(RunError, match="at most 20 tags"):
        change_tags(run.id, add=[f"{n}" for n in range(19)])
    assert runs.find_run(run.id).tags == ("a", "c")
