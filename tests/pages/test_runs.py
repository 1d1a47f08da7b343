import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from ensemble import runs
from ensemble.config import EnsembleConfig
from ensemble.jobs.status import write_status
from ensemble.runs import Run
from ensemble.runs.annotations.notes import MAX_NOTE_LENGTH, read_run_note, write_run_note
from ensemble.ui.shared import loaders
from tests.pages.ensembles import trained

APP = Path(__file__).parents[2] / "app.py"
Open = Callable[..., AppTest]


@pytest.fixture(autouse=True)
def no_list_of_an_earlier_test() -> None:
    loaders.forget_runs()


@pytest.fixture
def page() -> Open:
    """Opens the screen, with a run in the address where one is given."""

    def opened(run: Run | str = "") -> AppTest:
        at = AppTest.from_file(str(APP), default_timeout=240)
        if run:
            at.query_params["run"] = run if isinstance(run, str) else run.id
        at.switch_page("pages/runs.py").run()
        assert not at.exception
        return at

    return opened


def table(at: AppTest) -> pd.DataFrame:
    return at.dataframe[0].value


def widget(at: AppTest, kind: str, key: str) -> Any:
    """The widget whose key begins with `key`."""
    return next(one for one in at.get(kind) if one.key and one.key.startswith(key))


def keys(at: AppTest) -> set[str]:
    return {button.key for button in at.button if button.key}


def value(at: AppTest, name: str) -> str | None:
    found = at.query_params.get(name)
    return found[0] if isinstance(found, list) else found


def test_no_runs_lead_to_training(page: Open) -> None:
    at = page()
    assert "is kept here" in at.subheader[0].value
    assert at.get("page_link")[0].proto.page == "train"


def test_every_run_has_its_row_newest_first(page: Open) -> None:
    old = trained(created=1000.0, name="old one", best_ensemble_test_accuracy=0.999)
    new = trained(created=2000.0, members=1)
    at = page()
    rows = table(at)
    assert rows["id"].tolist() == [new.id, old.id]
    assert rows["name"].tolist() == ["1 member · rate 0.1 · digits", "old one"]
    status, row = old.status, rows.iloc[1]
    assert row["accuracy"] == pytest.approx(100 * (status.ensemble_test_accuracy or 0))
    mean = sum(status.member_test_accuracy) / 3
    assert row["mean"] == pytest.approx(100 * mean)
    assert row["gain"] == round(500 * ((status.ensemble_test_accuracy or 0) - mean))
    assert row["time"] == 80.0, "a number, which sorts"
    assert pd.isna(rows.iloc[0]["gain"]), "one member gains nothing over itself"


def test_states_in_words(page: Open) -> None:
    expected = {}
    for status, said, done in (
        ({"state": "finished"}, "finished", "2 of 2"),
        ({"state": "stopped", "done": 1}, "stopped", "1 of 2"),
        ({"state": "diverged", "done": 0}, "diverged", "0 of 2"),
        ({"state": "training", "done": 1, "working": True}, "training", "50 %"),
        ({"state": "starting", "done": 0, "working": True}, "starting", "0 of 2"),
        ({"state": "training", "done": 1, "updated": 1000.0}, "failed", "1 of 2"),  # its worker is gone
    ):
        expected[trained(**status).id] = said, done
    rows = table(page())
    assert dict(zip(rows["id"], zip(rows["state"], rows["done"], strict=True), strict=True)) == expected


def test_queued_runs_say_their_place(page: Open) -> None:
    for place, state in enumerate(["training", "queued", "queued"]):
        trained(done=0, state=state, queued=1000.0 + place, created=1000.0 + place, working=True)
    at = page()
    assert table(at)["done"].tolist() == ["2 before it", "1 before it", "0 %"]
    assert "### 3 runs, 1 training, 2 queued" in [one.value for one in at.markdown]


def test_the_run_of_the_address_can_be_opened(page: Open) -> None:
    trained(created=2000.0)
    old = trained(created=1000.0)
    assert "run_delete" not in keys(page())
    at = page(old)
    assert at.subheader[0].value == "3 members · rate 0.1 · digits"
    assert old.id in [one.value for one in at.caption], "in small print"
    links = [link.proto for link in at.get("page_link")]
    assert [link.page for link in links] == ["train", "predictions"]
    assert all(f"run={old.id}" in link.query_string for link in links)


