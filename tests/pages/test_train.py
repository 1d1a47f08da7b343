import json
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from ensemble import runs
from ensemble.config import EnsembleConfig
from ensemble.runs import Run
from ensemble.ui.shared import loaders, settings
from ensemble.ui.train import live
from ensemble.wording.run_names import format_run_name, format_unique_run_name
from tests.pages.hostile import NAME, holes, literal
from tests.ui.train.test_history import epoch, steps

APP = Path(__file__).parents[2] / "app.py"
ROWS = [steps(0.5, 2.0, 1.0, whole=1.2), epoch(1.0, [0.96, 0.97], 0.98)]
ROWS[1] |= {"train_loss": [0.2, 0.1], "ensemble_train_nll": 0.1}


@pytest.fixture(autouse=True)
def no_list_of_an_earlier_test() -> None:
    loaders.forget_runs()


def made(state: str = "finished", rows: list[dict[str, Any]] = ROWS, **status: Any) -> Run:
    """A run on disk in `state`, as a worker leaves it behind."""
    run = runs.create_run(EnsembleConfig(members=2, epochs=2))
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    (run.path / "history.jsonl").write_text(lines)
    known = replace(run.status, state=state, epoch=1, epochs=2, step=5, steps=10, seconds=80.0)
    written = replace(known, **status)
    (run.path / "status.json").write_text(json.dumps(written.__dict__))
    return runs.find_run(run.id)


def button(at: AppTest, key: str) -> Any:
    return next(widget for widget in at.button if widget.key == key)


def address(at: AppTest) -> str:
    """The run in the address; the tester gives it as a list when it put it there itself."""
    found = at.query_params["run"]
    return found if isinstance(found, str) else found[0]


def test_a_finished_run_is_answered_with_figures_first_and_its_settings_can_be_used_again(train: Any) -> None:
    run = made()
    with (run.path / "history.jsonl").open("a") as file:
        file.write('{"kind": "epoch", "progr')  # cut off in the middle
    at = train(run.id)
    shown = {metric.label: metric.value for metric in at.metric}
    assert shown == {
        "Ensemble on 500 test digits": "98.0 % (96.4 to 98.9)",
        "Over the average member": "+8 digits",
        "Trained for": "1 min 20 s",
    }
    assert at.get("bidi_component")
    table = at.dataframe[0].value
    assert list(table["member"]) == ["ensemble", "member 1", "member 2"]
    assert list(table["gap to the ensemble"]) == ["", "−10 digits", "−5 digits"]
    button(at, "reuse").click().run()
    assert at.session_state[settings.format_setting_key("members")] == 2
    assert button(at, "launch").label.startswith("Launch 2 members")


def test_a_bad_link_is_one_sentence_and_a_way_on_with_and_without_runs(train: Any) -> None:
    at = train("nonsense")
    assert "There is no run" in at.warning[0].value
    next(w for w in at.button if w.label == "Start with a first run").click().run()
    assert button(at, "first_launch")
    run = made()
    loaders.forget_runs()
    for link in ("../../etc/passwd", "digits-0101-000000"):
        at.query_params["run"] = link
        at.run()
        assert at.warning[0].value.startswith("There is no run")
    on = next(w for w in at.button if w.label == f"Show the newest run, {format_run_name(run)}")
    on.click().run()
    assert address(at) == run.id
    assert not at.warning
    runs.delete_run(run.id)
    at.run()
    assert "There is no run" in at.warning[0].value, "deleted meanwhile"


