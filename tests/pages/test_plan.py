"""Plan: the map on Train for who asks, and the whole panel with its two plans."""

from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from ensemble import runs
from ensemble.runs.epoch_files import locate_epoch_file
from ensemble.ui.shared import loaders
from tests.conftest import REPO
from tests.pages.ensembles import trained
from tests.pages.stressed import figure


@pytest.fixture(autouse=True)
def no_list_of_an_earlier_test() -> None:
    loaders.forget_runs()


def panel_of(run_id: str) -> None:
    """A page with the panel alone, as Compare shows it."""
    from ensemble import runs
    from ensemble.ui.plan import panel

    panel.show_plan_panel(runs.find_run(run_id))


def shown(run: runs.Run, **words: str) -> AppTest:
    at = AppTest.from_function(panel_of, args=(run.id,), default_timeout=240)
    for name, text in words.items():
        at.query_params[name] = text
    assert not at.run().exception
    return at


def headlines(at: AppTest) -> list[str]:
    return [one.value.removeprefix("#### ") for one in at.markdown if one.value.startswith("#### ")]


def captions(at: AppTest) -> str:
    return " ".join(one.value for one in at.caption)


def test_train_asks_whether_a_run_could_have_been_cheaper_and_answers_who_wants_to_know(train: Any) -> None:
    run = trained(members=3, epochs=2, sure=1.0)
    at = train(run.id)
    (switch,) = (one for one in at.toggle if one.label == "Would fewer members or epochs have done?")
    assert not switch.value
    assert "plan" not in {chart.proto.id for chart in at.get("plotly_chart")}
    at = switch.set_value(True).run()
    assert not at.exception
    assert at.query_params["cheaper"] in ("yes", ["yes"])
    assert len([line for line in headlines(at) if line.startswith("For half the cost: ")]) == 1
    assert figure(at, "plan")["data"][0]["type"] == "heatmap"
    assert "The best is chosen on the test images" in captions(at)


def test_train_does_not_ask_where_there_is_nothing_cheaper_or_the_run_goes_on(train: Any) -> None:
    going, small = trained(members=2, epochs=2, state="queued"), trained(members=1, epochs=1, state="stopped")
    at = train(going.id)
    for run in (going, small):
        at.query_params["run"] = run.id
        at.run()
        assert not at.exception
        assert not [one for one in at.toggle if one.label == "Would fewer members or epochs have done?"]


def test_the_budget_stands_in_the_address_and_the_best_plan_follows() -> None:
    run = trained(members=3, epochs=2, sure=1.0)
    at = shown(run, budget="2")
    (slider,) = at.select_slider
    assert slider.value == 2
    assert slider.options[0].startswith("1,280 img·member, about ")
    best = headlines(at)[0]
    assert best.startswith("Best: ")
    assert "Cheaper members" not in captions(at)
    at = slider.set_value(6).run()
    assert not at.exception
    assert "budget" not in at.query_params  # all of the run is where one begins
    assert headlines(at)[0].startswith("For half the cost: ")
    at.query_params["budget"], at.query_params["figure"], at.query_params["plans"] = "999", "accuracy", "nonsense"
    at.run()
    assert at.select_slider[0].value == 6
    assert "Accuracy" in captions(at)


def test_two_plans_are_chosen_and_compared_also_with_those_of_another_run() -> None:
    run, other = trained(members=3, epochs=2), trained(members=1, epochs=1, sure=9.0)
    at = shown(run, plans="two", plan="3-2", against="1-2")
    chosen = {one.label: one.value for one in at.selectbox}
    assert (chosen["First"], chosen["Second"]) == ("3-2", "1-2")
    assert headlines(at)[-1].startswith("Better: 3 members for 2 epochs, NLL ")
    at = shown(run, **{"plans": "two", "plan": "3-1", "with": other.id, "figure": "accuracy"})
    assert headlines(at)[-1].startswith("Better: 1 member for 1 epoch of ")
    same = shown(run, plans="two", plan="3-1", against="3-1")
    assert "These are the same plan" in captions(same)


def test_compare_shows_the_plan_of_the_run_that_is_chosen_there() -> None:
    run, other = trained(members=3, epochs=2), trained(members=1, epochs=1, sure=9.0)
    at = AppTest.from_file(str(REPO / "app.py"), default_timeout=240)
    for name, text in {"runs": f"{other.id},{run.id}", "view": "plan", "run": run.id}.items():
        at.query_params[name] = text
    at.switch_page("pages/compare.py").run()
    assert not at.exception
    assert headlines(at)[0].startswith("For half the cost: ")
    assert figure(at, "plan")["data"][0]["type"] == "heatmap"


def test_a_schedule_that_ends_with_the_run_is_cautioned_of_and_an_epoch_that_cannot_be_read_is_named() -> None:
    run = trained(members=2, epochs=2)
    (run.path / "config.json").write_text((run.path / "config.json").read_text().replace('"constant"', '"cosine"'))
    locate_epoch_file(run.path, "predictions", 1).write_bytes(b"no archive")
    at = shown(run)
    assert "a schedule of its own would probably do better" in captions(at)
    assert "epoch 1" in captions(at)
    assert headlines(at)
    locate_epoch_file(run.path, "predictions", 2).unlink()
    at.run()
    assert not headlines(at)
    assert "damaged" in " ".join(one.value for one in (*at.warning, *at.error, *at.info))


def test_cheaper_members_are_judged_where_they_are_asked_for() -> None:
    at = shown(trained(members=3, epochs=3, sure=1.0), plans="cheaper")
    (said,) = (one.value for one in at.markdown if "worth" in one.value)
    assert said.startswith(("**The checkpoint ensemble of the last ", "**What cheaper ensembles"))
    (table,) = (one.value for one in at.dataframe if "worth" in one.value)
    assert list(table["networks run per image"]) == [1, 2, 3]
    assert table["worth"][0].startswith("1.0 independent member")
    assert "For snapshots, launch with the schedule cyclic." in captions(at)
    at = shown(trained(members=1, epochs=2), plans="cheaper")
    assert "hold it against a run of several members" in at.error[0].value