def test_a_name_and_a_note_are_kept_unless_the_folder_cannot_be_changed(page: Open) -> None:
    run = trained(name="something")
    at = page(run)
    assert widget(at, "text_input", "name_of_").value == "something"
    widget(at, "text_input", "name_of_").input("  wide   net ").run()
    widget(at, "text_area", "note_of_").input("more *filters*\n<script>alert(1)</script>").run()
    assert runs.find_run(run.id).name == "wide net"
    assert read_run_note(run) == "more *filters*\n<script>alert(1)</script>"
    assert table(at)[["name", "note"]].values.tolist() == [["wide net", "more *filters*"]]
    assert not any("<script>" in one.value for one in at.markdown)
    assert widget(at, "text_area", "note_of_").max_chars == MAX_NOTE_LENGTH
    widget(at, "text_input", "name_of_").input("").run()
    assert runs.find_run(run.id).name == run.id, "an empty name brings back what it is"
    (run.path / "notes.md").unlink()
    (run.path / "notes.md").mkdir()  # refused to an administrator, too
    widget(at, "text_area", "note_of_").input("new").run()
    assert "could not be saved" in at.error[0].value
    assert len(table(at)) == 1


def test_an_active_run_can_be_stopped_and_not_deleted(page: Open) -> None:
    run = trained(done=1, state="training", working=True)
    at = page(run)
    assert widget(at, "button", "run_delete").disabled
    assert any("stop it first" in one.value for one in at.caption)
    widget(at, "button", "run_stop").click().run()
    assert (run.path / "stop").exists()
    assert widget(at, "button", "run_stop").label == "Stopping…"


def test_what_cannot_be_resumed_says_why(page: Open) -> None:
    finished, diverged = trained(), trained(state="diverged")
    at = page(finished)
    for run, why in ((finished, "launch a new one for more epochs"), (diverged, "lower learning rate")):
        at.query_params["run"] = run.id
        at.run()
        assert widget(at, "button", "run_resume").disabled
        assert any(why in one.value for one in at.caption)


@pytest.mark.long
@pytest.mark.usefixtures("two_devices_a_worker")
def test_a_stopped_run_goes_on(page: Open) -> None:
    # The network that is compiled soonest: that a worker goes on with it is what is tested.
    run = runs.create_run(EnsembleConfig(network="logistic", members=2, epochs=1, batch_size=128))
    write_status(run.path, runs.Status(state="stopped", epochs=1))
    at = page(run)
    widget(at, "button", "run_resume").click().run()
    assert not at.error
    deadline = time.monotonic() + 120
    while runs.find_run(run.id).state in runs.ACTIVE and time.monotonic() < deadline:
        time.sleep(0.2)
    assert runs.find_run(run.id).state == "finished", runs.find_run(run.id).message


def test_a_missing_or_deleted_run_is_reported_next_to_the_table(page: Open) -> None:
    run = trained()
    other = trained()
    at = page("nonsense")
    assert "There is no run “nonsense”" in at.warning[0].value
    assert set(table(at)["id"]) == {run.id, other.id}
    at.query_params["run"] = run.id
    at.run()
    runs.delete_run(run.id)
    loaders.forget_runs()
    widget(at, "button", "run_delete").click().run()
    assert not at.exception
    assert any("There is no run" in one.value for one in at.warning)


def test_filters_come_with_many_runs_and_narrow_the_table(page: Open) -> None:
    trained(name="first try", state="stopped", done=1)
    noted = trained(name="second try")
    write_run_note(noted.id, "with Wider layers")
    for members in range(1, 5):
        trained(members=members, epochs=1, done=0)
    at = page()
    assert not at.multiselect, "a few runs need no filters"
    trained(members=5, epochs=1, done=0)
    loaders.forget_runs()
    at.run()
    assert len(table(at)) == 7
    at.text_input[0].input("TRY wider").run()
    assert table(at)["id"].tolist() == [noted.id]
    at.text_input[0].input("").run()
    at.multiselect[0].select("stopped").run()
    assert table(at)["name"].tolist() == ["first try"]
    at.text_input[0].input("nothing like it").run()
    assert "No run matches" in at.info[0].value


@pytest.mark.long
def test_two_hundred_runs_are_listed(page: Open) -> None:
    for _ in range(200):
        trained(members=4, done=0, state="stopped")
    assert len(table(page())) == 200