def test_the_page_is_drawn_whole_before_anybody_waits_for_curves(train: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    waited: list[str] = []
    monkeypatch.setattr(live, "wait_for_first_curves", lambda run: waited.append(run.id))
    at = train(runs.create_run(EnsembleConfig()).id)
    assert button(at, "stop")
    assert not waited


def test_a_diverged_run_offers_a_lower_rate_and_null_figures_are_dashes(train: Any) -> None:
    rows = [epoch(1.0, [0.1, 0.1], 0.1) | {"test_loss": [None, 0.2], "train_loss": [None, 0.1]}]
    at = train(made("diverged", rows, message="Member 2's loss became infinite.").id)
    assert [error.value for error in at.error] == ["Member 2's loss became infinite."]
    assert list(at.dataframe[0].value["test NLL"]) == ["0.0800", "–", "0.200"]
    button(at, "lower_rate").click().run()
    assert at.session_state[settings.format_setting_key("learning_rate")] == 0.03


def test_a_failed_run_says_what_happened_and_can_be_resumed(train: Any) -> None:
    run = made("failed", message="The disk is full. Epoch 1 is kept.")
    (run.path / "log.txt").write_text("OSError: No space left on device\n")
    at = train(run.id)
    assert at.error[0].value == "The disk is full. Epoch 1 is kept."
    assert at.code[0].value == "OSError: No space left on device"
    assert not button(at, "resume").disabled


def test_a_worker_that_is_gone_is_not_shown_as_training(train: Any) -> None:
    at = train(made("training", pid=2**22 + 1, host="", updated=1.0).id)
    assert "killed" in at.error[0].value


def test_settings_that_do_not_fit_together_say_so_beside_the_button(train: Any) -> None:
    at = train()
    at.session_state[settings.format_setting_key("warmup_epochs")] = 20.0
    at.run()
    assert button(at, "launch").disabled
    assert any("warmup_epochs is 20" in caption.value for caption in at.caption)
    at.session_state[settings.format_setting_key("warmup_epochs")] = 0.0
    at.session_state[settings.format_setting_key("batch_size")] = 2048
    at.run()
    assert button(at, "launch").disabled
    assert any("more than the 1,297 training images" in c.value for c in at.caption)
    at.session_state[settings.format_setting_key("validation")] = 0.3
    at.session_state[settings.format_setting_key("batch_size")] = 1024
    at.run()
    left = "more than the 908 training images beside the 389 of validation"
    assert any(left in c.value for c in at.caption)


def test_a_dataset_that_is_not_here_can_be_fetched_not_launched(
    train: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("ENSEMBLE_DATA", str(tmp_path / "empty"))
    at = train()
    assert at.selectbox(settings.format_setting_key("dataset")).value == "digits"
    at.selectbox(settings.format_setting_key("dataset")).select("kmnist").run()
    assert button(at, "launch").disabled
    assert button(at, "fetch_kmnist").label.startswith("Fetch Kuzushiji-MNIST (21.2 MB)")
    at.query_params["run"] = made().id
    at.run()
    assert not at.warning
    assert button(at, "fetch_kmnist"), "beside a run as well"


def test_the_newest_is_shown_and_another_run_can_be_picked(train: Any) -> None:
    one, other = runs.rename_run(made(created=1.0).id, NAME), made(created=time.time())
    at = train()
    assert address(at) == other.id, "without a run in the address"
    assert at.subheader[0].value == "2 members · rate 0.1 · digits"
    at.selectbox(f"run_picker_{other.id}").select(one.id).run()
    assert address(at) == one.id
    assert any(one.id in (caption.help or "") for caption in at.caption), "behind the small print"
    assert holes(at) == [], "a name that looks like Markdown stays text"
    assert NAME in literal(at)


def told_old_words(run_id: str) -> None:
    """What a browser sends that has not heard yet that the run has begun."""
    import streamlit as st

    from ensemble.ui.jobs import job_picker
    from ensemble.ui.shared.run_panel import RUN_SCREEN

    st.query_params["run"] = run_id
    st.session_state["box"] = f"{run_id} · queued"
    job_picker.switch_shown_job(RUN_SCREEN, "box")


def test_words_of_a_moment_ago_are_no_choice_of_a_run(train: Any) -> None:
    run = made("training", updated=time.time())
    (words,) = train(run.id).selectbox(f"run_picker_{run.id}").options
    assert words == format_unique_run_name(run), "nothing in it changes while the run goes on"
    at = AppTest.from_function(told_old_words, args=(run.id,)).run()
    assert not at.exception
    assert address(at) == run.id
