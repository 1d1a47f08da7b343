"""Runs: deleting one, which is asked twice."""

from tests.pages.ensembles import trained
from tests.pages.predictions_screen import opened
from tests.pages.test_runs import keys, table, value, widget


def test_a_run_is_deleted_only_when_asked_twice_and_the_last_leaves_the_empty_state() -> None:
    run = trained(name="the *one*")
    other = trained()
    at = opened(page="runs", run=run.id)
    widget(at, "button", "run_delete").click().run()
    assert run.path.exists()
    assert f"Delete the \\*one\\* · {run.id} with its curves" in at.warning[0].value
    widget(at, "button", "run_keep").click().run()
    assert run.path.exists()
    assert not at.warning
    widget(at, "button", "run_delete").click().run()
    widget(at, "button", "run_delete_sure").click().run()
    assert not run.path.exists()
    assert table(at)["id"].tolist() == [other.id]
    assert value(at, "run") is None
    at.query_params["run"] = other.id
    at.run()
    widget(at, "button", "run_delete").click().run()
    widget(at, "button", "run_delete_sure").click().run()
    assert not at.exception
    at.run()
    assert "is kept here" in at.subheader[0].value


def test_a_question_about_one_run_does_not_delete_another() -> None:
    one, other = trained(), trained()
    at = opened(page="runs", run=one.id)
    widget(at, "button", "run_delete").click().run()
    at.query_params["run"] = other.id
    at.run()
    assert "run_delete_sure" not in keys(at)
